/* SPDX-License-Identifier: Apache-2.0 */
/* The stored sessions of browsers that signed in with an API key. server/access/sign_ins.h keeps a
 * copy of them in memory. */
#pragma once

#include "base/core/digest.h"
#include "base/core/random.h"
#include "store/ledger/change.h"

struct browser_session {
    char id[ID_SIZE];             /* names the session in the audit log; not the cookie's value */
    uint8_t digest[DIGEST_BYTES]; /* of the cookie's value */
    uint8_t key_digest[DIGEST_BYTES]; /* of the API key */
    char role[16]; /* the role of the key's principal when the browser signed in */
    int64_t created_ms, last_seen_ms;
};

CHECKED bool browser_session_add(struct store *store, const struct browser_session *session,
                                 struct change *change, struct error *error);
/* `change` NULL: the session ended without a sign-out, so no audit row is written. */
CHECKED bool browser_session_remove(struct store *store, const char *id, struct change *change,
                                    struct error *error);
/* Stores `now_ms` as last_seen_ms within about a second, through deferred_timestamps_note. Never
 * waits. */
void browser_session_set_seen(struct store *store, const char *id, int64_t now_ms);
/* Reads all sessions, oldest first; free(*out). */
CHECKED bool browser_session_load(struct store *store, struct browser_session **out, size_t *count,
                                  struct error *error);
