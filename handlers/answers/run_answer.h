/* SPDX-License-Identifier: Apache-2.0 */
/* Runs as tools show them. */
#pragma once

#include "handlers/answer.h"
#include "store/ledger/sweeps.h"

extern const struct field run_answer_fields[];
json_t *run_answer_json(const struct run_row *run); /* new reference */
/* Adds a line with the run that this one corrects, and a line with the run that corrected this one,
 * if there are such runs. */
void run_answer_describe_lineage(const struct run_row *run, struct text *out);
