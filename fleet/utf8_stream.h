/* SPDX-License-Identifier: Apache-2.0 */
/* Joins text that arrives in pieces. A piece can end in the middle of a UTF-8 character. Private to
 * fleet/. */
#pragma once

#include "base/core/text.h"

struct utf8_stream {
    char tail[4]; /* the start of a character that is still incomplete */
    size_t tail_length;
};

/* Appends to `out` every character that is now complete, but omits characters that would make `out`
 * longer than `limit` bytes. NUL and invalid UTF-8 become U+FFFD. */
void utf8_stream_add(struct utf8_stream *stream, const char *bytes, size_t length, struct text *out,
                     size_t limit);
/* Ends the text: an incomplete character becomes U+FFFD. */
void utf8_stream_end(struct utf8_stream *stream, struct text *out, size_t limit);
