/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two sides cell by cell. Each side is one run or several repetitions, our own or
 * imported. The statistical unit is the run, never the request: requests of one run are not
 * independent. Ratios are the candidate's value divided by the baseline's. */
#pragma once

#include "analysis/evidence/evidence.h"

enum side { SIDE_BASELINE, SIDE_CANDIDATE, SIDES };

enum verdict {
    VERDICT_NOT_COMPARABLE, /* 0, so that a zeroed estimate claims nothing */
    VERDICT_NO_EVIDENCE,
    VERDICT_FASTER,
    VERDICT_SLOWER,
    VERDICTS
};
const char *verdict_name(enum verdict verdict); /* "faster": the candidate is faster */

struct compare_metric {
    const char *words; /* the name in sentences: "output tokens/s" */
    size_t offset;     /* of the metric's double in struct evidence_cell */
    /* The offset of the bool in struct evidence_cell that is true if the value is only a lower
     * bound; 0: there is none. */
    size_t censored_offset;
    bool higher_is_better;
    /* about the tokens after the first: not compared if answers have few tokens
     * (CELL_SHORT_OUTPUT) */
    bool of_decoding;
    bool of_tokens; /* only as accurate as the token count */
};
extern const struct compare_metric compare_metrics[];
extern const char *const compare_metric_names[]; /* in the same order; ends with NULL */

#define COMPARE_SIGNIFICANCE 0.05
#define COMPARE_SUCCESS_RATE 0.99 /* a cell with a lower success rate is not compared */
/* The minimum number of pairs that must remain when disturbed pairs are excluded. */
#define COMPARE_PAIRS_MIN 3
#define COMPARE_RUNS_MAX 40     /* of both sides together */
#define COMPARE_CELLS_MAX 10000 /* of all runs together */

struct compare_input {
    /* First the baseline's runs, then the candidate's. No run occurs twice. */
    const struct evidence *runs;
    size_t counts[SIDES]; /* how many runs each side has; in all, at most COMPARE_RUNS_MAX */
    size_t metric;        /* index into compare_metrics */
    /* `factors`: facts in which the sides are allowed to differ. `accepted`: facts that are allowed
     * to be unknown. Each list ends with NULL; NULL: there are none. */
    const char *const *factors;
    const char *const *accepted;
    /* The runs were measured alternately: the n-th run of one side alternated with the n-th of the
     * other, and both sides have the same number of runs. Drift then affects both runs of a pair
     * equally, and their ratio is what counts. */
    bool paired;
    /* The sides are two deployments: facts of the deployment are allowed to differ, or to be
     * unknown for either side; only the work must be the same. `factors` is then empty. */
    bool as_deployments;
    bool keeps_wrong; /* also compare cells that the audit finds wrong (evidence.h) */
};

/* Whether the runs of two sides that were chosen separately, not given as one A/B sweep, were
 * nevertheless measured alternately. */
enum pairing {
    PAIRING_NONE,
    PAIRING_SOME, /* not all runs have a partner, or a side has several deployments */
    PAIRING_ALL,
};
/* If the result is PAIRING_ALL, puts the candidate's runs in the order of the baseline's, as
 * `paired` requires. */
enum pairing compare_pair_up(struct evidence *runs, const size_t counts[SIDES]);

/* ---- What was measured ---- */

/* A fact in which two runs differ, or that is unknown for at least one of them. Two runs of one
 * deployment in one sweep never differ. If both values are unknown, they count as equal if few
 * tools report the fact, or if it is a fact of the deployment and both runs measured the same
 * revision of that deployment. */
struct difference {
    const char *fact;
    struct text values[2]; /* "": not known */
    const char *runs[2];   /* the ids of the two runs; borrowed from the input */
    bool within_a_side; /* both runs are on one side, so they are not repetitions of each other */
    int known_count;    /* how many of the two values are known */
    /* The difference does not rule the comparison out: the fact is only reported, or its unknown
     * value was accepted, or the runs are on different sides and the fact is a factor or, if
     * deployments are compared, a fact of the deployment. */
    bool allowed;
};
/* Whether neither value is known. */
static inline bool compare_knows_neither(const struct difference *difference)
{
    return difference->known_count == 0;
}

/* ---- The comparison ---- */

struct estimate {
    double values[SIDES]; /* each side's geometric mean over its runs */
    double ratio;         /* candidate / baseline */
    double low, high;     /* 95 % interval (Student's t, on logarithms); NaN: there is none */
    double p;             /* the two-sided p-value; NaN: there is none */
    double p_corrected;   /* for a cell, p corrected for the number of cells (Holm); else p */
    enum verdict verdict; /* from p_corrected */
};

