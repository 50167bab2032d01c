/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown tables that fit a terminal: columns padded to their widest cell, numbers
 * right-aligned. */
#pragma once

#include "base/core/text.h"

struct table;

struct table *table_create(void);
void table_column(struct table *table, const char *heading, bool right); /* before the first row */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_render(const struct table *table, struct text *out);
void table_destroy(struct table *table);
