/* SPDX-License-Identifier: Apache-2.0 */
/* One quantity over the grid of one output length: rows context, columns users. Private to
 * analysis/.
 */
#pragma once

#include <jansson.h>

#include "analysis/report/repetition_stats.h"

/* the largest width of a table; if more users do not fit, further tables follow */
#define TABLE_COLUMNS 100

/* Adds the figure of one point with its marks, or the word that says why there is none. */
void matrix_add_figure(const struct grid_point *point, enum quantity_id quantity, struct text *out);
/* Adds Markdown tables. If there is no figure, a word says why. */
void matrix_write(const struct cell_grid *grid, size_t output, enum quantity_id quantity,
                  struct text *out);
/* {"name", "unit", "mean": [[number or null]], and where there are repetitions "min", "max",
 * "ci95_half_width"; "at_least": [[context, users]] of censored ones}. New reference. */
json_t *matrix_to_json(const struct cell_grid *grid, size_t output, enum quantity_id quantity);
/* [["measured", "failed", ...]]. New reference. */
json_t *matrix_states(const struct cell_grid *grid, size_t output);
