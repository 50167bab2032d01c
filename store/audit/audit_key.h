/* SPDX-License-Identifier: Apache-2.0 */
/* The keys for the digests of the audit log's rows. They come from a file that must not be readable
 * by anyone who can write to the database. Private to store/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/error.h"

#define AUDIT_KEYS_LIMIT 8
#define AUDIT_KEY_ID_SIZE 17

/* New rows use the first key; older rows may use the others. */
struct audit_keys {
    size_t count;
    struct audit_key {
        char id[AUDIT_KEY_ID_SIZE]; /* identifies the key without revealing it */
        uint8_t bytes[DIGEST_BYTES];
    } keys[AUDIT_KEYS_LIMIT];
};

/* Reads a key of 32 characters or more from each line that is not empty. INVALID: the file cannot
 * be read, a key is too short or too long, there are no keys, or there are more than
 * AUDIT_KEYS_LIMIT. */
CHECKED bool audit_keys_read(const char *path, struct audit_keys *out, struct error *error);
/* Returns NULL if no key has this id. */
const struct audit_key *audit_keys_find(const struct audit_keys *keys, const char *id);
/* Returns the id of the key that new rows use; "" if there is none. */
const char *audit_keys_current(const struct audit_keys *keys);
