/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the measured load divided by the expected one: if the ratio is not near 1, the figures
 * belong to a load other than the planned one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/charts/chart_cloud.h"
#include "analysis/charts/chart_entries.h"
#include "analysis/charts/chart_rows.h"
#include "base/core/memory.h"

#define BAND 0.1         /* ratios that differ from 1 by less than this are in the shaded band */
#define RATIO_LEAST 1.25 /* the axis shows at least the ratios from 1 / 1.25 to 1.25 */
#define DODGE_MAX 24     /* a cell is drawn at most this far left or right of its load's place */
#define MARKER_SIDE 8
#define INSET 30           /* left free at both ends of the axis of loads, for the markers */
#define NAMES_ROOM_MAX 130 /* the maximum width of the names beside the plot */
/* Each of the rarest warnings (struct chart_mark) is a series with its own colour. The cells that
 * have only other warnings are one more series, and the cells without warnings are the last. */
#define WARNINGS_SHOWN 4
#define SERIES_OTHERS WARNINGS_SHOWN
#define SERIES_NONE (WARNINGS_SHOWN + 1)

struct residuals {
    struct chart *chart;
    const struct chart_grid *grid;
    struct scale x, y;
    struct scale_range loads, ratios;
    double dodge;
    size_t shown[WARNINGS_SHOWN]; /* indices of marks, the rarest first */
    size_t shown_count;
    bool has_cells[SERIES_NONE + 1]; /* a cell of this series has a place in the plot */
    /* There are too many cells to describe each of them, or to draw those that others cover. */
    bool is_dense;
};

/* If the loads are rates: the rate of answers, to be compared with the requested rate of arrivals.
 * Otherwise: the number of requests in flight or, if the cell does not state it, the rate of
 * answers times the mean latency (Little's law, 1961). NaN: not known. */
static double measured_of(const struct chart_grid *grid, const struct evidence_cell *cell)
{
    double mean_ms = cell->latency[METRIC_E2E].mean_ms;

    if (grid->is_rate)
        return cell->request_throughput;
    return isfinite(cell->concurrency_actual) ? cell->concurrency_actual
                                              : cell->request_throughput * mean_ms / 1000;
}

/* The number of requests in flight that is expected from the users and their think time; the
 * requested load if that number is not known, as in an open loop. */
static double expected_of(const struct chart_entry *entry)
{
    double expected = entry->cell->concurrency_expected;

    return expected > 0 ? expected : entry->load;
}

/* The measured load divided by the expected one; NaN: it is not known or 0, or the cell was not
 * measured. */
static double ratio_of(const struct residuals *residuals, const struct chart_entry *entry)
{
    double ratio = measured_of(residuals->grid, entry->cell) / expected_of(entry);

    return entry->cell->state == EVIDENCE_MEASURED && ratio > 0 && isfinite(ratio) ? ratio : NAN;
}

static bool has_place(const struct residuals *residuals, const struct chart_entry *entry)
{
    return entry->load > 0 && isfinite(ratio_of(residuals, entry));
}

/* ---- Warnings ---- */

/* Chooses the warnings that the fewest cells have, so that these cells stand out. */
static void choose_warnings(struct residuals *residuals)
{
    const struct chart_grid *grid = residuals->grid;
    bool chosen[CHART_MARKS_MAX] = { false };

    for (size_t r = 0; r < WARNINGS_SHOWN && r < grid->mark_count; r++) {
        size_t best = CHART_MARKS_MAX;

        for (size_t i = 0; i < grid->mark_count; i++)
            if (!chosen[i]
                && (best == CHART_MARKS_MAX || grid->marks[i].cells < grid->marks[best].cells))
                best = i;
        chosen[best] = true;
        residuals->shown[residuals->shown_count++] = best;
    }
}

/* A cell belongs to the series of its rarest warning. */
static size_t series_of(const struct residuals *residuals, const struct chart_entry *entry)
{
    for (size_t i = 0; i < residuals->shown_count; i++)
        if ((entry->marks >> residuals->shown[i] & 1) != 0)
            return i;
    return entry->marks != 0 ? SERIES_OTHERS : SERIES_NONE;
}

static enum paint paint_of(size_t series)
{
    return series == SERIES_NONE ? PAINT_MUTED : chart_series_paint(series);
}

static void write_marks(const struct residuals *residuals, const struct chart_entry *entry,
                        struct text *out)
{
    for (size_t i = 0; i < residuals->grid->mark_count; i++)
        if ((entry->marks >> i & 1) != 0)
            text_addf(out, "%s%s", out->length > 0 ? ", " : "", residuals->grid->marks[i].name);
}

/* ---- Drawing ---- */

static void draw_band(const struct residuals *residuals, struct box box)
{
    struct drawing *drawing = &residuals->chart->drawing;
    double low = scale_at(&residuals->y, 1 - BAND), high = scale_at(&residuals->y, 1 + BAND);

    drawing_rect(drawing, (struct box){ box.x, high, box.width, low - high }, 0,
                 CHART_FILL(PAINT_SHADE));
}

