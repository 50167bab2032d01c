/* SPDX-License-Identifier: Apache-2.0 */
/* Cells as tools show them. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/sweeps.h"

extern const struct field cell_answer_fields[];
json_t *cell_answer_json(const struct cell_row *cell); /* new reference */
/* One page of the cells that a sweep or a run has. */
struct cell_page {
    const struct cell_row *all;
    size_t all_count;
    size_t first; /* the index in `all` of the first cell on this page */
    size_t count; /* how many cells this page shows */
};
/* A list of the page's cells. The rows omit the deployment if it is the same for all cells,
 * including those on other pages. They omit the repetition if all of these cells belong to the
 * first repetition. New reference. */
json_t *cell_answer_list(const struct cell_page *page);
/* Adds a table with a row per cell (load, latencies, throughput, success and state) and, below the
 * table, at most 12 different reasons that the cells state. ">=" precedes a latency that is a lower
 * bound. */
void cell_answer_table(const struct cell_page *page, struct text *out);
