/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/metrics_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/promtext.h"

static bool ends_with(const struct promtext_sample *sample, const char *suffix)
{
    size_t length = strlen(suffix);

    return sample->name_length >= length
           && memcmp(sample->name + sample->name_length - length, suffix, length) == 0;
}

/* Returns true for a value that only grows until the server restarts. If the server declares no
 * type, the end of the name decides: most servers follow that convention. */
static bool is_counter(const struct promtext_sample *sample)
{
    switch (sample->type) {
    case PROMTEXT_COUNTER:
    case PROMTEXT_HISTOGRAM:
        return true;
    case PROMTEXT_GAUGE:
        return false;
    case PROMTEXT_SUMMARY:
        return ends_with(sample, "_sum") || ends_with(sample, "_count");
    case PROMTEXT_UNTYPED:
        break;
    }
    return ends_with(sample, "_total") || ends_with(sample, "_sum") || ends_with(sample, "_count")
           || ends_with(sample, "_bucket");
}

struct reading {
    struct metrics_page *page;
    char *end; /* end of the used part of page->letters */
};

static const char *copy_letters(struct reading *reading, const char *bytes, size_t length)
{
    char *start = reading->end;

    if (length > 0)
        memcpy(start, bytes, length);
    start[length] = '\0';
    reading->end += length + 1;
    return start;
}

static bool read_sample(void *context, const struct promtext_sample *sample)
{
    struct reading *reading = context;
    struct metrics_page *page = reading->page;

    if (!isfinite(sample->value))
        return true;
    if (page->count == METRICS_PAGE_SERIES_LIMIT) {
        page->left_out++;
        return true;
    }
    page->values[page->count++] = (struct scrape_value){
        .name = copy_letters(reading, sample->name, sample->name_length),
        .labels = copy_letters(reading, sample->labels, sample->labels_length),
        .type = is_counter(sample) ? "counter" : "gauge",
        .value = sample->value,
    };
    return true;
}

void metrics_page_read(const struct text *body, size_t room, struct metrics_page *out)
{
    struct reading reading = { .page = out };

    *out = (struct metrics_page){
        .values = memory_zeroed(METRICS_PAGE_SERIES_LIMIT + room, sizeof *out->values),
        .letters = memory_zeroed(body->length + (size_t)2 * METRICS_PAGE_SERIES_LIMIT + 2, 1),
    };
    reading.end = out->letters;
    promtext_read(text_string(body), body->length, read_sample, &reading, NULL);
}

void metrics_page_finish(struct metrics_page *page)
{
    free(page->values);
    free(page->letters);
    *page = (struct metrics_page){ 0 };
}

void metrics_page_describe_left_out(const struct scrape_left_out *left_out, struct text *out)
{
    size_t all = left_out->by_page + left_out->by_deployment + left_out->by_length;
    const char *before = ": ";

    if (all == 0)
        return;
    text_addf(out, "%zu series from a scrape are not stored", all);
    if (left_out->by_page > 0) {
        text_addf(out, "%s%zu beyond the first %d on the page", before, left_out->by_page,
                  METRICS_PAGE_SERIES_LIMIT);
        before = ", ";
    }
    if (left_out->by_deployment > 0) {
        text_addf(out, "%s%zu new ones beyond a deployment's limit of %d", before,
                  left_out->by_deployment, SCRAPE_SERIES_LIMIT);
        before = ", ";
    }
    if (left_out->by_length > 0)
        text_addf(out, "%s%zu with a name longer than %d or labels longer than %d bytes", before,
                  left_out->by_length, SCRAPE_NAME_SIZE - 1, SCRAPE_LABELS_SIZE - 1);
}
