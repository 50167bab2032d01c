/* SPDX-License-Identifier: Apache-2.0 */
/* A text with its escapes decoded, and the origin of each byte. Private to mask*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_VIEW_ROUNDS 4  /* as it is, and decoded up to three times */
#define MASK_VIEW_GROWTH 10 /* the longest escape of one byte: "&#x000041;" */

struct span {
    size_t from, to;
};

struct mask_view {
    const unsigned char *bytes;
    size_t length;
    const unsigned char *text; /* the text it is a view of, borrowed */
    unsigned char *own;        /* `bytes`, if they differ from it */
    uint32_t *starts;          /* where in the text each of them begins; NULL: they are the text */
    size_t text_length;
};

enum mask_view_blanks {
    MASK_VIEW_KEEPS_BLANKS,
    MASK_VIEW_DROPS_BLANKS, /* and control and invisible characters */
};

/* The text itself, borrowed. Free with mask_view_finish. */
struct mask_view mask_view_of(const char *text, size_t length);
void mask_view_finish(struct mask_view *view); /* wipes it */
/* Decodes once more: \uXXXX, \xXX and \/ of JSON and similar, %XX, &#NN; of HTML. False: there is
 * nothing to decode, and the view is unchanged. */
bool mask_view_decode(struct mask_view *view, enum mask_view_blanks blanks);
/* Where in the text a part of the view is, without the blanks after it. */
struct span mask_view_origin(const struct mask_view *view, struct span part);
/* How much of a growing text can be decoded: the rest may be the beginning of an escape. */
size_t mask_view_whole(const char *text, size_t length);
