/* SPDX-License-Identifier: Apache-2.0 */
/* A line chart of braille dots: two values in a column of the terminal, four steps in a row. */
#pragma once

#include "base/core/text.h"

/* The newest values, at the right, from 0 at the bottom to a round number above the largest: its
 * rows as lines, with the bounds in front, each exactly that many columns wide. A value that is not
 * finite is a gap. */
void line_chart_render(const double *values, size_t count, size_t columns, size_t rows,
                       struct text *lines);
/* The number of values that fit into this many columns. */
size_t line_chart_room(size_t columns);
/* "12", "0.25", "1.2k": at most 5 columns. */
#define LINE_CHART_FIGURE_SIZE 16
const char *line_chart_figure(double value, char out[LINE_CHART_FIGURE_SIZE]);
