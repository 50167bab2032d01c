/* SPDX-License-Identifier: Apache-2.0 */
/* A file of another tool, from its bytes to an import in the store. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/imports.h"

/* What comes with the file; borrowed. */
struct import_offer {
    const char *bytes;
    size_t length;
    const char *name;           /* of the file; "" with import_keep_restate: as it was */
    const char *format;         /* NULL: found by the content */
    const char *const *columns; /* what they mean, see struct import_file; NULL: nothing is said */
    const json_t *stated; /* what is said beside it: facts by the names of evidence_fact_fields,
                             "columns" and "notes"; {}: nothing */
};

/* Reads and keeps the file; what is stated comes before what the file says. The same file with
 * nothing new stated is the import it was before: *existed. *out: import_row_finish. */
CHECKED bool import_offer_keep(struct store *store, const struct import_offer *offer,
                               int64_t now_ms, struct change *change, struct import_row *out,
                               bool *existed, struct error *error);
/* The import `earlier` once more, with other facts, notes or name: a new one that corrects it. */
CHECKED bool import_keep_restate(struct store *store, const char *earlier,
                                 const struct import_offer *offer, int64_t now_ms,
                                 struct change *change, struct import_row *out, bool *existed,
                                 struct error *error);
