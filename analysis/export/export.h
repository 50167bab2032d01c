/* SPDX-License-Identifier: Apache-2.0 */
/* Writes runs in the formats of other load generators, as serving reports, or as CSV. In another
 * tool's format, a figure has the name that the other tool gives it: aiperf's ITL is our TPOT,
 * and vLLM's ITL is our ICL. Unknown values are omitted (in CSV, left empty), and so is a latency
 * that is only a lower bound, since none of the formats can say "at least". If a JSON format
 * has no place for something that our importers need, such as a cell's warnings, members of our own
 * are added ("opsbrain_marks"), which the importers read back. */
#pragma once

#include "analysis/audit/audit.h"

struct exporter {
    const char *format;
    const char *help;
    const char *media_type, *extension;
    /* Writes a complete file with the cells [first, first + count). */
    void (*write)(const struct evidence *evidence, size_t first, size_t count, struct text *out);
    /* Whether failed, infeasible and skipped cells are written even if they have no requests. */
    bool takes_unmeasured;
};
extern const struct exporter exporters[];                 /* ends with a NULL format */
const struct exporter *exporter_find(const char *format); /* NULL: there is no such format */

/* Whether the exporter writes the cell; false: it skips the cell. */
bool export_takes(const struct exporter *exporter, const struct evidence_cell *cell);

/* Adds the audit's findings to the cells as warnings, so that the exported file carries them; a
 * finding about the whole run applies to all of its cells. */
void export_mark(struct evidence *evidence, const struct findings *findings);
/* Lists the names of the figures and facts that the format has no place for: those that the cells
 * [first, first + count) or the run have, but that are missing when our own importer reads `file`.
 * Empty if the importer cannot read it. New reference. */
json_t *export_losses(const struct exporter *exporter, const struct evidence *evidence,
                      size_t first, size_t count, const struct text *file);
