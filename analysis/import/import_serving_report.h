/* SPDX-License-Identifier: Apache-2.0 */
/* A cell as serving reports and their summaries write it. Private to analysis/import/. */
#pragma once

#include "analysis/import/import_vllm.h"

struct report_cell {
    struct evidence_cell cell;
    struct import_own own;
    struct import_vllm_result raw; /* the tool's own result, for figures that the cell lacks */
    char error[600];
};
/* Reads the next value, an object. Even after a failure, the caller calls report_cell_finish or
 * report_cell_add. */
bool report_cell_read(struct json_scan *scan, struct report_cell *out);
void report_cell_finish(struct report_cell *cell);
/* Adds the cell to the evidence, with what only the raw result contains, and finishes it; false:
 * there are too many cells. */
CHECKED bool report_cell_add(struct report_cell *from, struct evidence *out, struct error *error);
