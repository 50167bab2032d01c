/* SPDX-License-Identifier: Apache-2.0 */
/* Runs written in the formats of other load generators, each figure under the name that the other
 * tool gives it: aiperf's ITL is our TPOT, vLLM's ITL our ICL. What is not known is left out, and
 * so is a percentile that a timeout cut off, since those formats cannot say "at least". What to
 * doubt about a cell, and where it stands when the format has no place for that, goes along in
 * members of our own ("opsbrain_marks"), which our importers read back. */
#pragma once

#include "analysis/audit/audit.h"

struct exporter {
    const char *format;
    const char *help;
    const char *media_type, *extension;
    /* The cells [first, first + count) as a whole file. */
    void (*write)(const struct evidence *evidence, size_t first, size_t count, struct text *out);
    bool
        takes_unmeasured; /* has a place for cells that were not measured; else they are left out */
};
extern const struct exporter exporters[];                 /* ends with a NULL format */
const struct exporter *exporter_find(const char *format); /* NULL: none */

/* Does the exporter write the cell at all? */
bool export_takes(const struct exporter *exporter, const struct evidence_cell *cell);

/* Marks the cells that an audit found something about, so that what is exported says so; findings
 * about the whole run mark all of its cells. */
void export_mark(struct evidence *evidence, const struct findings *findings);
/* Names of the figures that the cells [first, first + count) have and the written file, read by our
 * own importer, has not: those that the format has no place for. New reference, a list. */
json_t *export_losses(const struct exporter *exporter, const struct evidence *evidence,
                      size_t first, size_t count, const struct text *file);
