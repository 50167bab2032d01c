/* SPDX-License-Identifier: Apache-2.0 */
/* Reads another tool's results file, and stores it as an import. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/imports.h"

/* A file, and what the caller states about it; borrowed. */
struct import_offer {
    const char *bytes;
    size_t length;
    const char *name;   /* the file's name; with import_keep_restate, "": unchanged */
    const char *format; /* NULL: detected from the content */
    /* The meaning of the columns, see struct import_file; NULL: not stated. */
    const char *const *columns;
    /* An object with what is stated: facts, under the names in evidence_fact_fields, and the
     * members "columns" and "notes". */
    const json_t *stated;
};

/* Reads and stores the file; what is stated takes precedence over the file. *existed is true if no
 * import was added, because the same file was imported before in this format, and the offer states
 * either nothing or exactly what was stated then. In that case, *out is the earlier import. Free
 * *out with import_row_finish. */
CHECKED bool import_offer_keep(struct store *store, const struct import_offer *offer,
                               int64_t now_ms, struct change *change, struct import_row *out,
                               bool *existed, struct error *error);
/* States facts and notes about the import with the id `earlier`: stores a new import with the same
 * cells and with the offer's name. The facts and notes that the offer states are added to those of
 * `earlier`, or replace them. The new import corrects the newest import of the same file and
 * format. The offer's file, format and columns are not used. *out and *existed: as for
 * import_offer_keep, with the combined facts and notes. */
CHECKED bool import_keep_restate(struct store *store, const char *earlier,
                                 const struct import_offer *offer, int64_t now_ms,
                                 struct change *change, struct import_row *out, bool *existed,
                                 struct error *error);
