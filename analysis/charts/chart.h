/* SPDX-License-Identifier: Apache-2.0 */
/* The charts: functions that turn stored figures into a drawing and a table of the same figures. A
 * heat map fills each cell that has the figure, hatches failed cells, shows a dot for a cell that
 * is missing, not measured yet or in an unknown state, and outlines all others. A line of latencies
 * breaks where there is no figure. Where the comments below say "context", read "output length" if
 * the cells differ in their output lengths but not in their contexts. */
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
    const struct findings *findings; /* what the audit found in each run; NULL: no audit was run */
};

/* Writes the model and the hardware: "Gemma 4 12B on 2 × L4". If the model is not known, the name
 * of the deployment takes its place; if that is not known either, the name of the imported file, or
 * an id. */
void chart_name(const struct chart_runs *runs, struct text *out);

/* A figure of a cell. */
struct chart_quantity {
    const char *name;  /* "ttft_p50_ms", also the name of the table's column */
    const char *title; /* "TTFT median" */
    const char *unit;  /* "ms" */
    size_t offset;     /* of the double in struct evidence_cell */
    bool is_latency;   /* drawn on a log scale */
};
extern const struct chart_quantity chart_quantities[];              /* ends with a NULL name */
const struct chart_quantity *chart_quantity_find(const char *name); /* NULL: no such name */
/* The first quantity of the table that at least one cell has; the very first if no cell has any. */
const struct chart_quantity *chart_quantity_default(const struct chart_runs *runs);

/* Where does the server saturate? A heat map of the quantity: users or rates by context. */
void chart_heat(const struct chart_runs *runs, const struct chart_quantity *quantity,
                struct chart *out);

/* What do users feel? TTFT, ITL, TPOT or E2E by load, a line per context. `limit_ms`: a limit on
 * the p99, drawn as a line; 0: none. */
void chart_latency(const struct chart_runs *runs, enum metric metric, double limit_ms,
                   struct chart *out);

/* The metric's title, such as "TTFT"; its name if it has no title. */
const char *chart_latency_title(enum metric metric);

/* Speed for each user against throughput (per chip, if the number of chips is known): a point per
 * load, a line per context. */
void chart_pareto(const struct chart_runs *runs, struct chart *out);

/* Can the figures be right? The measured load, divided by the expected one. */
void chart_residuals(const struct chart_runs *runs, struct chart *out);

/* A deployment and what it costs. */
struct chart_price {
    const char *name;
    struct chart_runs runs;
    double usd_per_hour; /* for all its chips together */
    const char *source;  /* says where the price is from: "given in the call" */
    const char *date;    /* the date that the source states; "": not known */
};
#define CHART_PRICES_MAX 6
/* Sets `usd_per_hour`, `source` and `date` (borrowed) from the price that the import states, and no
 * other member. If the number of chips is not known, the price is that of one chip. False: the
 * import states no price, and the three members are not valid. */
bool chart_price_stated(const struct chart_runs *runs, struct chart_price *out);
/* What does a million output tokens cost under a TTFT p99 limit? A step line per deployment, which
 * begins at the lowest limit that one of its loads meets. */
void chart_cost(const struct chart_price *prices, size_t count, struct chart *out);

/* Two sides, compared. */
struct chart_comparison {
    const struct comparison *comparison;
    size_t metric; /* index into compare_metrics */
    const char *names[SIDES];
    size_t runs[SIDES]; /* the number of runs on each side */
};
/* Is B faster? Shows the ratio for each compared cell and the overall ratio, with their intervals.
 * If many cells are compared, shows only those that differ most clearly. The subtitle says how many
 * cells were not compared, and why. If facts rule out the comparison, the picture names them
 * instead. */
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
/* If no series has a value to draw, the panel says so. */
struct chart_panel {
    const char *heading;
    bool is_log;
    const struct chart_series *series;
    size_t series_count;
};
struct chart_history {
    int64_t from_ms, to_ms; /* Unix times, like all times of a history */
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
/* The share of a cell's requests that took longer than each of several times. */
struct chart_tail {
    char name[64];
    struct chart_tail_step {
        double ms, share;
        /* `ms` is only a lower bound, because a timeout or the cell's end cut requests off: the
         * line ends here. */
        bool is_at_least;
    } steps[CHART_TAIL_STEPS];
    size_t count;
    double samples;                   /* the number of requests; NaN or 0: not known */
    double timeout_ms;                /* of a request; NaN or 0: not known */
    bool is_complete;                 /* made from every request, not from a few percentiles */
    const struct evidence_cell *cell; /* borrowed; NULL: not known */
};
/* Sets the steps and the number of samples from a histogram of nanoseconds. Replaces all earlier
 * steps, and sets `is_complete`. */
void chart_tail_of_histogram(const struct histogram *histogram, struct chart_tail *curve);
/* Sets the steps and the number of samples from the known percentiles, minimum and maximum. The
 * curve must not have steps yet. Does not set `is_complete`. */
void chart_tail_of_latency(const struct evidence_latency *latency, struct chart_tail *curve);
/* Makes a curve for each measured load at the context that has the most measured loads. If there
 * are more than CHART_TAILS_MAX of them, makes that many curves, for evenly spaced loads. Each
 * curve comes from the first repetition that measured its load. Returns the number of curves. */
size_t chart_tails_of_runs(const struct chart_runs *runs, enum metric metric,
                           struct chart_tail curves[CHART_TAILS_MAX]);
/* How slow are the slowest requests? The share of requests that took longer than a time, a step
 * line per cell. */
void chart_tail(const char *name, const char *metric, const struct chart_tail *curves, size_t count,
                struct chart *out);
