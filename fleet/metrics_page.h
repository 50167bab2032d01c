/* SPDX-License-Identifier: Apache-2.0 */
/* All series of a metrics page, in the form that the store accepts. */
#pragma once

#include "base/core/text.h"
#include "store/series/scrapes.h"

#define METRICS_PAGE_SERIES_LIMIT 2000 /* the first ones of a page */

struct metrics_page {
    struct scrape_value *values; /* names and labels point into `letters` */
    size_t count, left_out;      /* left_out: beyond the limit */
    char *letters;
};
/* Values that are not finite are omitted. `more` is room for values that the caller appends. Free
 * with metrics_page_finish. */
void metrics_page_read(const struct text *body, size_t more, struct metrics_page *out);
void metrics_page_finish(struct metrics_page *page);
/* Appends a sentence with the numbers and the limits; nothing if nothing was omitted. */
void metrics_page_describe_left_out(const struct scrape_left_out *left_out, struct text *out);
