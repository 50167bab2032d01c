/* SPDX-License-Identifier: Apache-2.0 */
/* Percent-encoding of URLs and forms, "%4A" (RFC 3986, 2.1). */
#pragma once

#include "base/core/text.h"

int percent_hex_digit(char c); /* 0 to 15; -1: it is not a hexadecimal digit */
/* Returns the byte that the escape at the start of `bytes` stands for; -1 if there is none. */
int percent_decode(const char *bytes, size_t length);
/* Appends a string, escaping all but letters, digits, "-._~" and the characters in `more`. */
void percent_encode(const char *string, const char *more, struct text *out);
