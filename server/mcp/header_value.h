/* SPDX-License-Identifier: Apache-2.0 */
/* Header values of 2026-07-28: plain ASCII text, or =?base64?...?= around base64 of UTF-8. */
#pragma once

#include <stdbool.h>

/* The decoded value, as heap memory; NULL if it is malformed, not UTF-8, or contains a NUL. */
char *header_value_decode(const char *value);
/* Whether the header is `text`, written plainly. If not, it may still be `text` in base64. */
bool header_value_is_plainly(const char *value, const char *text);
