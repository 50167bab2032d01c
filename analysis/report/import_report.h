/* SPDX-License-Identifier: Apache-2.0 */
/* The report of an imported run: what its file tells, and nothing that it does not. */
#pragma once

#include "analysis/evidence/evidence.h"

/* Markdown: where it comes from, what is known, matrices (rows input length, columns users) of the
 * figures there are, what failed. A point that the file holds several times shows every value, in
 * the file's order; a failed cell shows no speed. */
void import_report_write(const struct evidence *evidence, struct text *out);
