/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one HTML file: verdict and takeaways first, then what the audit found, the charts,
 * the table of all cells, where it comes from, and the same figures as data. It needs nothing but
 * itself: no network, no script. Pure functions. */
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
    /* Of two sides, with the parts as far as they are shown; NULL: there is none. */
    const struct chart_comparison *comparison;
};

/* What a file has at most; figures beyond are cut from the table and the data, which says so. */
#define DOCUMENT_BYTES_MAX 400000

void document_write(const struct document *document, struct text *out);
/* The Content-Security-Policy that stands in each file, for the header when it is served. */
void document_policy(struct text *out);