enum left_out {
    CELL_NOT_JUDGED, /* not judged yet: no cell of a finished comparison has this reason */
    CELL_COMPARED,
    CELL_MISSING,      /* a run does not have the cell */
    CELL_TWICE,        /* a run has the cell more than once */
    CELL_NOT_MEASURED, /* failed, infeasible, skipped or inferred */
    CELL_SUCCESS_UNKNOWN,
    CELL_LOW_SUCCESS,
    CELL_CLIENT_LIMITED,
    CELL_CONTAMINATED, /* the server also worked for other clients */
    CELL_FOUND_WRONG,  /* the audit found the cell wrong */
    CELL_NO_FIGURE,    /* a run has no value of the metric for the cell, or 0 */
    CELL_CENSORED,     /* the percentile is only a lower bound (evidence.h) */
    CELL_SHORT_OUTPUT, /* too few output tokens to judge decoding */
    CELL_OTHER_OUTPUT, /* the sides' answers differ in length */
    CELL_OTHER_COUNT,  /* tokens reported by the server in some runs, estimated in others */
    LEFT_OUT_COUNT,
};
const char *left_out_name(enum left_out why); /* "missing", ... */
const char *left_out_help(enum left_out why); /* "not every run has it" */

struct compared_cell {
    double users, request_rate, input_length; /* as requested; NaN: not requested, or not known */
    double output_tokens; /* as requested; NaN: cells are not distinguished by it */
    enum left_out why;    /* why the cell is not compared; CELL_COMPARED: it is compared */
    /* For a compared cell, why some of its pairs do not count (the first reason that was found);
     * CELL_COMPARED: all of them count. Only disturbances (CLIENT_LIMITED, CONTAMINATED) exclude
     * single pairs. They are judged alike on both sides, so that the remaining pairs favour
     * neither. A failure is a result, and never omitted in this way. */
    enum left_out disturbed;
    size_t pairs_left_out; /* how many pairs do not count, because they are disturbed */
    /* The id of the first run that caused `why` (in a compared cell: `disturbed`). For
     * CELL_OTHER_COUNT: the id of the first run whose tokens are estimated. NULL: the reason does
     * not concern a single run. Borrowed. */
    const char *run;
    const char *rule; /* the audit's rule if `why` is CELL_FOUND_WRONG, else NULL. Static */
    /* The cell's tokens were estimated in every run that counts. False if the metric is not
     * of_tokens. */
    bool estimated;
    struct estimate estimate;
};

struct comparison {
    struct difference *differences; /* one per fact that differs, allowed or not */
    size_t difference_count;
    size_t refused; /* how many differences are not allowed; if any, there are no cells */
    struct compared_cell *cells; /* in order of output length, input length, users, rate */
    size_t cell_count;
    size_t compared;           /* the number of cells that are compared */
    size_t verdicts[VERDICTS]; /* how many of the compared cells have each verdict */
    size_t estimated;          /* the number of compared cells whose tokens were estimated */
    /* The overall estimate, computed from each run's geometric mean over the cells in which every
     * pair counts. If there is no such cell: over all compared cells, with only the pairs that
     * count in every one of them. */
    struct estimate primary;
    size_t primary_cells;          /* how many cells `primary` is computed from */
    size_t primary_pairs_left_out; /* how many pairs do not count in `primary` */
    /* Why the primary verdict is neither faster nor slower; NULL: it is one of them. Static. */
    const char *reason;
};
#define COMPARISON_AUTO __attribute__((cleanup(comparison_finish))) struct comparison
void comparison_finish(struct comparison *comparison);

/* Whether the name is that of a fact or, with `accepted`, "success_rate", which is not a fact but
 * can be accepted as unknown. */
bool compare_knows_fact(const char *name, bool accepted);
void compare_write_facts(struct text *out); /* "model, model_revision, ..." */

/* Compares the facts and, if no difference is refused, the cells. *out must be zeroed before
 * the call, and freed with comparison_finish(). */
void compare_runs(const struct compare_input *input, struct comparison *out);
/* Compares only the facts; *out as above. */
void compare_facts(const struct compare_input *input, struct comparison *out);
/* These compare one quantity, given as the logarithm of its value in each run. The verdict follows
 * from the uncorrected p. compare_estimate() uses Welch's t-test on the two means,
 * compare_estimate_pairs() Student's t-test on the differences of `count` pairs. */
struct estimate compare_estimate(const double *baseline, size_t baseline_count,
                                 const double *candidate, size_t candidate_count,
                                 bool higher_is_better);
struct estimate compare_estimate_pairs(const double *baseline, const double *candidate,
                                       size_t count, bool higher_is_better);
/* The verdict that follows from the estimate's ratio and `p`, which is the estimate's p or
 * p_corrected. */
enum verdict compare_verdict(const struct estimate *estimate, double p, bool higher_is_better);
/* Whether the name is in the list, which ends with NULL or is NULL. */
bool compare_is_named(const char *const *names, const char *name);

#define COMPARE_NUMBER_SIZE 32
/* Writes the number to `out`, "?" for NaN; returns `out`. */
const char *compare_write_number(double value, char out[COMPARE_NUMBER_SIZE]);
/* Writes the ratios for each output length and request rate, with a row per number of users and a
 * column per context; contexts that do not fit into 100 characters go into further tables. More
 * than 1000 ratios are replaced with a sentence. If there are more than 100 combinations of output
 * length and rate, one sentence replaces all tables. */
void compare_write_table(const struct comparison *comparison, struct text *out);
