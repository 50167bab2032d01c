/* SPDX-License-Identifier: Apache-2.0 */
/* Text that arrives in pieces cut anywhere, passed on in whole UTF-8 characters. Private to fleet/.
 */
#pragma once

#include "base/core/text.h"

struct utf8_stream {
    char tail[4]; /* the begin of a character whose rest has not come */
    size_t tail_length;
};

/* Adds to `out` every character that is whole now, as long as `out` stays within `limit` bytes.
 * What cannot be UTF-8, and NUL, become U+FFFD. */
void utf8_stream_add(struct utf8_stream *whole, const char *bytes, size_t length, struct text *out,
                     size_t limit);
/* No more comes: a begun character becomes U+FFFD. */
void utf8_stream_end(struct utf8_stream *whole, struct text *out, size_t limit);
