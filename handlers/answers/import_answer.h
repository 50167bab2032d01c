/* SPDX-License-Identifier: Apache-2.0 */
/* Imported runs in answers. */
#pragma once

#include "analysis/evidence/evidence.h"
#include "handlers/answer.h"
#include "store/ledger/imports.h"

extern const struct field import_answer_source_fields[]; /* the members of a run's `source` */
extern const struct field import_answer_fields[];
/* The import as a run, in the form of run_answer_fields. New reference. */
json_t *import_answer_run_json(const struct import_row *row);
/* The import in the form of import_answer_fields, with an empty list of cells. New reference. */
json_t *import_answer_json(const struct evidence *evidence);
/* Adds what is known about the import, "imp_... is an imported run ...", and its remarks. */
void import_answer_describe(const struct evidence *evidence, struct text *out);

/* Carry out run_show and run_report for an import. */
CHECKED bool import_answer_show(struct call *call, struct answer *answer, struct error *error);
CHECKED bool import_answer_report(struct call *call, struct answer *answer, struct error *error);
