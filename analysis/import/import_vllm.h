/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a vLLM `bench serve` result, for the formats that hold such results. Private to
 * analysis/import/. */
#pragma once

#include "analysis/import/import_members.h"

/* A result that is being read: the cell, and the facts about the run. */
struct import_vllm_result {
    struct evidence_cell cell;
    struct evidence_facts facts;
    struct import_own own;
    bool has_infinite_rate; /* its requests were sent at an unlimited rate */
};
extern const struct import_member import_vllm_members[];
/* Sets every value to unknown. */
void import_vllm_result_init(struct import_vllm_result *result);
