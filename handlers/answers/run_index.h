/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in one list: those measured here, and those imported. */
#pragma once

#include "store/ledger/imports.h"
#include "store/ledger/sweeps.h"

struct any_run {
    const struct run_row *run;       /* NULL: it was imported */
    const struct import_row *import; /* NULL: it was measured here */
    const char *id;
    int64_t created_ms;
};

struct run_index {
    struct any_run *rows; /* newest first */
    size_t count;
    struct run_row *runs;       /* what the rows point to */
    struct import_row *imports; /* what the rows point to */
    size_t run_count, import_count;
};

/* Lists at most `limit` runs of each kind that were made before `before_ms` (0: at any time).
 * `deployment` NULL: the runs of all deployments. `sweep` not NULL: only the runs of that sweep,
 * and no imports. Free with run_index_finish. */
CHECKED bool run_index_list(struct store *store, const char *deployment, const char *sweep,
                            int64_t before_ms, size_t limit, struct run_index *out,
                            struct error *error);
void run_index_finish(struct run_index *all);
