/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one HTML file: verdict and takeaways first, then the audit's findings, the charts,
 * the table of all cells, where the figures come from, and the same figures as data. It is complete
 * in itself: no network, no script. Pure functions. */
#pragma once

#include "analysis/charts/chart.h"
#include "analysis/report/report.h"

/* Repetitions of a plan on one deployment, or one import. */
struct document_part {
    const char *name;                  /* of its deployment, where there are several; NULL */
    struct chart_runs runs;            /* with findings */
    const struct report_input *report; /* of the same runs; NULL: an import */
};

struct document {
    const char *kind, *id; /* "Sweep", "swp_..." */
    const char *page;      /* its URL; NULL: not known */
    int64_t written_ms;
    const struct document_part *parts;
    size_t part_count;
    /* A comparison of two sides; the parts are those that are shown. NULL: none. */
    const struct chart_comparison *comparison;
};

/* The most bytes of a file. Figures that do not fit are omitted from the table and from the data,
 * which say how many. */
#define DOCUMENT_BYTES_MAX 400000

void document_write(const struct document *document, struct text *out);
/* The Content-Security-Policy of each file, also sent as a header when it is served. */
void document_policy(struct text *out);
