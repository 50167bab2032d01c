/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a report as one HTML file: the comparison, if there is one; for each part its verdict and
 * takeaways, the audit's findings, the charts and the table of cells; then where the figures come
 * from, and the same figures as JSON. The file needs no network and no script. Pure functions. */
#pragma once

#include "analysis/charts/chart.h"
#include "analysis/report/report.h"

/* An import, a run, one side of a comparison, or all repetitions of a sweep on one deployment. */
struct document_part {
    const char *name;       /* of the deployment or the side; NULL: there is only one part */
    struct chart_runs runs; /* including their findings */
    const struct report_input *report; /* for the same runs; NULL: none, as for an import */
};

struct document {
    const char *kind; /* "Sweep", "Imported run", ... */
    const char *id;   /* "swp_..."; "": none, as for a comparison */
    const char *page; /* the URL of the report's page; NULL: not known */
    int64_t written_ms;
    const struct document_part *parts;
    size_t part_count;
    /* A comparison of two sides, written before the parts; NULL: none. */
    const struct chart_comparison *comparison;
};

/* The maximum size of a file in bytes. Cells that do not fit are omitted from the table and from
 * the JSON, which say how many are missing. */
#define DOCUMENT_BYTES_MAX 400000

/* Appends the file to `out`. */
void document_write(const struct document *document, struct text *out);
/* Appends the Content-Security-Policy that every file contains, and that is also sent as a header
 * when a file is served. */
void document_policy(struct text *out);
