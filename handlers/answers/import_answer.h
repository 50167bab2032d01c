/* SPDX-License-Identifier: Apache-2.0 */
/* Imported runs in answers. */
#pragma once

#include "analysis/evidence/evidence.h"
#include "handlers/answer.h"
#include "store/ledger/imports.h"

extern const struct field import_answer_source_fields[]; /* what a run's `source` says */
extern const struct field import_answer_fields[];        /* an import's facts besides its cells */
/* A run in the form of run_answer_fields. All are new references. */
json_t *import_answer_run_json(const struct import_row *row);
json_t *import_answer_json(const struct evidence *evidence);
/* "imp_...: grid.csv, 156 cells (csv), ..." and the remarks of the import. */
void import_answer_describe(const struct evidence *evidence, struct text *out);

/* run_show and run_report of an import. */
CHECKED bool import_answer_show(struct call *call, struct answer *answer, struct error *error);
CHECKED bool import_answer_report(struct call *call, struct answer *answer, struct error *error);
