/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of other load generators as evidence. Each importer is a row of a table and is chosen
 * by the file's content, or by the format that the caller names. The bytes are read in place: they
 * may be a mapped file too large to be copied. */
#pragma once

#include "analysis/evidence/evidence.h"

struct import_file {
    const char *bytes;
    size_t length;
    const char *format; /* NULL: detected from the content */
    /* The meaning of columns whose headings do not say it, as "heading=name" with a name known
     * here, or as "heading=" if they are not figures; ends with NULL. NULL: nothing is stated. */
    const char *const *columns;
};

struct importer {
    const char *format;
    const char *help;        /* which files these are */
    const char *const *keys; /* members of a file's first JSON object; NULL: no particular ones */
    bool (*sniff)(const char *bytes, size_t length); /* NULL: the keys alone identify the format */
    /* Fills cells, facts, unit and remarks of an initialised evidence. INVALID: the message
     * says what is wrong. */
    CHECKED bool (*read)(const struct import_file *file, struct evidence *out, struct error *error);
    /* Whether the caller may state what unknown columns mean: the reader's own remarks then list
     * them. If not, import_read_file adds a remark on the unknown figures that the cells keep as
     * text. */
    bool takes_columns;
};
extern const struct importer importers[]; /* ends with a NULL format */

/* Reads a file, and sets digest and format. INVALID says what is wrong; for a file that can be
 * read, but fits no format, the message names the known formats and, if one of them is near, what
 * the file lacks for that format. Free with evidence_finish, even after a failure. */
CHECKED bool import_read_file(const struct import_file *file, struct evidence *out,
                              struct error *error);
/* The same without stated columns. */
CHECKED bool import_read(const char *bytes, size_t length, const char *format, struct evidence *out,
                         struct error *error);
