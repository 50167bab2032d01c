/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown tables that can also be read in a terminal: each column is padded to its widest cell. */
#pragma once

#include "base/core/text.h"

struct table;

struct table *table_create(void);
/* Adds a column. All columns must be added before the first cell. `right`: the column is
 * right-aligned. */
void table_column(struct table *table, const char *heading, bool right);
/* Adds the next cell, from left to right and row by row. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_render(const struct table *table, struct text *out); /* appends the table */
void table_destroy(struct table *table);
