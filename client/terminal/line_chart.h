/* SPDX-License-Identifier: Apache-2.0 */
/* A line chart of braille dots. Each column of the terminal shows two values, and each row has four
 * steps of height. */
#pragma once

#include "base/core/text.h"

/* Draws the newest values that fit, the last one at the right. The scale goes from 0 to a round
 * number that is not below the largest of all the values, even of those that do not fit. Adds each
 * row to an element of `lines`; the first row begins with the scale's upper bound, and the last
 * with 0. A row is exactly `columns` wide, which must be at least 7. A value that is not finite
 * leaves a gap; a negative one is drawn at 0. */
void line_chart_render(const double *values, size_t count, size_t columns, size_t rows,
                       struct text *lines);
/* The number of values that fit into this many columns. */
size_t line_chart_room(size_t columns);
/* Writes the value with about three digits, such as "12", "0.25" or "12.3k"; "-" if it is not
 * finite. Returns `out`. */
#define LINE_CHART_FIGURE_SIZE 16
const char *line_chart_figure(double value, char out[LINE_CHART_FIGURE_SIZE]);
