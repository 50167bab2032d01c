/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/sweep_material.h"

#include <stdlib.h>

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
