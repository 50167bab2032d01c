/* SPDX-License-Identifier: Apache-2.0 */
/* A table in aligned columns that fits a width: columns of words, and the headings above numbers,
 * are wrapped; numbers only in a first column wider than half the terminal, or in another column
 * too wide to stand beside the first. If the table is still too wide, its columns are split into
 * several blocks, each with the first column. */
#pragma once

#include "base/core/text.h"
#include "client/terminal/terminal.h"

struct grid;

struct grid *grid_create(void);
/* Adds a column's heading; to be called before the first cell. `right`: it is a column of numbers,
 * aligned to the right. */
void grid_column(struct grid *grid, const char *heading, size_t length, bool right);
/* Adds the next cell, row by row. The text must be printable. */
void grid_cell(struct grid *grid, const char *text, size_t length);
void grid_cellf(struct grid *grid, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t grid_columns(const struct grid *grid);
/* Adds the table, as wide as the terminal at most, to `out`. */
void grid_render(const struct grid *grid, const struct terminal *terminal, struct text *out);
void grid_destroy(struct grid *grid);
