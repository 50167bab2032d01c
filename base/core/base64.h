/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes bytes as base64 (RFC 4648, with padding), and decodes them. */
#pragma once

#include "base/core/text.h"

void base64_add(struct text *out, const void *bytes, size_t length);
/* Appends the decoded bytes. Returns false if no encoder would write the text (it has characters
 * outside the alphabet, wrong padding, or unused bits that are set); some bytes may then have been
 * appended. */
bool base64_decode(struct text *out, const char *text, size_t length);
