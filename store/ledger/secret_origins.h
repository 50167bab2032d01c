/* SPDX-License-Identifier: Apache-2.0 */
/* The origins to which admins have bound secrets. A secret is sent only to these origins or, if the
 * secrets folder has a file NAME.origins for the secret, only to those that the file lists
 * (fleet/secret_access.h). */
#pragma once

#include "base/net/secrets.h"
#include "store/ledger/change.h"

struct secret_origin {
    char secret[SECRET_NAME_SIZE]; /* name of the secret */
    char origin[ORIGIN_SIZE];      /* in the form that url_origin writes */
    char created_by[64];
    int64_t created_ms;
};

/* Add or remove a binding. `origin` has the form that url_origin writes. *changed false: nothing
 * was written, because the binding already existed or, for secret_origin_remove, did not exist. */
CHECKED bool secret_origin_add(struct store *store, const char *secret, const char *origin,
                               int64_t now_ms, struct change *change, bool *changed,
                               struct error *error);
CHECKED bool secret_origin_remove(struct store *store, const char *secret, const char *origin,
                                  struct change *change, bool *changed, struct error *error);
/* Lists the bindings of one secret (NULL: of all secrets), sorted by the secrets' names.
 * free(*out). */
CHECKED bool secret_origin_list(struct store *store, const char *secret, struct secret_origin **out,
                                size_t *count, struct error *error);
