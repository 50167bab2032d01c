/* SPDX-License-Identifier: Apache-2.0 */
#include "base/measure/cell_result.h"

#include <string.h>

static const char *const state_names[] = {
    [CELL_PENDING] = "pending", [CELL_MEASURED] = "measured", [CELL_INFEASIBLE] = "infeasible",
    [CELL_FAILED] = "failed",   [CELL_SKIPPED] = "skipped",   [CELL_INFERRED] = "inferred",
};

const char *cell_state_name(enum cell_state state)
{
    return state_names[state];
}

enum cell_state cell_state_find(const char *name)
{
    for (size_t i = 0; i < sizeof state_names / sizeof state_names[0]; i++)
        if (strcmp(name, state_names[i]) == 0)
            return (enum cell_state)i;
    return CELL_PENDING;
}
