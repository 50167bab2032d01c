/* SPDX-License-Identifier: Apache-2.0 */
/* The charts: functions that turn stored figures into a drawing and a table of the same figures. In
 * a heat map, a cell with the figure is filled. Without the figure, a failed cell is hatched; a dot
 * shows that a cell is missing, not measured yet or of unknown state; all others have an outline. A
 * line of latencies breaks where there is no figure. Where the comments below say "context", the
 * output length takes its place if the cells differ in that and not in their contexts. */
#pragma once

#include "analysis/audit/audit.h"
#include "analysis/charts/chart_table.h"
#include "analysis/charts/drawing.h"
#include "analysis/compare/compare.h"

struct chart {
    struct drawing drawing;
    struct chart_table table;
    bool is_empty; /* there is no figure to draw: the picture says what is missing */
};
#define CHART_AUTO __attribute__((cleanup(chart_finish))) struct chart
void chart_finish(struct chart *chart);

/* Repetitions of the same plan on the same deployment, or one import. */
struct chart_runs {
    const struct evidence *runs;
    size_t count;                    /* 1 or more */
    const struct findings *findings; /* what the audit found in each; NULL: no audit was run */
};

/* Writes what the runs measured: "Gemma 4 12B on 2 × L4"; if the model is not known, the
 * deployment's or the file's name or an id takes its place. */
void chart_name(const struct chart_runs *runs, struct text *out);

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
/* The first row of the table whose figure at least one cell has; the table's first row if no cell
 * has any of them. */
const struct chart_quantity *chart_quantity_default(const struct chart_runs *runs);

/* Where does the server saturate? Users or rates by context. */
void chart_heat(const struct chart_runs *runs, const struct chart_quantity *quantity,
                struct chart *out);

/* What do users feel? TTFT, ITL, TPOT or E2E by load, a line per context. `limit_ms`: the limit
 * of the p99, which is drawn as a line; 0: none. */
void chart_latency(const struct chart_runs *runs, enum metric metric, double limit_ms,
                   struct chart *out);

/* The metric's title, such as "TTFT"; its name if it has no title. */
const char *chart_latency_title(enum metric metric);

/* Speed for each user against throughput (per chip if their number is known): a point per load, a
 * line per context. */
void chart_pareto(const struct chart_runs *runs, struct chart *out);

/* Can the figures be right? The measured load, divided by the expected one. */
void chart_residuals(const struct chart_runs *runs, struct chart *out);

/* A deployment and what it costs. */
struct chart_price {
    const char *name;
    struct chart_runs runs;
    double usd_per_hour;       /* of all its chips together */
    const char *source, *date; /* of the price; date "": not known */
};
#define CHART_PRICES_MAX 6
/* Sets only the price that an import states (for one chip, if their number is not known), its
 * source and its date, which is borrowed; false: none is stated, and the three are not valid. */
bool chart_price_stated(const struct chart_runs *runs, struct chart_price *out);
/* What does a million output tokens cost under a limit of TTFT p99? A step line per deployment;
 * to the left of it no load meets the limit. */
void chart_cost(const struct chart_price *prices, size_t count, struct chart *out);

/* Two sides, compared. */
struct chart_comparison {
    const struct comparison *comparison;
    size_t metric; /* index into compare_metrics */
    const char *names[SIDES];
    size_t runs[SIDES]; /* how many */
};
/* Is B faster? The ratio of each compared cell (if there are many, of those that differ most
 * clearly), and the overall ratio, with their intervals. Texts say how many cells were not compared
 * and why, or name facts that rule out the comparison. */
void chart_forest(const struct chart_comparison *input, struct chart *out);

struct chart_moment {
    int64_t at_ms;
    double value; /* NaN: a gap */
};
struct chart_series {
    const char *name;
    const struct chart_moment *moments; /* ascending */
    size_t count;
};
struct chart_panel {
    const char *heading;
    bool is_log;
    const struct chart_series *series;
    size_t series_count; /* if no series has a value, the panel says that there is none */
};
struct chart_history {
    int64_t from_ms, to_ms; /* UTC */
    int64_t step_ms;        /* the time between two values */
    const struct chart_panel *panels;
    size_t panel_count;
    const struct chart_span {
        int64_t from_ms, to_ms;
    } * spans; /* sweeps */
    size_t span_count;
    const int64_t *restarts_ms;
    size_t restart_count;
    const struct chart_note {
        int64_t at_ms;
        const char *words;
    } * notes;
    size_t note_count;
};
/* What happened when? A panel per quantity. Lines break at gaps; a restart is a vertical line,
 * sweeps are shaded, notes are numbered. */
void chart_history(const char *name, const struct chart_history *input, struct chart *out);

#define CHART_TAIL_STEPS 100
#define CHART_TAILS_MAX 6
/* For a cell, the share of its requests that took longer than each of several times. */
struct chart_tail {
    char name[64];
    struct chart_tail_step {
        double ms, share;
        bool is_at_least; /* a timeout cut `ms` off: the line ends here */
    } steps[CHART_TAIL_STEPS];
    size_t count;
    double samples, timeout_ms;       /* NaN or 0: not known */
    bool is_complete;                 /* made from every request, not from a few percentiles */
    const struct evidence_cell *cell; /* borrowed; NULL: none */
};
/* Set the steps and the number of samples: from a histogram of nanoseconds, which replaces all
 * steps and makes the curve complete; or, in a zeroed curve, from the known percentiles and
 * extremes. */
void chart_tail_of_histogram(const struct histogram *histogram, struct chart_tail *curve);
void chart_tail_of_latency(const struct evidence_latency *latency, struct chart_tail *curve);
/* Makes curves for the context with the most measured loads: one for each of these loads or, if
 * there are more than CHART_TAILS_MAX, for that many of them, evenly chosen; each from the first
 * repetition that measured the load. Returns how many curves. */
size_t chart_tails_of_runs(const struct chart_runs *runs, enum metric metric,
                           struct chart_tail curves[CHART_TAILS_MAX]);
/* How is the tail? The share of requests slower than a time, a step line per cell. */
void chart_tail(const char *name, const char *metric, const struct chart_tail *curves, size_t count,
                struct chart *out);
