/* SPDX-License-Identifier: Apache-2.0 */
/* A table in aligned columns that is fitted to a width. Columns of words, and the headings above
 * numbers, are wrapped. Numbers are wrapped only in a first column that is wider than half the
 * terminal, or in another column that is too wide to fit beside the first. If the table is still
 * too wide, its columns are split into several blocks, each of which repeats the first column. */
#pragma once

#include "base/core/text.h"
#include "client/terminal/terminal.h"

struct grid;

struct grid *grid_create(void);
/* Adds a column's heading. Add all headings before the first cell. `right`: it is a column of
 * numbers, aligned to the right. */
void grid_column(struct grid *grid, const char *heading, size_t length, bool right);
/* Adds the next cell, row by row. The text must be printable. */
void grid_cell(struct grid *grid, const char *text, size_t length);
void grid_cellf(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t grid_columns(const struct grid *grid);
/* Adds the table to `out`, at most as wide as the terminal. */
void grid_render(const struct grid *grid, const struct terminal *terminal, struct text *out);
void grid_destroy(struct grid *grid);
