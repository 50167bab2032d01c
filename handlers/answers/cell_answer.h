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
    size_t first, count; /* the part of `all` that this page shows */
};
/* A list of the page's cells. If all cells, including those on other pages, were measured on the
 * same deployment, the rows omit the deployment; likewise the repetition, if it is the first one
 * for all cells. New reference. */
json_t *cell_answer_list(const struct cell_page *page);
/* Adds a table with a row per cell (load, latencies, throughput, success and state) and, below the
 * table, the reasons that the cells state. ">=" precedes a latency that is a lower bound. */
void cell_answer_table(const struct cell_page *page, struct text *out);
