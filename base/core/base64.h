/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as base64 (RFC 4648, with padding), and back. */
#pragma once

#include "base/core/text.h"

void base64_add(struct text *out, const void *bytes, size_t length);
/* Appends the bytes. False for what no encoder writes: other characters, wrong padding, bits left
 * over; `out` may then have some of them. */
bool base64_decode(struct text *out, const char *text, size_t length);
