/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files from other load generators as evidence. Each importer is a row of the table
 * `importers`. It is chosen by the file's content, or by the format that the caller names. The
 * bytes are read in place, because they can be those of a mapped file that is too large to copy. */
#pragma once

#include "analysis/evidence/evidence.h"

struct import_file {
    const char *bytes;
    size_t length;
    const char *format; /* NULL: detected from the content */
    /* What the caller states about columns: strings, followed by NULL. "heading=name": the column
     * means what the known heading `name` means. "heading=": the column is not a figure. `columns`
     * is NULL if nothing is stated. */
    const char *const *columns;
};

struct importer {
    const char *format;
    const char *help; /* describes the files */
    /* Names of members that the first JSON object of such a file should have, followed by NULL.
     * `keys` is NULL if there are no such names. */
    const char *const *keys;
    /* Whether the file has this format; NULL: the file has it if it has all the keys. */
    bool (*sniff)(const char *bytes, size_t length);
    /* Fills the cells, facts, unit and remarks of `out`, which the caller has initialized. INVALID:
     * the message says what is wrong. */
    CHECKED bool (*read)(const struct import_file *file, struct evidence *out, struct error *error);
    /* Whether the caller can state what unknown columns mean. If so, `read` itself adds a remark
     * that lists the unknown columns. If not, import_read_file adds a remark on unknown figures,
     * which the cells keep as text. */
    bool takes_columns;
};
extern const struct importer importers[]; /* ends with a NULL format */

/* Reads a file, and sets digest and format. INVALID: the message says what is wrong. If the file
 * matches no format, the message lists the known formats and, if the file is close to one of them,
 * says what it lacks. Free *out with evidence_finish, even after a failure. */
CHECKED bool import_read_file(const struct import_file *file, struct evidence *out,
                              struct error *error);
/* The same, without `columns`. */
CHECKED bool import_read(const char *bytes, size_t length, const char *format, struct evidence *out,
                         struct error *error);
