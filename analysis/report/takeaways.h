/* SPDX-License-Identifier: Apache-2.0 */
/* A few sentences that summarize the figures. Private to analysis/. */
#pragma once

#include <jansson.h>

#include "analysis/report/cell_grid.h"

/* Array of strings; new reference. */
json_t *takeaways_find(const struct cell_grid *grid);
