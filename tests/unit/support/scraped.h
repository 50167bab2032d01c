/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the points that scrape_visit reports, series by series. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "store/engine/sql.h"
#include "store/series/scrapes.h"

struct scraped {
    char name[SCRAPE_NAME_SIZE], labels[SCRAPE_LABELS_SIZE], type[16];
    struct scrape_point *points; /* in the order in which scrape_visit reports them */
    size_t count;
};

struct scraped_rows {
    struct scraped *rows;
    size_t count;
};

static inline bool scraped_choose(void *context, const struct scrape_series *series, size_t *tag)
{
    struct scraped_rows *all = context;
    struct scraped *row;

    all->rows = sql_rows_grow(all->rows, all->count, sizeof *all->rows);
    *tag = all->count++;
    row = memset(&all->rows[*tag], 0, sizeof *row);
    memcpy(row->name, series->name, sizeof row->name);
    memcpy(row->labels, series->labels, sizeof row->labels);
    memcpy(row->type, series->type, sizeof row->type);
    return true;
}

static inline void scraped_receive(void *context, size_t tag, const struct scrape_point *point)
{
    struct scraped *row = &((struct scraped_rows *)context)->rows[tag];

    row->points = sql_rows_grow(row->points, row->count, sizeof *row->points);
    row->points[row->count++] = *point;
}

static inline void scraped_free(struct scraped *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i].points);
    free(rows);
}

/* Collects the series that have at least one point. Free with scraped_free. */
static inline bool scraped_read(struct store *store, const struct scrape_range *range,
                                enum scrape_level level, struct scraped **out, size_t *count,
                                struct error *error)
{
    struct scraped_rows all = { 0 };
    const struct scrape_visitor visitor = { scraped_choose, scraped_receive, &all };
    size_t kept = 0;

    if (!scrape_visit(store, range, level, &visitor, error)) {
        scraped_free(all.rows, all.count);
        return false;
    }
    for (size_t i = 0; i < all.count; i++)
        if (all.rows[i].count > 0)
            all.rows[kept++] = all.rows[i];
    *out = all.rows;
    *count = kept;
    return true;
}
