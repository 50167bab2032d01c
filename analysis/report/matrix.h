/* SPDX-License-Identifier: Apache-2.0 */
/* A matrix of one quantity for one output length, with a row per context and a column per load.
 * Private to analysis/. */
#pragma once

#include <jansson.h>

#include "analysis/report/repetition_stats.h"

#define TABLE_WIDTH 100 /* characters; loads that do not fit go into further tables */

/* Adds the figure of one point with its marks; if there is no figure, a word such as "failed", or
 * "-". */
void matrix_add_figure(const struct grid_point *point, enum quantity_id quantity, struct text *out);
/* Writes a heading, and Markdown tables of what matrix_add_figure adds for each point. */
void matrix_write(const struct cell_grid *grid, size_t output, enum quantity_id quantity,
                  struct text *out);
/* {"name", "title", "mean": [[number or null]]}. If there are several repetitions, "min", "max" and
 * "ci95_half_width" are added, in the form of "mean". If the quantity can be censored (known only
 * to be at least the figure), "at_least" lists the points with a censored figure, as
 * [[context, load]]. New reference. */
json_t *matrix_to_json(const struct cell_grid *grid, size_t output, enum quantity_id quantity);
/* The points' states, by context and load: [["measured", "failed", ...]]. New reference. */
json_t *matrix_states(const struct cell_grid *grid, size_t output);
