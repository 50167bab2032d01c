/* SPDX-License-Identifier: Apache-2.0 */
/* One table with all wanted quantities of a grid that has a single context or a single load:
 * matrices of one row or one column would be hard to read. Private to analysis/. */
#pragma once

#include "analysis/report/repetition_stats.h"

/* Whether the grid has a single context or a single load. */
bool figure_table_suits(const struct cell_grid *grid);
/* Writes a Markdown table for the output length with the index `output`: a row for each point, a
 * column for each quantity that is wanted. Call it only if figure_table_suits returns true. */
void figure_table_write(const struct cell_grid *grid, size_t output, const bool wanted[QUANTITIES],
                        struct text *out);
