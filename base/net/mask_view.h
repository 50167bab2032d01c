/* SPDX-License-Identifier: Apache-2.0 */
/* A text with its escapes decoded, and the place in the text that each byte comes from. Private to
 * mask*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_VIEW_ROUNDS 4  /* the text as it is, and decoded up to three times */
#define MASK_VIEW_GROWTH 10 /* the longest escape of one byte: "&#x000041;" */

struct span {
    size_t from, to;
};

struct mask_view {
    const unsigned char *bytes;
    size_t length;
    const unsigned char *text; /* the original text, borrowed */
    size_t text_length;
    unsigned char *own; /* owns `bytes`; NULL: they are the text itself */
    uint32_t *starts;   /* the place in the text of each byte; NULL: the same place */
};

/* What decoding does with blanks and control characters. It drops invisible characters in any
 * case. */
enum mask_view_blanks {
    MASK_VIEW_KEEPS_BLANKS,
    MASK_VIEW_DROPS_BLANKS,
};

/* Returns a view of the text as it is, which is borrowed. Free with mask_view_finish. */
struct mask_view mask_view_of(const char *text, size_t length);
void mask_view_finish(struct mask_view *view); /* wipes and frees what it owns */
/* Decodes once more: \uXXXX, \xXX and \/ of JSON and similar, %XX, &#NN; and &lt; of HTML. Returns
 * false if there was nothing to decode or drop; the view is then unchanged. */
bool mask_view_decode(struct mask_view *view, enum mask_view_blanks blanks);
/* The part of the text that a part of the view comes from, without the blanks after it. */
struct span mask_view_origin(const struct mask_view *view, struct span part);
/* How many bytes of a growing text can be decoded: the bytes after them may be the beginning of an
 * escape. */
size_t mask_view_whole(const char *text, size_t length);
