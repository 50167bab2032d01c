/* SPDX-License-Identifier: Apache-2.0 */
/* JSON web tokens: signing them with a service account's key, and reading when they expire. Private
 * to fleet/cloud. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "base/core/text.h"

/* Appends the bytes as base64url without padding. */
void cloud_jwt_encode(const void *bytes, size_t length, struct text *out);
/* Appends a token with these claims, signed with RS256. `pem` is an RSA key of at least 2,048 bits.
 * `key_id` "": none. No error repeats the key. */
CHECKED bool cloud_jwt_sign(const char *pem, const char *key_id, const json_t *claims,
                            struct text *out, struct error *error);
/* Returns a token's `exp` in UTC milliseconds; 0 if it is not a JWT or has none. The signature is
 * not verified: the server that receives the token does that. */
int64_t cloud_jwt_ends_ms(const char *token);
