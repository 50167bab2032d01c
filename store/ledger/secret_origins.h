/* SPDX-License-Identifier: Apache-2.0 */
/* The origins to which admins have bound secrets: a secret is sent only there, unless a file beside
 * it lists where it may be sent (fleet/secret_access.h). */
#pragma once

#include "base/net/secrets.h"
#include "store/ledger/change.h"

struct secret_origin {
    char secret[SECRET_NAME_SIZE]; /* name of the secret */
    char origin[ORIGIN_SIZE];      /* as url_origin writes it */
    char created_by[64];
    int64_t created_ms;
};

/* Add or remove a binding. `origin` is as url_origin writes it. *changed false: there was nothing
 * to add or remove, and nothing is written. */
CHECKED bool secret_origin_add(struct store *store, const char *secret, const char *origin,
                               int64_t now_ms, struct change *change, bool *changed,
                               struct error *error);
CHECKED bool secret_origin_remove(struct store *store, const char *secret, const char *origin,
                                  struct change *change, bool *changed, struct error *error);
/* Lists the origins of one secret (NULL: of all), in order of the secrets' names. free(*out). */
CHECKED bool secret_origin_list(struct store *store, const char *secret, struct secret_origin **out,
                                size_t *count, struct error *error);
