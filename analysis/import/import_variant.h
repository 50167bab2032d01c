/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what distinguishes cells with the same load in a file with several runs: their model or
 * repetition, for example. Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"

/* Whether a column or member with this normalized name may distinguish runs. */
bool import_is_variant(const char *name);
/* Looks in the cells' original rows for members that distinguish runs. Adds those that differ
 * between the cells to each cell's `variant`. */
void import_mark_variants(struct evidence *evidence);
/* Does the same with the members for which import_is_variant is false, except those named in
 * `results` (ends with NULL): for tools whose rows contain all their settings. */
void import_mark_differing(struct evidence *evidence, const char *const *results);
