/* SPDX-License-Identifier: Apache-2.0 */
/* A text with its escape sequences decoded. The view knows which place in the text each byte comes
 * from. Private to mask*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_VIEW_ROUNDS 4  /* a text is searched as it is, and after each of up to 3 decodings */
#define MASK_VIEW_GROWTH 10 /* bytes in the longest escape sequence for one byte, "&#x000041;" */

struct span {
    size_t from, to; /* indexes of the first byte, and of the first byte after the span */
};

struct mask_view {
    const unsigned char *bytes;
    size_t length;
    const unsigned char *text; /* the original text, borrowed */
    size_t text_length;
    unsigned char *own; /* the decoded text, to which `bytes` points; NULL: not decoded yet */
    uint32_t *starts;   /* for each byte, where it comes from in `text`; NULL: not decoded yet */
};

/* Whether decoding keeps spaces and control characters. It always drops invisible characters. */
enum mask_view_blanks {
    MASK_VIEW_KEEPS_BLANKS,
    MASK_VIEW_DROPS_BLANKS,
};

/* Returns a view of the text as it is. The text is borrowed. Free with mask_view_finish. */
struct mask_view mask_view_of(const char *text, size_t length);
void mask_view_finish(struct mask_view *view); /* wipes and frees what it owns */
/* Decodes one level of escape sequences: \uXXXX, \xXX and \/ (JSON and similar), %XX (URLs), &#NN;
 * and &lt; (HTML). Returns false if there was nothing to decode or drop; the view is then
 * unchanged. */
bool mask_view_decode(struct mask_view *view, enum mask_view_blanks blanks);
/* The part of the text that a part of the view comes from, without the spaces after it. */
struct span mask_view_origin(const struct mask_view *view, struct span part);
/* How many bytes of a growing text can be decoded now. The bytes after them may be the beginning of
 * an escape sequence. */
size_t mask_view_whole(const char *text, size_t length);
