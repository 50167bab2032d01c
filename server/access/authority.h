/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies callers by their API keys or, if no keys are needed, as the principal `local`. */
#pragma once

#include <stdbool.h>

#include "base/core/error.h"
#include "store/ledger/principals.h"

struct authority;

#define KEY_PREFIX "obk_"
#define KEY_SIZE 72 /* room for the prefix, the 64 hex digits of 32 random bytes, and NUL */

/* `mode` is the setting `auth`: auto, keys or none. `loopback`: the server listens only on this
 * machine's loopback address. Without `loopback`, fails if anyone on the network could do anything:
 * always in the mode none, and in auto as long as no key is valid. Also fails if the keys cannot be
 * read or if, in auto, the data folder once had keys and has none now (see
 * server/access/key_marker.h). */
CHECKED bool authority_create(struct store *store, const char *data_folder, const char *mode,
                              bool loopback, struct authority **out, struct error *error);
void authority_destroy(struct authority *authority); /* NULL is fine */

/* Finds the principal for an Authorization header (NULL: the request has none). UNAUTHENTICATED:
 * the key is missing or not valid; BUSY: the keys might have changed, but could not be read. Any
 * thread: it answers from memory. */
CHECKED bool authority_check(struct authority *authority, const char *authorization,
                             struct principal *out, struct error *error);
/* Finds the principal of the key with this digest, even if no keys are needed. Fails as
 * authority_check does. */
CHECKED bool authority_check_digest(struct authority *authority, const uint8_t digest[DIGEST_BYTES],
                                    struct principal *out, struct error *error);
/* Whether a caller that authority_check let in may continue. True while no keys are needed.
 * Otherwise false if the caller had no key, if its key was revoked, has expired or now has a lower
 * role, or if the keys cannot be read. Any thread: it answers from memory. */
bool authority_still_admits(struct authority *authority, const struct principal *principal);
/* Whether the caller's key is known to be revoked or expired, or to have a lower role now. False
 * while no keys are needed or the keys cannot be read. */
bool authority_has_revoked(struct authority *authority, const struct principal *principal);
/* False: every caller is `local`. */
bool authority_needs_keys(const struct authority *authority);
/* Call it when keys or roles might have changed: reads them again, and calls the listener if that
 * might change who is let in. CONFLICT: in auto, the data folder once had keys and has none now.
 * Any other failure: the keys cannot be read, and nobody is let in until they can be, unless the
 * mode is none. */
CHECKED bool authority_refresh(struct authority *authority, struct error *error);
/* Whether the keys could not be read, so that they must be read again. */
bool authority_is_stale(struct authority *authority);
/* Sets the listener that authority_refresh calls; NULL: none. The listener must not call functions
 * of this file. */
void authority_listen(struct authority *authority, void (*changed)(void *context), void *context);

/* Makes a new key, and its digest as lower-case hex. */
void authority_generate_key(char out[KEY_SIZE], char digest[DIGEST_TEXT_SIZE]);
