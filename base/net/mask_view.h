/* SPDX-License-Identifier: Apache-2.0 */
/* A text as it reads once its escapes are decoded, with where each byte comes from. Private to
 * mask*.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MASK_VIEW_ROUNDS 4  /* as it is, decoded, and twice again */
#define MASK_VIEW_GROWTH 10 /* the longest escape of one byte: "&#x000041;" */

struct span {
    size_t from, to;
};

struct mask_view {
    const unsigned char *bytes;
    size_t length;
    const unsigned char *text; /* what it is a view of, borrowed */
    unsigned char *own;        /* `bytes`, where they differ from it */
    uint32_t *starts;          /* where each of them begins in the text; NULL: they are the text */
    size_t text_length;
};

enum mask_view_blanks {
    MASK_VIEW_KEEPS_BLANKS,
    MASK_VIEW_DROPS_BLANKS, /* and control and invisible characters */
};

/* The text itself, borrowed. Free with mask_view_finish. */
struct mask_view mask_view_of(const char *text, size_t length);
void mask_view_finish(struct mask_view *view); /* wipes it */
/* One step further: \uXXXX, \xXX and \/ of JSON and its likes, %XX, &#NN; of HTML. False: there is
 * nothing to decode, and the view is as before. */
bool mask_view_decode(struct mask_view *view, enum mask_view_blanks blanks);
/* Where in the text a part of the view is, without blanks behind it. */
struct span mask_view_origin(const struct mask_view *view, struct span part);
/* How much of a text that still grows ends with no escape in its middle. */
size_t mask_view_whole(const char *text, size_t length);
