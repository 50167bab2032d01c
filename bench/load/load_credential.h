/* SPDX-License-Identifier: Apache-2.0 */
/* The credential that a cell's requests carry. After it has been renewed, the earlier ones are kept
 * until the cell's end, because requests that carry them might still be in flight. */
#pragma once

#include "base/net/endpoint.h"
#include "base/net/mask.h"

struct load;

struct load_credential {
    char bearer[SECRET_VALUE_SIZE]; /* "" for none */
    struct mask *mask;              /* hides `bearer` in texts; NULL: nothing to hide */
    struct load_credential *before; /* the credential that this one replaced; NULL: none */
};

/* Requests that begin from now on carry `bearer`. Not to be called by two threads at the same
 * time. */
void load_credential_set(struct load *load, const char *bearer);
/* Wipes and frees all credentials. */
void load_credential_finish(struct load *load);
/* Hides, in `text`, every credential that the cell has used. */
void load_credential_mask(const struct load *load, char *text, size_t size);
