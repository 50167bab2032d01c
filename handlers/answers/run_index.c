/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/run_index.h"

#include <stdlib.h>

#include "base/core/memory.h"

static void add_run(struct run_index *all, const struct run_row *run)
{
    all->rows[all->count++] =
        (struct any_run){ .run = run, .id = run->id, .created_ms = run->created_ms };
}

static void add_import(struct run_index *all, const struct import_row *import)
{
    all->rows[all->count++] =
        (struct any_run){ .import = import, .id = import->id, .created_ms = import->created_ms };
}

/* Merges runs of both kinds into one list, newest first. */
static void merge(struct run_index *all)
{
    size_t run = 0, import = 0;

    all->rows = memory_zeroed(all->run_count + all->import_count + 1, sizeof *all->rows);
    while (run < all->run_count || import < all->import_count) {
        bool run_is_next = import == all->import_count
                           || (run < all->run_count
                               && all->runs[run].created_ms >= all->imports[import].created_ms);

        if (run_is_next)
            add_run(all, &all->runs[run++]);
        else
            add_import(all, &all->imports[import++]);
    }
}

bool run_index_list(struct store *store, const char *deployment, const char *sweep,
                    int64_t before_ms, size_t limit, struct run_index *out, struct error *error)
{
    *out = (struct run_index){ 0 };
    if (!run_list(store, deployment, sweep, before_ms, limit, &out->runs, &out->run_count, error))
        return false;
    if (sweep == NULL
        && !import_list(store, deployment, before_ms, limit, &out->imports, &out->import_count,
                        error)) {
        run_index_finish(out);
        return false;
    }
    merge(out);
    return true;
}

void run_index_finish(struct run_index *all)
{
    run_rows_free(all->runs, all->run_count);
    import_rows_free(all->imports, all->import_count);
    free(all->rows);
    *all = (struct run_index){ 0 };
}
