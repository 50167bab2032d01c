/* SPDX-License-Identifier: Apache-2.0 */
/* Percent-encoding of URLs and forms, "%4A" (RFC 3986, 2.1). */
#pragma once

#include "base/core/text.h"

int percent_hex_digit(char c); /* 0 to 15; -1: it is not a hexadecimal digit */
/* The byte that the escape at the start of `bytes` stands for; -1: there is no escape. */
int percent_decode(const char *bytes, size_t length);
/* Appends a string: letters, digits, "-._~" and what `more` lists stay as they are. */
void percent_encode(const char *string, const char *more, struct text *out);
