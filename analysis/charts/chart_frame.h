/* SPDX-License-Identifier: Apache-2.0 */
/* What the charts share: title and subtitle, axes, markers. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart_grid.h"
#include "analysis/charts/scale.h"

#define CHART_WIDTH 720
#define CHART_HEIGHT 480
#define CHART_MARGIN 24
#define CHART_TITLE_Y 30
/* A marker of chart_latency, chart_pareto or chart_tail is hollow if there are fewer samples than
 * this, or if their number is not known. */
#define CHART_SAMPLES_FEW 30

#define CHART_FILL(paint) ((struct style){ .fill = (paint) })
#define CHART_STROKE(paint, thickness) ((struct style){ .stroke = (paint), .width = (thickness) })

/* ---- Head ---- */

/* Begins the picture with the title `name` + `shown`. The name is shortened if the title does not
 * fit. */
void chart_start(struct chart *chart, double width, double height, const char *name,
                 const char *shown);
/* Writes the parts with " · " between them, in up to three lines, the first below `y`. Returns
 * the `y` of the last line. */
double chart_lines(struct drawing *drawing, enum text_kind kind, enum paint paint, double y,
                   const struct text *parts);
/* Appends a part to the parts that chart_lines writes, unless the part is empty. */
void chart_part(struct text *parts, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends what the subtitle says about a grid: its origin, variant and output length; the numbers
 * of cells, repetitions and samples; and how many cells failed, are infeasible, inferred or
 * skipped, are marked with a warning, or are not shown. */
void chart_describe(const struct chart_grid *grid, struct text *parts);
/* Appends "Warnings: burst in 132 of 156 cells"; nothing if no warning is common. */
void chart_banner(const struct chart_grid *grid, struct text *parts);
/* Writes the subtitle, which is the description of the grid followed by `more`, and the banner
 * below it. Returns the y coordinate at which the plot can begin. */
double chart_head(struct chart *chart, const struct chart_grid *grid, const char *more);
/* Writes a sentence in place of a plot that would have no figures. */
void chart_empty(struct chart *chart, double top, const char *why);

/* ---- Axes ---- */

/* Draws an x axis at `y`: its numbers and the heading are below it, and a line goes up to `top`
 * from each tick. */
void chart_axis_x(struct drawing *drawing, const struct scale *scale, double y, double top,
                  const char *heading);
/* Draws a y axis at `x`: its numbers are to the left of it, the heading is above it, and a line
 * goes to `right` from each tick. */
void chart_axis_y(struct drawing *drawing, const struct scale *scale, double x, double right,
                  const char *heading);
/* "users" or "requests/s planned". */
const char *chart_load_heading(const struct chart_grid *grid);
/* For example "context, tokens" or "output tokens". */
const char *chart_row_heading(const struct chart_grid *grid);
/* Writes "1024", or "not stated" for NaN; returns `out`. */
const char *chart_row_name(double row, char out[SCALE_NUMBER_SIZE]);
/* Writes "64 users, context 1024". */
void chart_write_place(const struct chart_grid *grid, double load, double row, struct text *out);
/* The names of the table's columns for load and row. */
const char *chart_load_column(const struct chart_grid *grid);
const char *chart_row_column(const struct chart_grid *grid);

/* ---- Markers ---- */

enum paint chart_series_paint(size_t series);
/* Each of PALETTE_SERIES series has a shape of its own. A hollow marker is filled with the paper's
 * colour. */
void chart_marker(struct drawing *drawing, size_t series, struct spot at, enum paint paint,
                  bool is_hollow);
