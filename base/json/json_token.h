/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes escapes and numbers in JSON tokens. Private to json_*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the character that an escape stands for; -1 if the escape is invalid. `at` points after
 * its backslash; *length is set to the number of bytes that the escape has after the backslash.
 * Surrogates must come in pairs. U+0000 is refused, because C strings cannot contain it. */
int32_t json_escape_read(const char *at, const char *end, size_t *length);

/* In the next three functions, `text` must be a number with valid JSON syntax. It need not end with
 * NUL. */
bool json_number_is_integer(const char *text, size_t length); /* no fraction, no exponent */
/* The number must be an integer. Returns false if it does not fit int64_t. */
bool json_number_to_integer(const char *text, size_t length, int64_t *out);
double json_number_to_real(const char *text, size_t length); /* infinite if too large */