static void write_words(const struct residuals *residuals, const struct chart_entry *entry,
                        struct text *out)
{
    char number[SCALE_NUMBER_SIZE];
    TEXT_AUTO marks = { 0 };

    write_marks(residuals, entry, &marks);
    chart_write_place(residuals->grid, entry->load, entry->row, out);
    text_addf(out, ": %s %s", scale_number(measured_of(residuals->grid, entry->cell), number),
              residuals->grid->is_rate ? "requests/s answered" : "requests in flight");
    if (marks.length > 0)
        text_addf(out, "; %s", text_string(&marks));
}

/* How far to the left and right of a load's place its outermost contexts are drawn: less than half
 * the distance between the two closest loads, so that each cell is closest to the place of its own
 * load. */
static double largest_dodge(const struct residuals *residuals)
{
    const struct chart_grid *grid = residuals->grid;
    double least = 4 * DODGE_MAX;

    for (size_t i = 1; i < grid->load_count; i++)
        if (grid->loads[i - 1] > 0)
            least = fmin(least, scale_at(&residuals->x, grid->loads[i])
                                    - scale_at(&residuals->x, grid->loads[i - 1]));
    return fmin(DODGE_MAX, fmin(0.36 * least, MARKER_SIDE / 2.0 * (double)(grid->row_count - 1)));
}

/* How far to the right of its load's place a cell is drawn (negative: to the left). The cells of a
 * load are side by side, in the order of their contexts. */
static double dodge_of(const struct residuals *residuals, const struct chart_entry *entry)
{
    const struct chart_grid *grid = residuals->grid;
    size_t row = 0;

    while (row + 1 < grid->row_count && grid->rows[row] != entry->row)
        row++;
    return grid->row_count > 1
               ? residuals->dodge * (2 * (double)row / (double)(grid->row_count - 1) - 1)
               : 0;
}

static struct spot spot_of(const struct residuals *residuals, const struct chart_entry *entry)
{
    return (struct spot){ scale_at(&residuals->x, entry->load) + dodge_of(residuals, entry),
                          scale_at(&residuals->y, ratio_of(residuals, entry)) };
}

static void draw_cell(const struct residuals *residuals, size_t index, size_t series)
{
    const struct chart_entry *entry = &residuals->grid->entries[index];
    struct drawing *drawing = &residuals->chart->drawing;
    TEXT_AUTO words = { 0 };

    if (!residuals->is_dense) {
        write_words(residuals, entry, &words);
        drawing_group(drawing, "point", (int64_t)index, text_string(&words));
    }
    chart_marker(drawing, series == SERIES_NONE ? 0 : series, spot_of(residuals, entry),
                 paint_of(series), series == SERIES_NONE);
    if (!residuals->is_dense)
        drawing_group_end(drawing);
}

/* Sets shown[i] for each cell to draw. In a dense chart, only one cell is drawn in each rectangle
 * of about MARKER_SIDE by MARKER_SIDE: one that has the rarest warning there. */
static void choose_cells(const struct residuals *residuals, struct box box, bool *shown)
{
    const struct chart_grid *grid = residuals->grid;
    CHART_CLOUD_AUTO cloud;

    chart_cloud_init(&cloud, box, MARKER_SIDE);
    for (size_t series = 0; series <= SERIES_NONE; series++)
        for (size_t i = 0; i < grid->entry_count; i++) {
            const struct chart_entry *entry = &grid->entries[i];

            if (series_of(residuals, entry) == series && has_place(residuals, entry))
                shown[i] =
                    !residuals->is_dense || chart_cloud_add(&cloud, spot_of(residuals, entry));
        }
}

/* The cells with the rarest warnings are drawn last, so that the others do not cover them. */
static void draw_cells(const struct residuals *residuals, struct box box)
{
    FREE_AUTO bool *shown = memory_zeroed(residuals->grid->entry_count + 1, sizeof *shown);

    choose_cells(residuals, box, shown);
    for (size_t series = SERIES_NONE + 1; series-- > 0;)
        for (size_t i = 0; i < residuals->grid->entry_count; i++)
            if (shown[i] && series_of(residuals, &residuals->grid->entries[i]) == series)
                draw_cell(residuals, i, series);
}

/* ---- Names ---- */

static void add_name(struct chart_name_label *labels, size_t *count, size_t series,
                     const char *name)
{
    labels[*count] = (struct chart_name_label){ .series = series == SERIES_NONE ? 0 : series,
                                                .paint = paint_of(series),
                                                .is_hollow = series == SERIES_NONE };
    snprintf(labels[(*count)++].name, sizeof labels[0].name, "%s", name);
}

static const char *heading_of(const struct residuals *residuals)
{
    return residuals->shown_count > 0 ? "finding" : "";
}

