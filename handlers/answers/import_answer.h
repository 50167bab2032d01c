/* SPDX-License-Identifier: Apache-2.0 */
/* How imported runs are told. */
#pragma once

#include "analysis/evidence/evidence.h"
#include "handlers/answer.h"
#include "store/ledger/imports.h"

extern const struct field import_answer_source_fields[]; /* what a run's `source` says */
extern const struct field import_answer_fields[]; /* what is known of an import beside its cells */
/* A run as run_answer_fields tell it. New references, all. */
json_t *import_answer_run_json(const struct import_row *row);
json_t *import_answer_json(const struct evidence *evidence);
/* "imp_...: grid.csv, 156 cells (csv), ..." and what was said when it was read. */
void import_answer_describe(const struct evidence *evidence, struct text *out);

/* run_show and run_report of an import. */
CHECKED bool import_answer_show(struct call *call, struct answer *answer, struct error *error);
CHECKED bool import_answer_report(struct call *call, struct answer *answer, struct error *error);
