/* Runs written in the formats of other load generators, each figure under the name that the other
 * tool gives it: aiperf's ITL is our TPOT, vLLM's ITL our ICL. What is not known
 * is left out, and so is a percentile that a timeout cut off, since those formats cannot say "at
 * least". */
#pragma once

#include "analysis/evidence.h"

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
