/* SPDX-License-Identifier: Apache-2.0 */
/* A few sentences that summarize the figures. Private to analysis/. */
#pragma once

#include <jansson.h>

#include "analysis/report/cell_grid.h"
#include "base/core/text.h"

/* Returns the sentences as an array of strings; new reference. */
json_t *takeaways_find(const struct cell_grid *grid);
/* Adds the sentence to the array, and frees the text. */
void takeaways_add_take(json_t *sentences, struct text *sentence);
