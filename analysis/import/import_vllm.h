/* The members of a vLLM `bench serve` result, for the formats that hold such results. Private to
 * analysis/import_*.c. */
#pragma once

#include "analysis/import/import_members.h"

/* A result as it is read: the cell and what it says of the run. */
struct vllm_result {
    struct evidence_cell cell;
    struct evidence_facts facts;
    struct import_own own;
    bool at_once; /* its request rate is infinite */
};
extern const struct import_member vllm_members[];
/* Nothing known yet. */
void vllm_result_init(struct vllm_result *result);
