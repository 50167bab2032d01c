/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes escapes and numbers in JSON tokens. Private to json_*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character of the escape at `at` (after its backslash), and its length; -1 if it is invalid.
 * Surrogates must come in pairs; U+0000 is refused, as C strings cannot hold it. */
int32_t json_escape_read(const char *at, const char *end, size_t *length);

/* The next two take a number of correct syntax, which need not be followed by NUL. */
bool json_number_is_integer(const char *text, size_t length); /* no fraction, no exponent */
bool json_number_to_integer(const char *text, size_t length, int64_t *out); /* false: too large */
double json_number_to_real(const char *text, size_t length); /* infinite: too large */
