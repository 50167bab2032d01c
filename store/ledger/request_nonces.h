/* SPDX-License-Identifier: Apache-2.0 */
/* For requests that take several rounds (server/mcp/multi_round.h): stores the key that signs the
 * state that clients carry from one round to the next, and the requests that were carried out, each
 * with its nonce and result. */
#pragma once

#include "base/core/digest.h"
#include "store/ledger/change.h"

/* Reads the key with that name. If there is none, first stores a random key. */
CHECKED bool request_nonce_key_load(struct store *store, const char *name,
                                    uint8_t out[DIGEST_BYTES], struct error *error);

/* A request that was carried out. Its row is written in the transaction of its effect (struct
 * change). */
struct request_nonce {
    char request_id[40];
    int64_t created_ms;
    /* Heap; NULL: the request is still being answered, or its result was not stored, because it was
     * too long or the server stopped first. */
    char *result;
};
/* *found: whether the nonce was used. If so, the caller frees out->result. */
CHECKED bool request_nonce_find(struct store *store, const char *nonce, struct request_nonce *out,
                                bool *found, struct error *error);
/* Stores the result of the request that used the nonce. */
CHECKED bool request_nonce_answer(struct store *store, const char *nonce, const char *result,
                                  struct error *error);
