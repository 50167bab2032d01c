/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that other tools measured, imported from these tools' files. analysis/evidence/evidence.h
 * writes and reads the JSON of runs and cells. */
#pragma once

#include "base/core/random.h"
#include "store/ledger/change.h"

struct import_row {
    char id[ID_SIZE];
    char corrects[ID_SIZE]; /* the earlier import that this one corrects; "": none */
    char digest[65], format[32], name[160], deployment[96], principal[64];
    int64_t file_bytes, cell_count, created_ms;
    char *stated;      /* JSON of the facts that the caller stated, heap */
    char *document;    /* JSON of the run without its cells (evidence_document), heap */
    char *other_names; /* JSON array of other names under which the file was imported, heap */
};
void import_row_finish(struct import_row *row);
void import_rows_free(struct import_row *rows, size_t count);

/* An import to be stored. Its strings are borrowed. */
struct import_order {
    const char *digest, *format, *name;
    int64_t file_bytes;
    const char *stated; /* canonical JSON of the facts that the caller stated; "{}": none */
    const char *deployment;
    const char *document;
    const char *const *cells; /* the JSON of each cell */
    size_t cell_count;
};

/* Stores an import with its cells, unless one with the same file, format and stated facts exists
 * already; if `order` states no facts, the facts of the existing import do not matter. If such an
 * import exists, *existed is true, *out is the newest one, and the order's name becomes one of
 * its names. A new import corrects the newest earlier import of the same file and format, if there
 * is one. In either case, an audit row is added. Free *out with import_row_finish. */
CHECKED bool import_create(struct store *store, const struct import_order *order, int64_t now_ms,
                           struct change *change, struct import_row *out, bool *existed,
                           struct error *error);
/* NOT_FOUND: no import has this id; the message names it. Free *out with import_row_finish. */
CHECKED bool import_find(struct store *store, const char *id, struct import_row *out,
                         struct error *error);
/* Lists the imports for a deployment (NULL: all imports) that were created before before_ms (0: at
 * any time), newest first. Free with import_rows_free. */
CHECKED bool import_list(struct store *store, const char *deployment, int64_t before_ms,
                         size_t limit, struct import_row **out, size_t *count, struct error *error);
/* Calls `each` with the JSON of every cell, in the file's order. If `each` returns false, this
 * function stops there and also returns false. `each` must not read the store. */
CHECKED bool import_each_cell(struct store *store, const char *id,
                              CHECKED bool (*each)(void *context, const char *json,
                                                   struct error *error),
                              void *context, struct error *error);
