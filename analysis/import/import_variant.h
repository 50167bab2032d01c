/* SPDX-License-Identifier: Apache-2.0 */
/* What sets cells of one load apart in files that hold several runs: their model, their repetition.
 * Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"

/* By the normalized name of a column or member. */
bool import_is_variant(const char *name);
/* Adds to `variant` of every cell, from the originals, the members that tell runs apart, where they
 * differ between the cells. */
void import_mark_variants(struct evidence *evidence);
/* The same of every member that differs between the cells, but `results` (ends with NULL) and what
 * import_mark_variants adds: for tools whose rows tell all their settings. */
void import_mark_differing(struct evidence *evidence, const char *const *results);
