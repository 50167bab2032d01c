/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an imported run: what its file contains, and nothing else. */
#pragma once

#include "analysis/evidence/evidence.h"

/* Writes Markdown: the run's origin, the known facts, a matrix for each of the main figures that
 * the file has (a row for each pair of input and output length, a column for each number of users;
 * no matrices if the grid is too large), the cells that were not measured, and the importer's
 * remarks. A point that the file has several times shows every value, in the file's order. A cell
 * that was not measured shows its state instead of a figure. */
void import_report_write(const struct evidence *evidence, struct text *out);
