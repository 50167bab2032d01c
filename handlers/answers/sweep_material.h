/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the store from which a sweep's report is made. */
#pragma once

#include "analysis/report/report.h"
#include "handlers/services.h"
#include "store/ledger/sweeps.h"

struct sweep_material {
    struct sweep_row sweep;
    struct run_row *runs;
    size_t run_count;
    struct cell_row *cells;
    size_t cell_count;
    struct attempt_row *interrupted; /* attempts that ended without a result */
    size_t interrupted_count;
};

/* Reads the rows of a sweep. *out must be zeroed; finish it even after a failure, since part of it
 * may have been read. */
CHECKED bool sweep_material_read(const struct services *services, const char *sweep_id,
                                 struct sweep_material *out, struct error *error);
void sweep_material_finish(struct sweep_material *material);

/* Selects the rows that belong to the run with the id `run` ("": any run) and to the deployment
 * with the name `deployment` ("": any deployment). The result's `sweep` is not set. The rows are
 * shallow copies: their heap memory belongs to `whole`. Free the result with
 * sweep_material_part_finish. */
struct sweep_material sweep_material_part(const struct sweep_material *whole, const char *run,
                                          const char *deployment);
void sweep_material_part_finish(struct sweep_material *part);
/* The input for a report about `part`; borrows from `whole` and `part`. */
struct report_input sweep_material_report(const struct sweep_material *whole,
                                          const struct sweep_material *part);
