/* All series of a metrics page, as the store takes them. */
#pragma once

#include "base/core/text.h"
#include "store/series/scrapes.h"

#define PAGE_SERIES_LIMIT 2000 /* of one page, the first ones */

struct page {
    struct scrape_value *values; /* names and labels lie in `letters` */
    size_t count, left_out;      /* left_out: beyond the limit */
    char *letters;
};
/* Values that are no finite numbers are left out: they tell nothing. `more` is room for values that
 * the caller appends. Free with page_finish. */
void page_read(const struct text *body, size_t more, struct page *out);
void page_finish(struct page *page);
/* Appends a sentence with the numbers and the limits; nothing where nothing was left out. */
void left_out_tell(const struct scrape_left_out *left_out, struct text *out);
