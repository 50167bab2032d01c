/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/sweep_material.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"

#define RUNS_MAX 1000

bool sweep_material_read(const struct services *services, const char *sweep_id,
                         struct sweep_material *out, struct error *error)
{
    struct store *store = services->store;

    return sweep_find(store, sweep_id, &out->sweep, error)
           && run_list(store, NULL, sweep_id, 0, RUNS_MAX, &out->runs, &out->run_count, error)
           && cell_list(store, sweep_id, NULL, &out->cells, &out->cell_count, error)
           && cell_attempt_list(store, sweep_id, "interrupted", &out->interrupted,
                                &out->interrupted_count, error);
}

void sweep_material_finish(struct sweep_material *material)
{
    sweep_row_finish(&material->sweep);
    run_rows_free(material->runs, material->run_count);
    cell_rows_free(material->cells, material->cell_count);
    free(material->interrupted);
}

/* ---- A part of the material ---- */

/* `wanted` "" matches any name. */
static bool matches(const char *wanted, const char *name)
{
    return wanted[0] == '\0' || strcmp(wanted, name) == 0;
}

struct sweep_material sweep_material_part(const struct sweep_material *whole, const char *run,
                                          const char *deployment)
{
    struct sweep_material out = {
        .runs = memory_zeroed(whole->run_count + 1, sizeof *out.runs),
        .cells = memory_zeroed(whole->cell_count + 1, sizeof *out.cells),
        .interrupted = memory_zeroed(whole->interrupted_count + 1, sizeof *out.interrupted),
    };

    for (size_t i = 0; i < whole->run_count; i++)
        if (matches(run, whole->runs[i].id) && matches(deployment, whole->runs[i].deployment))
            out.runs[out.run_count++] = whole->runs[i];
    for (size_t i = 0; i < whole->cell_count; i++)
        if (matches(run, whole->cells[i].run_id) && matches(deployment, whole->cells[i].deployment))
            out.cells[out.cell_count++] = whole->cells[i];
    for (size_t i = 0; i < whole->interrupted_count; i++)
        if (matches(run, whole->interrupted[i].run_id)
            && matches(deployment, whole->interrupted[i].deployment))
            out.interrupted[out.interrupted_count++] = whole->interrupted[i];
    return out;
}

void sweep_material_part_finish(struct sweep_material *part)
{
    free(part->runs);
    free(part->cells);
    free(part->interrupted);
    *part = (struct sweep_material){ 0 };
}

struct report_input sweep_material_report(const struct sweep_material *whole,
                                          const struct sweep_material *part)
{
    return (struct report_input){
        .sweep = &whole->sweep,
        .runs = part->runs,
        .run_count = part->run_count,
        .cells = part->cells,
        .cell_count = part->cell_count,
        .interrupted = part->interrupted,
        .interrupted_count = part->interrupted_count,
    };
}
