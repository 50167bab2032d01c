/* SPDX-License-Identifier: Apache-2.0 */
/* All quantities of a grid of one context, or of one load: matrices of a single line would be hard
 * to read. Private to analysis/. */
#pragma once

#include "analysis/report/repetition_stats.h"

/* Whether the grid has one line only. */
bool figure_table_suits(const struct cell_grid *grid);
/* One Markdown table: a row for each point, a column for each quantity that is wanted. */
void figure_table_write(const struct cell_grid *grid, size_t output,
                        const bool wanted[QUANTITY_COUNT], struct text *out);
