/* SPDX-License-Identifier: Apache-2.0 */
/* Invisible columns over all panels of a history, one for each time with a figure: a reader who
 * points at a column sees the figures of its time. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart.h"

/* `area`: the panels, from the beginning of the history to its end. Nobody can point at a column
 * narrower than a unit, so a time less than a unit after that of the previous column has none. */
void chart_moments(const struct chart_history *input, struct box area, struct drawing *drawing);
