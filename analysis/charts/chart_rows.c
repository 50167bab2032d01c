/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_rows.h"

struct chart_rows chart_rows_choose(const struct chart_grid *grid)
{
    const size_t all = grid->row_count;
    bool is_sample = all > CHART_LINES_MAX
                     || (all > CHART_PANEL_SERIES && all * grid->load_count > CHART_MARKERS_MAX);
    struct chart_rows rows = { .count = is_sample ? CHART_PANEL_SERIES : all,
                               .is_sample = is_sample };

    for (size_t i = 0; i < rows.count; i++)
        rows.at[i] = is_sample ? i * (all - 1) / (rows.count - 1) : i;
    return rows;
}

void chart_rows_describe(const struct chart_rows *rows, const struct chart_grid *grid,
                         const char *others, struct text *parts)
{
    if (rows->is_sample)
        chart_part(parts, "%zu of %zu %s, evenly chosen", rows->count, grid->row_count,
                   grid->by_output ? "output lengths" : "contexts");
    if (rows->is_sample)
        chart_part(parts, "%s", others);
}

/* ---- A band ---- */

struct band {
    const struct scale *x, *y;
    /* The places of the highest figures are stored forwards from the start of the array, those of
     * the lowest figures backwards from its end. */
    struct spot edge[2 * CHART_AXIS_MAX];
    size_t count; /* of loads */
};

static struct scale_range range_at(const struct chart_grid *grid, size_t load, size_t offset)
{
    struct scale_range range = { .is_log = true };

    for (size_t row = 0; row < grid->row_count; row++)
        scale_range_add(&range, chart_point_figure(chart_grid_at(grid, row, load), offset).mean);
    return range;
}

/* Moves the lowest figures next to the highest, draws the band, and begins the next one. */
static void band_end(struct band *band, struct drawing *drawing)
{
    struct spot *lowest = band->edge + band->count;

    for (size_t i = 0; i < band->count; i++)
        lowest[i] = band->edge[2 * CHART_AXIS_MAX - band->count + i];
    if (band->count > 1)
        drawing_path(drawing, band->edge, 2 * band->count, true, CHART_FILL(PAINT_RULE));
    band->count = 0;
}

static void band_add(struct band *band, double load, const struct scale_range *range)
{
    double x = scale_at(band->x, load);

    band->edge[band->count++] = (struct spot){ x, scale_at(band->y, range->high) };
    band->edge[2 * CHART_AXIS_MAX - band->count] =
        (struct spot){ x, scale_at(band->y, range->low) };
}

void chart_rows_band(const struct chart_grid *grid, size_t offset, const struct scale *x,
                     const struct scale *y, struct drawing *drawing)
{
    struct band band = { .x = x, .y = y };

    for (size_t load = 0; load < grid->load_count; load++) {
        struct scale_range range = range_at(grid, load, offset);

        if (range.known && grid->loads[load] > 0)
            band_add(&band, grid->loads[load], &range);
        else
            band_end(&band, drawing);
    }
    band_end(&band, drawing);
}
