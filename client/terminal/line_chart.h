/* SPDX-License-Identifier: Apache-2.0 */
/* A line chart of braille dots: a column of the terminal shows two values, a row four steps of
 * height. */
#pragma once

#include "base/core/text.h"

/* Draws the newest values that fit, the last at the right, on a scale from 0 to a round number that
 * is not below the largest of all. Adds each row to an element of `lines`, exactly `columns` wide,
 * which must be at least 7, with the scale's upper bound before the first row and 0 before the
 * last. A value that is not finite is a gap, a negative one is drawn at 0. */
void line_chart_render(const double *values, size_t count, size_t columns, size_t rows,
                       struct text *lines);
/* The number of values that fit into this many columns. */
size_t line_chart_room(size_t columns);
/* Writes the value to about three digits, such as "12", "0.25" or "12.3k"; "-" if it is not finite.
 * Returns `out`. */
#define LINE_CHART_FIGURE_SIZE 16
const char *line_chart_figure(double value, char out[LINE_CHART_FIGURE_SIZE]);
