/* SPDX-License-Identifier: Apache-2.0 */
/* The moments of a history, to be pointed at: for each time a column over all panels, without
 * colour, whose words are its figures. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart.h"

/* `area`: from the beginning of the history to its end. Nobody can point at a column that is
 * narrower than a unit: of times that are closer only the first has one. */
void chart_moments(const struct chart_history *input, struct box area, struct drawing *drawing);
