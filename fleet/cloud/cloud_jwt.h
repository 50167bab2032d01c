/* SPDX-License-Identifier: Apache-2.0 */
/* JSON web tokens: signing them with a service account's key, and reading when they expire. Private
 * to fleet/cloud. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "base/core/text.h"

/* Appends the bytes as base64url without padding. */
void cloud_jwt_encode(const void *bytes, size_t length, struct text *out);
/* Appends a token with these claims, signed with RS256. INVALID unless `pem` is an RSA private
 * key of at least 2,048 bits, without a passphrase. `key_id` "": the token names no key. No error
 * repeats the key. */
CHECKED bool cloud_jwt_sign(const char *pem, const char *key_id, const json_t *claims,
                            struct text *out, struct error *error);
/* Returns when a token expires (its claim `exp`), in UTC milliseconds; 0 if the token is not a JWT
 * or does not say. The signature is not verified: the server that receives the token does that. */
int64_t cloud_jwt_ends_ms(const char *token);
