/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes escapes and numbers in JSON tokens. Private to json_*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the character of the escape at `at` (after its backslash); -1 if it is invalid. *length
 * is the number of its bytes after the backslash. Surrogates must come in pairs; U+0000 is refused,
 * because C strings cannot contain it. */
int32_t json_escape_read(const char *at, const char *end, size_t *length);

/* In the next three, `text` is a number of valid syntax, and need not end with NUL. */
bool json_number_is_integer(const char *text, size_t length); /* no fraction, no exponent */
/* The number must be an integer; false: it does not fit int64_t. */
bool json_number_to_integer(const char *text, size_t length, int64_t *out);
double json_number_to_real(const char *text, size_t length); /* infinite: too large */
