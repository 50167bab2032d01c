/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a history that a reader points at to see the figures of one time: a column over
 * all panels for each time, without colour, described by its figures. Private to
 * analysis/charts/. */
#pragma once

#include "analysis/charts/chart.h"

/* `area`: from the beginning of the history to its end. Nobody can point at a column that is
 * narrower than a unit, so of times that are closer than that only the first has one. */
void chart_moments(const struct chart_history *input, struct box area, struct drawing *drawing);
