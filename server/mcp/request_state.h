/* SPDX-License-Identifier: Apache-2.0 */
/* The state that a client of revision 2026-07-28 sends back in the next round of a request. It is
 * signed, so that it can neither be forged nor used by another principal, for another request, or
 * after it has expired. */
#pragma once

#include <jansson.h>
#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/error.h"
#include "base/core/random.h"

#define REQUEST_STATE_BYTES ((size_t)256 << 10) /* maximum length of a signed state */
/* How long a state is valid, which is the time that people have to answer one round. */
#define REQUEST_STATE_MS (15 * 60 * 1000LL)

struct request_state {
    char nonce[ID_SIZE]; /* the request's nonce, the same in every round */
    char principal[64];
    char digest[DIGEST_TEXT_SIZE]; /* digest of method, name and arguments */
    int64_t expires_ms;            /* UTC; from this time on, the state is not valid */
    json_t *answers;               /* answers from earlier rounds, by key; an object */
};

/* The digest that ties a state to its request. `name`: the name of the tool or prompt, or the
 * URI of the resource. */
void request_state_digest(const char *method, const char *name, const json_t *arguments,
                          char out[DIGEST_TEXT_SIZE]);
/* Writes and signs a state. *out: the text, as heap memory. INVALID: the text would be longer than
 * REQUEST_STATE_BYTES. */
CHECKED bool request_state_seal(const uint8_t key[DIGEST_BYTES], const struct request_state *state,
                                char **out, struct error *error);
/* Reads a state. INVALID: it was not signed with this key, is not for this principal and request,
 * has expired at now_ms, or is longer than REQUEST_STATE_BYTES. out->answers is a new reference. */
CHECKED bool request_state_open(const uint8_t key[DIGEST_BYTES], const char *sealed,
                                const char *principal, const char *digest, int64_t now_ms,
                                struct request_state *out, struct error *error);
