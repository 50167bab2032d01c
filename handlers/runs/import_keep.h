/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the results file of another tool, and stores it as an import. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/imports.h"

/* A file, and what the caller states about it; borrowed. */
struct import_offer {
    const char *bytes;
    size_t length;
    const char *name;   /* name of the file; "" with import_keep_restate: unchanged */
    const char *format; /* NULL: detected from the content */
    /* The meaning of the columns, see struct import_file; NULL: not stated. */
    const char *const *columns;
    /* Facts by the names of evidence_fact_fields, "columns" and "notes"; {}: nothing is stated. */
    const json_t *stated;
};

/* Reads and stores the file; what is stated takes precedence over the file. *existed: the same file
 * was imported before with the same statements, and *out is that import. Free *out with
 * import_row_finish. */
CHECKED bool import_offer_keep(struct store *store, const struct import_offer *offer,
                               int64_t now_ms, struct change *change, struct import_row *out,
                               bool *existed, struct error *error);
/* Stores the import with the id `earlier` again, with the facts and notes that the offer states and
 * its name, as a new import that corrects `earlier`. The offer's file, format and columns are not
 * used. *out and *existed: as for import_offer_keep. */
CHECKED bool import_keep_restate(struct store *store, const char *earlier,
                                 const struct import_offer *offer, int64_t now_ms,
                                 struct change *change, struct import_row *out, bool *existed,
                                 struct error *error);
