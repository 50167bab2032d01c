/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in one list: those measured here, and those imported. */
#pragma once

#include "store/ledger/imports.h"
#include "store/ledger/sweeps.h"

struct any_run { /* a run of one of the two kinds */
    const struct run_row *run;
    const struct import_row *import;
    const char *id;
    int64_t created_ms;
};

struct run_index {
    struct any_run *rows; /* newest first */
    size_t count;
    /* own the rows */
    struct run_row *runs;
    struct import_row *imports;
    size_t run_count, import_count;
};

/* At most `limit` of each kind; with a sweep only that sweep's. Free with run_index_finish. */
CHECKED bool run_index_list(struct store *store, const char *deployment, const char *sweep,
                            int64_t before_ms, size_t limit, struct run_index *out,
                            struct error *error);
void run_index_finish(struct run_index *all);
