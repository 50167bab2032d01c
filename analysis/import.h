/* Files of other load generators, read as evidence. Each importer is a row of a table; which one a
 * file is for is found in its content. The bytes are read once, in place: they may be a file mapped
 * into memory, larger than should ever be held. */
#pragma once

#include "analysis/evidence.h"

struct importer {
    const char *format;
    const char *help; /* which files these are */
    bool (*sniff)(const char *bytes, size_t length);
    /* Fills cells, facts, unit and remarks of an evidence that was initialised. INVALID says what
     * is wrong, and where. */
    bool (*read)(const char *bytes, size_t length, struct evidence *out, struct error *error);
};
extern const struct importer importers[]; /* ends with a NULL format */

/* `format` NULL: found by the content; INVALID names the formats there are. Sets digest and format
 * too. Free with evidence_finish, also after failing. */
bool import_read(const char *bytes, size_t length, const char *format, struct evidence *out,
                 struct error *error);
