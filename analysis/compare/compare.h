/* SPDX-License-Identifier: Apache-2.0 */
/* Two sides compared cell by cell, each of one run or of several repetitions, our own or imported.
 * The unit is the run, never the request: requests of one run share its luck. Ratios are those of
 * the candidate to the baseline. */
#pragma once

#include "analysis/evidence/evidence.h"

enum side { SIDE_BASELINE, SIDE_CANDIDATE, SIDES };

enum verdict { VERDICT_FASTER, VERDICT_SLOWER, VERDICT_NO_EVIDENCE, VERDICT_NOT_COMPARABLE };
const char *verdict_name(enum verdict verdict); /* "faster": the candidate is */

struct compare_metric {
    size_t offset;          /* of its double in struct evidence_cell */
    size_t censored_offset; /* of its bool there; 0: cannot be censored */
    bool higher_is_better, of_decoding;
    bool of_tokens; /* it is only as right as their count */
};
extern const char *const compare_metric_names[]; /* ends with NULL; index: into the metrics */
extern const struct compare_metric compare_metrics[];

#define COMPARE_SIGNIFICANCE 0.05
#define COMPARE_SUCCESS_RATE 0.99
#define COMPARE_PAIRS_MIN 3     /* that must be left of a cell some pairs of which were disturbed */
#define COMPARE_RUNS_MAX 40     /* of both sides together */
#define COMPARE_CELLS_MAX 10000 /* of all runs together */

struct compare_input {
    const struct evidence *runs; /* those of the baseline first */
    size_t counts[SIDES];        /* together at most COMPARE_RUNS_MAX; no run twice */
    size_t metric;               /* index into compare_metrics */
    const char *const *factors;  /* facts in which the sides may differ; ends with NULL */
    const char *const *accepted; /* facts that may be unknown; ends with NULL */
    /* The runs were measured in turns: the n-th of one side with the n-th of the other, as many of
     * each. What drifts moved both of a pair, and their ratio is what counts. */
    bool paired;
    /* The sides are two deployments as they are, so that whatever belongs to these may differ or be
     * unknown: what is left is the work. For this no factors are named. */
    bool as_deployments;
    bool keeps_wrong; /* also cells that are found wrong (evidence.h) are compared */
};

/* Whether runs that were named one by one were measured in turns. */
enum pairing {
    PAIRING_NONE,
    PAIRING_SOME, /* some with one of the other side, but not each, or of changing deployments */
    PAIRING_ALL,
};
/* ALL: puts the candidate's runs in the order of the baseline's, as `paired` has them. */
enum pairing compare_pair_up(struct evidence *runs, const size_t counts[SIDES]);

/* ---- What was measured ---- */

/* One fact in which two runs differ, or that is not known of both: unknown is equal to nothing,
 * but within one sweep, whose runs are of one fingerprint. */
struct difference {
    const char *fact;
    struct text values[2]; /* "" where it is not known */
    const char *runs[2];   /* the pair; borrowed from the input */
    bool within_a_side;    /* two repetitions that are none */
    bool unknown;          /* at least one of the values is */
    bool allowed;          /* a factor, an unknown that was accepted, or no matter */
};

/* ---- The comparison ---- */

struct estimate {
    double values[SIDES];    /* geometric means over the runs */
    double ratio, low, high; /* 95 % interval (Student's t, on logarithms); NaN: there is none */
    double p, p_corrected;   /* two-sided; corrected for all cells by Holm; NaN: none */
    enum verdict verdict;    /* by p_corrected */
};

enum left_out {
    CELL_COMPARED,
    CELL_MISSING,      /* a run does not have it */
    CELL_TWICE,        /* a run has it more than once */
    CELL_NOT_MEASURED, /* failed, infeasible or skipped */
    CELL_SUCCESS_UNKNOWN,
    CELL_LOW_SUCCESS,
    CELL_CLIENT_LIMITED,
    CELL_CONTAMINATED, /* the server worked for others meanwhile */
    CELL_FOUND_WRONG,  /* by the audit */
    CELL_NO_FIGURE,
    CELL_CENSORED,     /* the percentile was cut off by a timeout */
    CELL_SHORT_OUTPUT, /* too few output tokens to speak of decoding */
    CELL_OTHER_OUTPUT, /* the sides' answers are not of one length */
    CELL_OTHER_COUNT,  /* tokens told by the server in some runs, estimated in others */
    LEFT_OUT_COUNT,
};
const char *left_out_name(enum left_out why); /* "missing", ... */
const char *left_out_help(enum left_out why); /* "a run does not have it" */

struct compared_cell {
    double users, request_rate, input_length, output_tokens; /* as asked; NaN: not known */
    enum left_out why;
    /* Of a compared cell: why some pairs do not count in it; CELL_COMPARED: all do. What disturbed
     * them (CLIENT_LIMITED, CONTAMINATED) is judged alike on both sides, so that between equals
     * what is left leans to neither; a failure is never left out in this way, for it is a result.
     */
    enum left_out disturbed;
    size_t pairs_left_out;
    const char *run;  /* the first for which that is so; NULL: all, or none; borrowed */
    const char *rule; /* of the audit, by which it was found wrong; NULL: it was not. Static */
    bool estimated;   /* its tokens, which the metric counts, in every run */
    struct estimate estimate;
};

struct comparison {
    struct difference *differences;   /* those that are allowed too */
    size_t difference_count, refused; /* refused: not allowed ones; then nothing else is here */
    struct compared_cell *cells;      /* in order of output, input, users */
    size_t cell_count, compared, verdicts[VERDICT_NOT_COMPARABLE];
    size_t estimated; /* of those compared */
    /* Of the runs' geometric means, of each over the same cells: those in which every pair counts.
     * Where there is none: over all compared ones, in the pairs that count in each of these. */
    struct estimate primary;
    size_t primary_cells, primary_pairs_left_out;
    const char *reason; /* why the primary verdict is none; NULL: it is one. Static */
};
#define COMPARISON_AUTO __attribute__((cleanup(comparison_finish))) struct comparison
void comparison_finish(struct comparison *comparison);

/* With `accepted` also what else may be accepted as unknown. */
bool compare_knows_fact(const char *name, bool accepted);
void compare_write_facts(struct text *out); /* "model, model_revision, ..." */

/* *out: zero before; comparison_finish() frees it. */
void compare_runs(const struct compare_input *input, struct comparison *out);
/* The same of the facts alone. */
void compare_facts(const struct compare_input *input, struct comparison *out);
/* Of one quantity: the logarithms of its values, one per run. Its verdict is by p alone. By Welch's
 * t of two means, and of `count` pairs by Student's t of their differences. */
struct estimate compare_estimate(const double *baseline, size_t baseline_count,
                                 const double *candidate, size_t candidate_count,
                                 bool higher_is_better);
struct estimate compare_estimate_pairs(const double *baseline, const double *candidate,
                                       size_t count, bool higher_is_better);
/* By a p that may be corrected. */
enum verdict compare_verdict(const struct estimate *estimate, double p, bool higher_is_better);
bool compare_is_named(const char *const *names, const char *name);

/* Tables of ratios, rows users, columns context, at most 100 columns wide; those that would have
 * too many rows are left out and named. */
void compare_write_table(const struct comparison *comparison, struct text *out);
