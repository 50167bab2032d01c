/* SPDX-License-Identifier: Apache-2.0 */
/* Requests in several rounds: the key that signs the state that clients carry between rounds, and
 * the result of the last round. */
#pragma once

#include "base/core/digest.h"
#include "store/ledger/change.h"

/* Reads the key of that name. If there is none, stores a random one first. */
CHECKED bool request_nonce_key_load(struct store *store, const char *name,
                                    uint8_t out[DIGEST_BYTES], struct error *error);

/* A request that was carried out; its row is written together with its effect (struct change). */
struct request_nonce {
    char request_id[40];
    int64_t created_ms;
    char *result; /* heap; NULL: the request is still being answered, or never was */
};
/* *found: whether the nonce was used; if so, free out->result. */
CHECKED bool request_nonce_find(struct store *store, const char *nonce, struct request_nonce *out,
                                bool *found, struct error *error);
/* Stores the result of the request that used the nonce. */
CHECKED bool request_nonce_answer(struct store *store, const char *nonce, const char *result,
                                  struct error *error);