static size_t find_names(const struct residuals *residuals, struct chart_name_label *labels)
{
    size_t count = 0;

    for (size_t i = 0; i < residuals->shown_count; i++)
        if (residuals->has_cells[i])
            add_name(labels, &count, i, residuals->grid->marks[residuals->shown[i]].name);
    if (residuals->has_cells[SERIES_OTHERS])
        add_name(labels, &count, SERIES_OTHERS, "another finding");
    if (residuals->has_cells[SERIES_NONE])
        add_name(labels, &count, SERIES_NONE, "no finding");
    return count;
}

/* Writes the names beside the upper end of the plot. */
static void write_names(const struct residuals *residuals, struct box box,
                        struct chart_name_label *labels, size_t count, double room)
{
    for (size_t i = 0; i < count; i++)
        labels[i].y = box.y;
    chart_names_write(&residuals->chart->drawing, box, heading_of(residuals), labels, count, room);
}

/* Fills the table, and finds the ranges of the axes and the series that have cells to draw. */
static void fill_table(struct residuals *residuals)
{
    const char *const names[] = { chart_load_column(residuals->grid),
                                  chart_row_column(residuals->grid),
                                  "measured",
                                  "ratio",
                                  "marks",
                                  NULL };
    struct chart_table *table = &residuals->chart->table;

    chart_table_init(table, names);
    for (size_t i = 0; i < residuals->grid->entry_count; i++) {
        const struct chart_entry *entry = &residuals->grid->entries[i];
        double ratio = ratio_of(residuals, entry);
        TEXT_AUTO marks = { 0 };

        write_marks(residuals, entry, &marks);
        chart_table_number(table, entry->load);
        chart_table_number(table, entry->row);
        chart_table_number(table, measured_of(residuals->grid, entry->cell));
        chart_table_number(table, ratio);
        chart_table_text(table, text_string(&marks));
        scale_range_add(&residuals->loads, entry->load);
        scale_range_add(&residuals->ratios, ratio);
        residuals->has_cells[series_of(residuals, entry)] |= has_place(residuals, entry);
    }
}

/* The scale of the ratios: the band around 1 is always in the plot, and no cell is at its upper or
 * lower edge. */
static struct scale scale_of(const struct scale_range *ratios, struct box box)
{
    double low = fmin(1 / RATIO_LEAST, ratios->low / 1.08);
    double high = fmax(RATIO_LEAST, ratios->high * 1.08);

    return scale_of_ratios(low, high, box.y + box.height, box.y);
}

static void draw(struct residuals *residuals, double top)
{
    struct chart_facets facets = chart_facets_lay_out(&residuals->chart->drawing, top, 1);
    struct box box = facets.panels[0].box;
    struct chart_name_label labels[SERIES_NONE + 1];
    size_t count = find_names(residuals, labels);
    double room = chart_names_room(heading_of(residuals), labels, count, NAMES_ROOM_MAX);

    box.width += CHART_NAMES_ROOM - room;
    residuals->x = chart_scale_of_loads(&residuals->loads, box, INSET);
    residuals->y = scale_of(&residuals->ratios, box);
    residuals->dodge = largest_dodge(residuals);
    draw_band(residuals, box);
    chart_axis_y(&residuals->chart->drawing, &residuals->y, box.x, box.x + box.width,
                 residuals->grid->is_rate ? "requests/s answered / planned"
                                          : "requests in flight / expected");
    chart_axis_loads(&residuals->chart->drawing, residuals->grid, &residuals->x, box);
    drawing_line(&residuals->chart->drawing, (struct spot){ box.x, scale_at(&residuals->y, 1) },
                 (struct spot){ box.x + box.width, scale_at(&residuals->y, 1) },
                 CHART_STROKE(PAINT_INK, 1.2));
    draw_cells(residuals, box);
    write_names(residuals, box, labels, count, room);
}

void chart_residuals(const struct chart_runs *runs, struct chart *out)
{
    CHART_GRID_AUTO grid;
    struct residuals residuals = {
        .chart = out, .grid = &grid, .loads = { .is_log = true }, .ratios = { .is_log = true }
    };
    TEXT_AUTO name = { 0 };
    TEXT_AUTO more = { 0 };
    double top;

    chart_grid_init(&grid, runs);
    chart_name(runs, &name);
    chart_start(out, CHART_WIDTH, CHART_HEIGHT, text_string(&name), ": was the load as planned?");
    residuals.is_dense = grid.entry_count > CHART_MARKERS_MAX;
    choose_warnings(&residuals);
    fill_table(&residuals);
    chart_part(&more,
               "1 = as planned \xc2\xb7 shaded: \xc2\xb1"
               "10 %% \xc2\xb7 a dot per cell, coloured by its rarest finding \xc2\xb7 "
               "%s from left to right",
               grid.by_output ? "output lengths" : "contexts");
    chart_part(&more, "%s", residuals.is_dense ? "cells at the same place are one dot" : "");
    top = chart_head(out, &grid, text_string(&more));
    if (residuals.ratios.known && residuals.loads.known)
        draw(&residuals, top);
    else
        chart_empty(out, top,
                    grid.is_rate ? "No measured cell states its rate of answers"
                                 : "No measured cell states its requests in flight, or its rate of "
                                   "answers and mean latency");
}
