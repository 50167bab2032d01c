/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files from other load generators as evidence. Each importer is a row of a table and is
 * chosen by the file's content, or by the format that the caller names. The bytes are read in
 * place, because they can be those of a mapped file that is too large to copy. */
#pragma once

#include "analysis/evidence/evidence.h"

struct import_file {
    const char *bytes;
    size_t length;
    const char *format; /* NULL: detected from the content */
    /* What columns with unknown headings mean: "heading=name", where the name is a known heading,
     * or "heading=" for a column that is not a figure. Ends with NULL. NULL: nothing is stated. */
    const char *const *columns;
};

struct importer {
    const char *format;
    const char *help;        /* describes the files */
    const char *const *keys; /* members of a file's first JSON object; NULL: no particular ones */
    bool (*sniff)(const char *bytes, size_t length); /* NULL: the keys alone identify the format */
    /* Fills the cells, facts, unit and remarks of `out`, which is initialized. INVALID: the message
     * says what is wrong. */
    CHECKED bool (*read)(const struct import_file *file, struct evidence *out, struct error *error);
    /* Whether the caller can state what unknown columns mean. If so, `read` itself adds a remark
     * that lists the unknown columns. If not, import_read_file adds a remark on unknown figures,
     * which the cells keep as text. */
    bool takes_columns;
};
extern const struct importer importers[]; /* ends with a NULL format */

/* Reads a file, and sets digest and format. INVALID: the message says what is wrong. If the file
 * matches no format, the message lists the known formats and, if one of them is close, says what
 * the file lacks for that one. Free with evidence_finish, even after a failure. */
CHECKED bool import_read_file(const struct import_file *file, struct evidence *out,
                              struct error *error);
/* The same, without `columns`. */
CHECKED bool import_read(const char *bytes, size_t length, const char *format, struct evidence *out,
                         struct error *error);
