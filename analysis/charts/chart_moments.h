/* SPDX-License-Identifier: Apache-2.0 */
/* Invisible columns over all panels of a history, one for each time with a figure: a reader who
 * points at a column sees the figures of its time. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart.h"

/* Adds the columns. `area`: the box around all panels, from the history's beginning at its left
 * edge to the end at its right edge. Nobody can point at a column narrower than a unit: a time has
 * none if its place is less than a unit to the right of the previous column's. */
void chart_moments(const struct chart_history *input, struct box area, struct drawing *drawing);
