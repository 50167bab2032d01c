/* What sets cells of one load apart in files that hold several runs: their model, their repetition.
 * Private to analysis/import*.c. */
#pragma once

#include "analysis/import.h"

/* By the normalized name of a column or member. */
bool import_is_variant(const char *name);
/* Adds to `variant` of every cell, from the originals, the members that tell runs apart, where they
 * differ between the cells. */
void import_mark_variants(struct evidence *evidence);
