/* SPDX-License-Identifier: Apache-2.0 */
/* The credential of a cell's requests. A new one replaces it when it expires; earlier ones are kept
 * until the cell's end, since requests with them are in flight. */
#pragma once

#include "base/net/endpoint.h"
#include "base/net/mask.h"

struct load;

struct load_credential {
    char bearer[SECRET_VALUE_SIZE]; /* "" for none */
    struct mask *mask;              /* hides it; NULL: nothing to hide */
    struct load_credential *before;
};

/* From now on requests carry this one. One thread at a time. */
void load_credential_set(struct load *load, const char *bearer);
/* Wipes them. */
void load_credential_finish(struct load *load);
/* Hides all of them. */
void load_credential_mask(const struct load *load, char *text, size_t size);
