/* SPDX-License-Identifier: Apache-2.0 */
/* Percent-encoding, as in "%4A", for URLs and forms (RFC 3986, section 2.1). */
#pragma once

#include "base/core/text.h"

int percent_hex_digit(char c); /* 0 to 15; -1 if `c` is not a hexadecimal digit */
/* Returns the byte that the escape at the start of `bytes` stands for; -1 if `bytes` does not
 * start with an escape. */
int percent_decode(const char *bytes, size_t length);
/* Appends a string, escaping everything except letters, digits, "-._~" and the characters in
 * `more`. */
void percent_encode(const char *string, const char *more, struct text *out);
