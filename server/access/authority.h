/* SPDX-License-Identifier: Apache-2.0 */
/* Who asks: API keys, or the principal `local` where none are needed. */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"
#include "store/ledger/principals.h"

struct authority;

#define KEY_PREFIX "obk_"
#define KEY_SIZE 72 /* prefix, 64 hex digits of 32 random bytes, NUL */

/* `mode` is the setting: auto, keys or none. Refused where the address is not loopback and anyone
 * could do anything: with auto as long as no key is valid, with none always; and with auto where
 * the data folder has no keys, but had some (server/access/key_marker.h). */
CHECKED bool authority_create(struct store *store, const char *data_folder, const char *mode,
                              bool loopback, struct authority **out, struct error *error);
void authority_destroy(struct authority *authority); /* NULL is fine */

/* The principal of an Authorization header (NULL: none). UNAUTHENTICATED says what to send; BUSY:
 * the keys changed, but could not be read. Any thread: it answers from memory. */
CHECKED bool authority_check(struct authority *authority, const char *authorization,
                             struct principal *out, struct error *error);
/* May one whom authority_check let in go on? Not where the key was revoked or expired meanwhile,
 * has a lesser role, or the keys cannot be read. Any thread: it answers from memory. */
bool authority_still_admits(struct authority *authority, const struct principal *principal);
/* False: everybody is `local`. */
bool authority_needs_keys(const struct authority *authority);
/* Call it after keys or roles changed: reads them again, and calls the listener, who is called also
 * where they cannot be read: nobody is let in then. */
CHECKED bool authority_refresh(struct authority *authority, struct error *error);
/* Could they not be read, so that they have to be read again? */
bool authority_is_stale(struct authority *authority);
/* `changed` is called by authority_refresh from now on; NULL: nothing is. */
void authority_listen(struct authority *authority, void (*changed)(void *context), void *context);

/* A new key, and its digest as lower-case hex. */
void authority_generate_key(char out[KEY_SIZE], char digest[DIGEST_TEXT_SIZE]);
