/* SPDX-License-Identifier: Apache-2.0 */
/* JSON web tokens: signed by a service account's key, and read as far as their end. Private to
 * fleet/cloud. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"
#include "base/core/text.h"

/* base64url without padding */
void cloud_jwt_encode(const void *bytes, size_t length, struct text *out);
/* Appends the token of these claims, signed as RS256 with an RSA key in PEM of at least 2,048 bits.
 * `key_id` "": none. No error repeats the key. */
CHECKED bool cloud_jwt_sign(const char *pem, const char *key_id, const json_t *claims,
                            struct text *out, struct error *error);
/* `exp` of a token that its issuer gave us, in milliseconds; 0: it is no JWT or has none. The
 * signature is not looked at: whoever we show it to does. */
int64_t cloud_jwt_ends_ms(const char *token);
