/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of runs as points of a grid, load by context: what most charts are drawn from. Private
 * to analysis/charts/. */
#pragma once

#include "analysis/charts/chart.h"

enum chart_state {
    CHART_ABSENT, /* the grid has no such cell, or it is not measured yet */
    CHART_SKIPPED,
    CHART_INFERRED,
    CHART_INFEASIBLE, /* longer than the model's context, for example */
    CHART_FAILED,
    CHART_MEASURED, /* in at least one repetition */
};
const char *chart_state_name(enum chart_state state);

struct chart_entry; /* private */

struct chart_point {
    double load, row; /* the row: a context, or an output length */
    enum chart_state state;
    bool is_marked;      /* with a warning that is not common (struct chart_mark) */
    double failed_share; /* share of the requests, in the worst repetition; 0: none, or not known */
    double samples;      /* requests answered, in the smallest repetition; NaN: not known */
    const struct chart_entry *entries; /* the cells of all repetitions */
    size_t entry_count;
};

/* A figure over a point's measured repetitions. */
struct chart_figure {
    double mean, low, high; /* NaN: no repetition has it */
    size_t count;
};

#define CHART_MARKS_MAX 64
struct chart_mark {
    char name[48];
    size_t cells;
    bool is_common; /* more than a third of the cells have it: a banner, no mark */
};

struct chart_grid {
    const struct chart_runs *runs;
    bool is_rate; /* loads are requests per second; otherwise users */
    /* rows are output lengths: there is a single context, or it is not known */
    bool by_output;
    double *loads, *rows; /* ascending; a row that is not known is NaN, and last */
    size_t load_count, row_count;
    struct chart_point *points; /* row by row */
    struct chart_entry *entries;
    size_t entry_count;
    double output_tokens; /* the same in all cells; NaN: not known */
    const char *variant;  /* the same in all cells; borrowed */
    struct chart_mark marks[CHART_MARKS_MAX];
    size_t mark_count;
    size_t other_cells;    /* not in the grid: they have other output lengths or variants */
    size_t unplaced_cells; /* not in the grid: they have no load, or do not fit */
    size_t repetitions;    /* the most of any point */
};
#define CHART_GRID_AUTO __attribute__((cleanup(chart_grid_finish))) struct chart_grid

#define CHART_AXIS_MAX 200 /* values of an axis */

/* Makes the grid of the cells with the most frequent output length and variant. */
void chart_grid_init(struct chart_grid *grid, const struct chart_runs *runs);
void chart_grid_finish(struct chart_grid *grid);
const struct chart_point *chart_grid_at(const struct chart_grid *grid, size_t row, size_t load);
size_t chart_grid_count(const struct chart_grid *grid, enum chart_state state);
/* The row with the most measured points; the first one if there are none. */
size_t chart_grid_fullest_row(const struct chart_grid *grid);
size_t chart_grid_marked(const struct chart_grid *grid); /* the number of marked points */

/* The figure whose double is at `offset` in struct evidence_cell. */
struct chart_figure chart_point_figure(const struct chart_point *point, size_t offset);
/* The text in place of a figure: "fail", a status, "too long", "inferred". */
const char *chart_point_word(const struct chart_point *point);
/* Why the point was not measured, or what failed; "" if that is not known. Borrowed. */
const char *chart_point_reason(const struct chart_point *point);
/* Writes the reason as " (the server ended it)"; nothing if it is not known. */
void chart_point_add_reason(const struct chart_point *point, struct text *out);
/* Appends the names of all the point's warnings, separated by commas. */
void chart_point_marks(const struct chart_grid *grid, const struct chart_point *point,
                       struct text *out);
/* The index of the smallest load at which the row is certainly saturated; load_count: none. */
size_t chart_grid_saturation(const struct chart_grid *grid, size_t row);
