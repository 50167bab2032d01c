/* SPDX-License-Identifier: Apache-2.0 */
/* Invisible columns over all panels of a history, one for each time that has a figure. A reader who
 * points at a column sees the figures at that time. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart.h"

/* Adds the columns. `area`: the box around all panels; the history begins at its left edge and ends
 * at its right edge. Nobody can point at a column narrower than a unit, so a time has no column if
 * it is less than a unit to the right of the previous column's time. */
void chart_moments(const struct chart_history *input, struct box area, struct drawing *drawing);
