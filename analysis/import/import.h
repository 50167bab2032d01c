/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other load generators, read as evidence. Each importer is a row of a table; which one a
 * file is for is found in its content. The bytes are read once, in place: they may be a file mapped
 * into memory, larger than should ever be held. */
#pragma once

#include "analysis/evidence/evidence.h"

struct import_file {
    const char *bytes;
    size_t length;
    const char *format;         /* NULL: found by the content */
    const char *const *columns; /* what its columns mean where their names do not say:
                                   "heading=name" each, name being one that is known here; ends with
                                   NULL; NULL: nothing is stated */
};

struct importer {
    const char *format;
    const char *help;        /* which files these are */
    const char *const *keys; /* members of its first JSON object; NULL: it has none of its own */
    bool (*sniff)(const char *bytes, size_t length); /* NULL: the keys alone tell it */
    /* Fills cells, facts, unit and remarks of an evidence that was initialised. INVALID says what
     * is wrong, and where. */
    bool (*read)(const struct import_file *file, struct evidence *out, struct error *error);
    bool is_table; /* of columns, which may be stated; else of members that are known */
};
extern const struct importer importers[]; /* ends with a NULL format */

/* Sets digest and format too. INVALID says what is wrong, and names the formats there are, or the
 * nearest and what it lacks. Free with evidence_finish, also after failing. */
CHECKED bool import_read_file(const struct import_file *file, struct evidence *out,
                              struct error *error);
/* The same with nothing stated. */
CHECKED bool import_read(const char *bytes, size_t length, const char *format, struct evidence *out,
                         struct error *error);
