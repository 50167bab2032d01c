/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/load_credential.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "bench/load/load.h"

void load_credential_set(struct load *load, const char *bearer)
{
    struct load_credential *next = memory_zeroed(1, sizeof *next);

    text_copy(next->bearer, sizeof next->bearer, bearer);
    next->mask = mask_create(bearer);
    next->before = atomic_load(&load->credential);
    atomic_store(&load->credential, next);
}

void load_credential_finish(struct load *load)
{
    struct load_credential *credential = atomic_exchange(&load->credential, NULL);

    while (credential != NULL) {
        struct load_credential *before = credential->before;

        mask_destroy(credential->mask);
        explicit_bzero(credential, sizeof *credential);
        free(credential);
        credential = before;
    }
}

void load_credential_mask(const struct load *load, char *text, size_t size)
{
    const struct load_credential *credential = atomic_load(&load->credential);

    for (; credential != NULL; credential = credential->before)
        mask_string(credential->mask, MASK_FAILURE, text, size);
}
