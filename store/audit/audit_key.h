/* SPDX-License-Identifier: Apache-2.0 */
/* The keys for the digests of the audit log's rows. They come from a file that nobody who can write
 * to the database may be able to read. Private to store/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/digest.h"
#include "base/core/error.h"

#define AUDIT_KEYS_LIMIT 8
#define AUDIT_KEY_ID_SIZE 17

/* New rows use the first; older rows may use the others. */
struct audit_keys {
    size_t count;
    struct audit_key {
        char id[AUDIT_KEY_ID_SIZE]; /* identifies the key without revealing it */
        uint8_t bytes[DIGEST_BYTES];
    } keys[AUDIT_KEYS_LIMIT];
};

/* Reads one key from each line, of 32 characters or more. The error says what is wrong with the
 * file. */
CHECKED bool audit_keys_read(const char *path, struct audit_keys *out, struct error *error);
/* NULL: no key has this id. */
const struct audit_key *audit_keys_find(const struct audit_keys *keys, const char *id);
/* The id of the key that new rows use; "" without a key. */
const char *audit_keys_current(const struct audit_keys *keys);
