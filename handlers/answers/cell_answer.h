/* SPDX-License-Identifier: Apache-2.0 */
/* Cells as tools show them. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/sweeps.h"

extern const struct field cell_answer_fields[];
json_t *cell_answer_json(const struct cell_row *cell); /* new reference */
/* A list of cells, whose rows omit the deployment, or the repetition, if there is only one. New
 * reference. */
json_t *cell_answer_list(const struct cell_row *cells, size_t count);
/* Adds a table with a row per cell: load, latencies, throughput, success and state, and below it
 * the reasons that cells state. ">=" precedes a latency that is a lower bound. */
void cell_answer_table(const struct cell_row *cells, size_t count, struct text *out);
