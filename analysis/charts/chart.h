/* SPDX-License-Identifier: Apache-2.0 */
/* The charts: stored figures in, a drawing and a table of the same figures out. Pure functions.
 *
 * What was measured is filled. What failed is hatched and says so; what was inferred has a dashed
 * outline and no figure; what was not measured is a dot. Lines break at both. Bounds of axes and
 * colours come from measured figures alone. */
#pragma once

#include "analysis/audit/audit.h"
#include "analysis/charts/chart_table.h"
#include "analysis/charts/drawing.h"

struct chart {
    struct drawing drawing;
    struct chart_table table;
};
#define CHART_AUTO __attribute__((cleanup(chart_finish))) struct chart
void chart_finish(struct chart *chart);

/* Repetitions of the same plan on the same deployment, or one import. */
struct chart_runs {
    const struct evidence *runs;
    size_t count;                    /* 1 or more */
    const struct findings *findings; /* what the audit found in each; NULL: it was not run */
};

/* A figure of a cell. */
struct chart_quantity {
    const char *name;  /* "ttft_p50_ms", also the name of the table's column */
    const char *title; /* "TTFT median" */
    const char *unit;  /* "ms" */
    size_t offset;     /* of the double in struct evidence_cell */
    bool is_latency;   /* shown by its logarithm */
};
extern const struct chart_quantity chart_quantities[];              /* ends with a NULL name */
const struct chart_quantity *chart_quantity_find(const char *name); /* NULL: none */
/* The first that a cell has; the table's first where no cell has any. */
const struct chart_quantity *chart_quantity_default(const struct chart_runs *runs);

/* 1. Where does it saturate? Users or rates by context. */
void chart_heat(const struct chart_runs *runs, const struct chart_quantity *quantity,
                struct chart *out);
