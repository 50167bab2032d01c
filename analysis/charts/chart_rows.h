/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the rows of a grid that a line chart shows, and draws the band that stands for all rows
 * if there are too many. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart_facets.h"

#define CHART_MARKERS_MAX 480 /* more markers in one chart could not be told apart */
#define CHART_MARKER_GAP 7    /* minimum distance between a line's markers, except at its ends */

/* All rows or, if there are too many lines or markers to tell apart, a sample: as many rows as one
 * panel can show, evenly spaced from the first to the last. */
struct chart_rows {
    size_t at[CHART_LINES_MAX]; /* indices of rows of the grid */
    size_t count;
    bool is_sample;
};
struct chart_rows chart_rows_choose(const struct chart_grid *grid);
/* If the rows are a sample, adds to the subtitle how many rows were chosen, and `others`, which
 * says how the other rows are shown. */
void chart_rows_describe(const struct chart_rows *rows, const struct chart_grid *grid,
                         const char *others, struct text *parts);

/* Draws a band from load to load, between the lowest and the highest positive figure of all rows.
 * The band breaks at a load without such a figure. `offset`: the place of the figure's double in
 * struct evidence_cell. */
void chart_rows_band(const struct chart_grid *grid, size_t offset, const struct scale *x,
                     const struct scale *y, struct drawing *drawing);
