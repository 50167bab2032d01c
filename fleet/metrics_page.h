/* SPDX-License-Identifier: Apache-2.0 */
/* The series of a metrics page, in the form that the store accepts. */
#pragma once

#include "base/core/text.h"
#include "store/series/scrapes.h"

#define METRICS_PAGE_SERIES_LIMIT 2000 /* further series of a page are skipped */

struct metrics_page {
    struct scrape_value *values; /* their names and labels point into `letters` */
    size_t count;
    size_t left_out; /* number of series beyond the limit */
    char *letters;
};
/* Reads the text of a metrics page, and omits values that are not finite. Leaves space in
 * out->values for `room` more values, which the caller can add. Free with metrics_page_finish. */
void metrics_page_read(const struct text *body, size_t room, struct metrics_page *out);
void metrics_page_finish(struct metrics_page *page);
/* Appends a sentence that says how many series of a scrape are not stored, and how many of those
 * exceed each limit. Appends nothing if all are stored. */
void metrics_page_describe_left_out(const struct scrape_left_out *left_out, struct text *out);
