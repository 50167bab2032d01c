/* SPDX-License-Identifier: Apache-2.0 */
/* Arranges the cells of runs as the points of a grid of loads by contexts or output lengths. Most
 * charts are drawn from such a grid. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart.h"

enum chart_state {
    CHART_ABSENT, /* there is no cell, or it is not measured yet, or its state is not known */
    CHART_SKIPPED,
    CHART_INFERRED,
    CHART_INFEASIBLE, /* longer than the model's context, for example */
    CHART_FAILED,
    CHART_MEASURED, /* in at least one repetition */
};
const char *chart_state_name(enum chart_state state);

struct chart_entry; /* defined in chart_entries.h */

struct chart_point {
    double load; /* users, or requests per second */
    double row;  /* a context, or an output length; NaN: not known */
    enum chart_state state;
    bool is_marked;      /* one of its cells has a warning that is not common (chart_mark) */
    double failed_share; /* of the requests in the worst repetition; 0: none, or not known */
    /* The number of requests that succeeded, in the repetition with the fewest. If a cell does not
     * state it, the number of attempted or else of planned requests is used. NaN: not known. */
    double samples;
    const struct chart_entry *entries; /* the cells of all repetitions */
    size_t entry_count;
};

/* The mean and the range of a figure over the measured repetitions of a point. */
struct chart_figure {
    double mean, low, high; /* NaN: no measured repetition has the figure */
    size_t count;           /* the number of measured repetitions that have it */
};

#define CHART_MARKS_MAX 64
/* A warning that at least one cell of the grid has: a warning of the cell itself, or an audit rule
 * with a finding on it. */
struct chart_mark {
    char name[48];
    size_t cells; /* the number of cells that have it */
    /* More than a third of the cells have it, so the banner names or counts it and no cell is
     * marked with it. */
    bool is_common;
};

struct chart_grid {
    const struct chart_runs *runs;
    bool is_rate; /* loads are requests per second; otherwise users */
    /* rows are output lengths, because the cells differ in these and not in their contexts */
    bool by_output;
    double *loads, *rows; /* ascending; a row that is not known is NaN, and last */
    size_t load_count, row_count;
    struct chart_point *points; /* row by row */
    struct chart_entry *entries;
    size_t entry_count;
    double output_tokens; /* the same in all cells; NaN: not known, or rows are output lengths */
    const char *variant;  /* the same in all cells; borrowed */
    struct chart_mark marks[CHART_MARKS_MAX];
    size_t mark_count;
    size_t other_cells; /* not in the grid: they have other output lengths or variants */
    /* Not in the grid: they have no load of the grid's kind or a negative one, or are beyond the
     * first CHART_AXIS_MAX values of an axis. */
    size_t unplaced_cells;
    size_t repetitions; /* the largest number of repetitions of any point */
};
#define CHART_GRID_AUTO __attribute__((cleanup(chart_grid_finish))) struct chart_grid

#define CHART_AXIS_MAX 200 /* the maximum number of values on an axis */

/* Makes the grid from the largest group of cells that have the same variant and, unless rows are
 * output lengths, the same output length. */
void chart_grid_init(struct chart_grid *grid, const struct chart_runs *runs);
void chart_grid_finish(struct chart_grid *grid);
/* `row`, `load`: indices. */
const struct chart_point *chart_grid_at(const struct chart_grid *grid, size_t row, size_t load);
/* The number of points in this state. */
size_t chart_grid_count(const struct chart_grid *grid, enum chart_state state);
/* The index of the row with the most measured points; 0 if no point is measured. */
size_t chart_grid_fullest_row(const struct chart_grid *grid);
size_t chart_grid_marked(const struct chart_grid *grid); /* the number of marked points */

/* The figure whose double is at `offset` in struct evidence_cell. */
struct chart_figure chart_point_figure(const struct chart_point *point, size_t offset);
/* The text to show in place of a figure: "fail" or an HTTP status, "too long", "skipped",
 * "inferred"; "?" for a measured point, "" for an absent one. */
const char *chart_point_word(const struct chart_point *point);
/* The reason that the first cell in the point's state gives: why it was not measured, or what
 * failed. "" if it gives none, if there is no cell, or if the point is measured. Borrowed. */
const char *chart_point_reason(const struct chart_point *point);
/* Appends the reason, cut after 160 bytes, as " (the server ended it)"; nothing if it is "". */
void chart_point_add_reason(const struct chart_point *point, struct text *out);
/* Appends the names of all the point's warnings, separated by commas. */
void chart_point_marks(const struct chart_grid *grid, const struct chart_point *point,
                       struct text *out);
/* The index of the smallest load at which the row is certainly saturated; load_count: none. */
size_t chart_grid_saturation(const struct chart_grid *grid, size_t row);
