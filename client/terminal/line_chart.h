/* SPDX-License-Identifier: Apache-2.0 */
/* A line chart of braille dots: two values in a column of the terminal, four steps in a row. */
#pragma once

#include "base/core/text.h"

/* Draws the newest values, the last at the right, on a scale from 0 to a round number that is
 * not below the largest. Adds each row to an element of `lines`, exactly `columns` wide, with the
 * bounds of the scale before the first and the last row. A value that is not finite is a gap. */
void line_chart_render(const double *values, size_t count, size_t columns, size_t rows,
                       struct text *lines);
/* The number of values that fit into this many columns. */
size_t line_chart_room(size_t columns);
/* Writes the value to about three digits, such as "12", "0.25" or "1.2k"; "-" if it is not finite.
 * Returns `out`. */
#define LINE_CHART_FIGURE_SIZE 16
const char *line_chart_figure(double value, char out[LINE_CHART_FIGURE_SIZE]);
