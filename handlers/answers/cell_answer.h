/* SPDX-License-Identifier: Apache-2.0 */
/* Cells as tools show them. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/sweeps.h"

extern const struct field cell_answer_fields[];
json_t *cell_answer_json(const struct cell_row *cell); /* new reference */
/* A page of the cells of a sweep or a run. */
struct cell_page {
    const struct cell_row *all;
    size_t all_count;
    size_t first, count; /* of the page */
};
/* A list of the page's cells. Its rows omit the deployment if all cells, also those of other pages,
 * have the same one, and the repetition if all have the first one. New reference. */
json_t *cell_answer_list(const struct cell_page *page);
/* Adds a table with a row per cell: load, latencies, throughput, success and state, and below it
 * the reasons that cells state. ">=" precedes a latency that is a lower bound. */
void cell_answer_table(const struct cell_page *page, struct text *out);
