/* SPDX-License-Identifier: Apache-2.0 */
/* Header values in revision 2026-07-28: plain ASCII text, or UTF-8 text in base64, written as
 * =?base64?...?=. */
#pragma once

#include <stdbool.h>

/* The decoded value, as heap memory; NULL if it is malformed, not UTF-8, or contains a NUL. */
char *header_value_decode(const char *value);
/* Whether `value` is `text` in plain form. If not, it might still be `text` in base64. */
bool header_value_is_plainly(const char *value, const char *text);
