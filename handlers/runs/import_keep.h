/* SPDX-License-Identifier: Apache-2.0 */
/* Stores a file of another tool, from its bytes to an import. */
#pragma once

#include "handlers/tool.h"
#include "store/ledger/imports.h"

/* What the caller states about the file; borrowed. */
struct import_offer {
    const char *bytes;
    size_t length;
    const char *name;   /* name of the file; "" with import_keep_restate: unchanged */
    const char *format; /* NULL: detected from the content */
    const char *const
        *columns;         /* meaning of the columns, see struct import_file; NULL: not stated */
    const json_t *stated; /* facts by the names of evidence_fact_fields, "columns" and "notes"; {}:
                             nothing is stated */
};

/* Reads and stores the file; what is stated takes precedence over the file. The same file without
 * new statements is the existing import: *existed. *out: import_row_finish. */
CHECKED bool import_offer_keep(struct store *store, const struct import_offer *offer,
                               int64_t now_ms, struct change *change, struct import_row *out,
                               bool *existed, struct error *error);
/* Stores the import `earlier` again, with other facts, notes or name: as a new import that corrects
 * it. */
CHECKED bool import_keep_restate(struct store *store, const char *earlier,
                                 const struct import_offer *offer, int64_t now_ms,
                                 struct change *change, struct import_row *out, bool *existed,
                                 struct error *error);
