/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what distinguishes cells of the same load in files with several runs: their model or
 * repetition, for example. Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"

/* Whether the normalized name of a column or member is one that may distinguish runs. */
bool import_is_variant(const char *name);
/* Adds to each cell's `variant`, from its original row, the members that distinguish runs, if they
 * differ between the cells. */
void import_mark_variants(struct evidence *evidence);
/* The same for the members that differ between the cells, except those that `results` names (ends
 * with NULL) and those that import_mark_variants may add: for tools whose rows contain all their
 * settings. */
void import_mark_differing(struct evidence *evidence, const char *const *results);
