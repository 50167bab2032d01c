/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of browsers that signed in. A browser is recognized by its cookie; the server keeps only
 * the cookie's digest. A browser has the rights of the key that it signed in with, as long as that
 * key is valid. Sessions are kept in memory because HTTP threads check them and must not wait for
 * the store, and also in the store so that they survive a restart. Thread safe. */
#pragma once

#include "store/ledger/principals.h"

struct authority;
struct sign_ins;

#define SIGN_IN_COOKIE_SIZE 65 /* room for 32 random bytes in hex, and NUL */

struct sign_in_limits {
    int64_t idle_ms;     /* a session ends after this time without a request */
    int64_t lifetime_ms; /* a session ends this long after it began, in any case */
};

/* Reads the stored sessions. Free with sign_ins_destroy. */
CHECKED bool sign_ins_create(struct store *store, struct authority *authority,
                             struct sign_in_limits limits, struct sign_ins **out,
                             struct error *error);
void sign_ins_destroy(struct sign_ins *sign_ins); /* NULL is fine */

/* Sets the listener. It is called, on any thread, with the digest of each cookie that becomes
 * invalid: because its user signed out, because its session expired or was one too many for its
 * key, or because the key is no longer valid or now has a lower role. Call this before the
 * functions below. */
void sign_ins_listen(struct sign_ins *sign_ins,
                     void (*ended)(void *context, const uint8_t digest[DIGEST_BYTES]),
                     void *context);
/* The digest by which the cookie's browser is recognized. */
void sign_in_digest(const char *cookie, uint8_t out[DIGEST_BYTES]);

/* Signs in with a key; waits for the store. UNAUTHENTICATED: the key is not valid; BUSY: the keys
 * cannot be read. Only the browser may get `cookie`. The audit row of `change` names the key's
 * principal. A key has a limited number of sessions: if it already has that many, the one that has
 * been unused for the longest time ends. */
CHECKED bool sign_in_add(struct sign_ins *sign_ins, const char *key, struct change *change,
                         char cookie[SIGN_IN_COOKIE_SIZE], struct error *error);
/* Finds the principal for a cookie, in memory. UNAUTHENTICATED: the cookie is unknown, its session
 * has expired, or its key was revoked, has expired or now has a lower role; BUSY: the keys cannot
 * be read. */
CHECKED bool sign_in_check(struct sign_ins *sign_ins, const char *cookie, struct principal *out,
                           struct error *error);
/* Signs out; waits for the store. Does nothing for an unknown cookie. */
CHECKED bool sign_in_remove(struct sign_ins *sign_ins, const char *cookie, struct change *change,
                            struct error *error);
/* Removes sessions that have ended. Call it from time to time. */
void sign_ins_expire(struct sign_ins *sign_ins);
