/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that a sweep's report is made from. */
#pragma once

#include "handlers/services.h"
#include "store/ledger/sweeps.h"

struct sweep_material {
    struct sweep_row sweep;
    struct run_row *runs;
    size_t run_count;
    struct cell_row *cells;
    size_t cell_count;
    struct attempt_row *interrupted;
    size_t interrupted_count;
};

/* Zero it first, and finish it also after a failure, since part of it may have been read. */
CHECKED bool sweep_material_read(const struct services *services, const char *sweep_id,
                                 struct sweep_material *out, struct error *error);
void sweep_material_finish(struct sweep_material *material);
