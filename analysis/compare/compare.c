/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/compare_private.h"
#include "base/core/memory.h"
#include "base/stats/statistics.h"

#define DECODE_TOKENS 16 /* with fewer output tokens per request, decoding cannot be judged */
/* If the mean answer lengths of the two sides differ by a larger share, they did different work. */
#define OUTPUT_TOLERANCE 0.05

void comparison_finish(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->difference_count; i++)
        for (int j = 0; j < 2; j++)
            text_finish(&comparison->differences[i].values[j]);
    free(comparison->differences);
    free(comparison->cells);
    *comparison = (struct comparison){ 0 };
}

/* ---- The grid ---- */

struct comparing {
    const struct compare_input *input;
    const struct compare_metric *metric;
    struct comparison *out;
    size_t run_count;
    bool by_output; /* cells that differ only in the requested output length count as different */
    /* For each run, the sum of the logarithms of its figures in the cells in which every pair
     * counts. */
    double sums[COMPARE_RUNS_MAX];
    /* The same in the compared cells from which at least one disturbed pair is excluded. */
    double disturbed_sums[COMPARE_RUNS_MAX];
    /* Indexed by pair_of(): whether the pair is excluded from at least one compared cell. */
    bool is_excluded[COMPARE_RUNS_MAX];
};

bool compare_alike(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool is_cell(const struct comparing *comparing, const struct compared_cell *key,
                    const struct evidence_cell *cell)
{
    return compare_alike(key->users, cell->concurrency)
           && compare_alike(key->input_length, cell->input_length)
           && compare_alike(key->request_rate, cell->request_rate_asked)
           && (!comparing->by_output
               || compare_alike(key->output_tokens, cell->output_tokens_asked));
}

static bool states_every_output(const struct comparing *comparing)
{
    for (size_t i = 0; i < comparing->run_count; i++)
        for (size_t j = 0; j < comparing->input->runs[i].cell_count; j++)
            if (isnan(comparing->input->runs[i].cells[j].output_tokens_asked))
                return false;
    return true;
}

static void add_cell(struct comparing *comparing, const struct evidence_cell *cell)
{
    struct comparison *out = comparing->out;

    for (size_t i = 0; i < out->cell_count; i++)
        if (is_cell(comparing, &out->cells[i], cell))
            return;
    out->cells = memory_resize(out->cells, out->cell_count + 1, sizeof *out->cells);
    out->cells[out->cell_count++] = (struct compared_cell){
        .users = cell->concurrency,
        .request_rate = cell->request_rate_asked,
        .input_length = cell->input_length,
        .output_tokens = comparing->by_output ? cell->output_tokens_asked : NAN,
    };
}

int compare_order(double a, double b)
{
    return isnan(a) || isnan(b) ? isnan(a) - isnan(b) : (a > b) - (a < b);
}

static int order_cells(const void *a, const void *b)
{
    const struct compared_cell *left = a, *right = b;
    int order = compare_order(left->output_tokens, right->output_tokens);

    if (order == 0)
        order = compare_order(left->input_length, right->input_length);
    if (order == 0)
        order = compare_order(left->users, right->users);
    return order != 0 ? order : compare_order(left->request_rate, right->request_rate);
}

static void collect_cells(struct comparing *comparing)
{
    struct comparison *out = comparing->out;

    for (size_t i = 0; i < comparing->run_count; i++)
        for (size_t j = 0; j < comparing->input->runs[i].cell_count; j++)
            add_cell(comparing, &comparing->input->runs[i].cells[j]);
    if (out->cell_count > 0)
        qsort(out->cells, out->cell_count, sizeof *out->cells, order_cells);
}

/* ---- One cell ---- */

static double success_rate(const struct evidence_cell *cell)
{
    return isnan(cell->success_rate) ? cell->succeeded / cell->attempted : cell->success_rate;
}

static double output_tokens(const struct evidence_cell *cell)
{
    return cell->output_tokens_mean > 0 ? cell->output_tokens_mean : cell->output_tokens_asked;
}

static double figure(const struct comparing *comparing, const struct evidence_cell *cell)
{
    return *(const double *)(const void *)((const char *)cell + comparing->metric->offset);
}

static bool is_censored(const struct comparing *comparing, const struct evidence_cell *cell)
{
    size_t offset = comparing->metric->censored_offset;

    return offset > 0 && *(const bool *)((const char *)cell + offset);
}

static enum left_out refusal_of(const struct comparing *comparing, const struct evidence_cell *cell)
{
    if (cell->state != EVIDENCE_MEASURED && cell->state != EVIDENCE_UNKNOWN)
        return CELL_NOT_MEASURED;
    if (isnan(success_rate(cell)) && !compare_is_named(comparing->input->accepted, "success_rate"))
        return CELL_SUCCESS_UNKNOWN;
    if (success_rate(cell) < COMPARE_SUCCESS_RATE)
        return CELL_LOW_SUCCESS;
    if (cell->client_limited)
        return CELL_CLIENT_LIMITED;
    if (cell->contaminated)
        return CELL_CONTAMINATED;
    if (cell->found_wrong != NULL && !comparing->input->keeps_wrong)
        return CELL_FOUND_WRONG;
    if (!(figure(comparing, cell) > 0) || !isfinite(figure(comparing, cell)))
        return CELL_NO_FIGURE;
    if (is_censored(comparing, cell))
        return CELL_CENSORED;
    if (comparing->metric->of_decoding && output_tokens(cell) < DECODE_TOKENS)
        return CELL_SHORT_OUTPUT;
    return CELL_COMPARED;
}

/* Sets *found to the run's cell that matches `key`, or to NULL if there is none. Returns why the
 * cell cannot be compared, or CELL_COMPARED. */
static enum left_out find_cell(const struct comparing *comparing, const struct compared_cell *key,
                               const struct evidence *run, const struct evidence_cell **found)
{
    *found = NULL;
    for (size_t i = 0; i < run->cell_count; i++) {
        if (!is_cell(comparing, key, &run->cells[i]))
            continue;
        if (*found != NULL)
            return CELL_TWICE;
        *found = &run->cells[i];
    }
    return *found == NULL ? CELL_MISSING : refusal_of(comparing, *found);
}

/* Whether the reason, if the runs are paired, excludes only the pair that it concerns and not the
 * whole cell. Only disturbances do, because the servers did not cause them. Failures are the
 * servers' own, and excluding only the failed pair would hide them. */
static bool is_disturbance(enum left_out why)
{
    return why == CELL_CLIENT_LIMITED || why == CELL_CONTAMINATED;
}

/* The index of the n-th run's pair; if the runs are not paired, the run's own index. */
static size_t pair_of(const struct comparing *comparing, size_t n)
{
    return comparing->input->paired ? n % comparing->input->counts[SIDE_BASELINE] : n;
}

/* Whether enough pairs remain: all of them, or at least COMPARE_PAIRS_MIN and more than half. If
 * half of the pairs or more are disturbed, that is no accident. */
static bool are_enough(const struct comparing *comparing, size_t excluded)
{
    size_t pairs = comparing->input->counts[SIDE_BASELINE];

    return excluded == 0 || (pairs >= excluded + COMPARE_PAIRS_MIN && 2 * excluded < pairs);
}

/* Copies to `included` the values of the runs whose pairs are not excluded, the baseline's first.
 * Sets `counts` to the number of values copied for each side. */
static void copy_included(const struct comparing *comparing, const double *values,
                          const bool *is_excluded, double *included, size_t counts[SIDES])
{
    size_t baseline = comparing->input->counts[SIDE_BASELINE], count = 0;

    counts[SIDE_BASELINE] = counts[SIDE_CANDIDATE] = 0;
    for (size_t i = 0; i < comparing->run_count; i++) {
        if (is_excluded[pair_of(comparing, i)])
            continue;
        included[count++] = values[i];
        counts[i < baseline ? SIDE_BASELINE : SIDE_CANDIDATE]++;
    }
}

static bool is_other_output(const struct comparing *comparing, const double *tokens,
                            const bool *is_excluded)
{
    double included[COMPARE_RUNS_MAX], baseline, candidate;
    size_t counts[SIDES];

    copy_included(comparing, tokens, is_excluded, included, counts);
    baseline = statistics_mean(included, counts[SIDE_BASELINE]);
    candidate = statistics_mean(included + counts[SIDE_BASELINE], counts[SIDE_CANDIDATE]);
    return fabs(candidate / baseline - 1) > OUTPUT_TOLERANCE
           && !compare_is_named(comparing->input->factors, "output_length");
}

/* `logarithms`: one for each run, the baseline's first. */
static struct estimate estimate(const struct comparing *comparing, const double *logarithms,
                                const bool *is_excluded)
{
    bool higher_is_better = comparing->metric->higher_is_better;
    double included[COMPARE_RUNS_MAX], *candidate;
    size_t counts[SIDES];

    copy_included(comparing, logarithms, is_excluded, included, counts);
    candidate = included + counts[SIDE_BASELINE];
    if (comparing->input->paired)
        return compare_estimate_pairs(included, candidate, counts[SIDE_BASELINE], higher_is_better);
    return compare_estimate(included, counts[SIDE_BASELINE], candidate, counts[SIDE_CANDIDATE],
                            higher_is_better);
}

/* Adds a compared cell to the sums and to the counts of cells. */
static void add_to_sums(struct comparing *comparing, const struct compared_cell *cell,
                        const double *logarithms, const bool *is_excluded)
{
    double *sums = cell->pairs_left_out > 0 ? comparing->disturbed_sums : comparing->sums;

    for (size_t i = 0; i < comparing->run_count; i++) {
        if (is_excluded[pair_of(comparing, i)])
            comparing->is_excluded[pair_of(comparing, i)] = true;
        else
            sums[i] += logarithms[i];
    }
    comparing->out->primary_cells += cell->pairs_left_out == 0;
    comparing->out->compared++;
    comparing->out->estimated += cell->estimated;
}

/* Records why a run's cell cannot be compared. If the reason excludes only the run's pair, marks
 * the pair and returns true. Otherwise returns false: the cell is skipped for all runs. */
static bool note_left_out(const struct comparing *comparing, struct compared_cell *cell,
                          enum left_out why, const struct evidence *run, bool *is_excluded)
{
    if (!comparing->input->paired || !is_disturbance(why)) {
        cell->why = why;
        cell->run = run->id;
        return false;
    }
    if (cell->disturbed == CELL_COMPARED) {
        cell->disturbed = why;
        cell->run = run->id;
    }
    cell->pairs_left_out += !*is_excluded;
    *is_excluded = true;
    return true;
}

/* Sets cell->estimated if the tokens of all runs are estimated. Returns false, and sets `why` and
 * `run`, if those of only some are. Runs of excluded pairs do not count. */
static bool count_alike(const struct comparing *comparing, struct compared_cell *cell,
                        const bool *is_estimated, const bool *is_excluded)
{
    const char *first = NULL;
    size_t counted = 0, estimated = 0;

    for (size_t i = 0; i < comparing->run_count; i++) {
        if (is_excluded[pair_of(comparing, i)])
            continue;
        counted++;
        if (is_estimated[i] && estimated++ == 0)
            first = comparing->input->runs[i].id;
    }
    cell->estimated = estimated == counted;
    if (estimated == 0 || cell->estimated)
        return true;
    cell->why = CELL_OTHER_COUNT;
    cell->run = first;
    return false;
}

static void compare_cell(struct comparing *comparing, struct compared_cell *cell)
{
    double logarithms[COMPARE_RUNS_MAX], tokens[COMPARE_RUNS_MAX];
    bool is_excluded[COMPARE_RUNS_MAX] = { false }, is_estimated[COMPARE_RUNS_MAX] = { false };
    const struct evidence_cell *found;

    cell->disturbed = CELL_COMPARED;
    for (size_t i = 0; i < comparing->run_count; i++) {
        const struct evidence *run = &comparing->input->runs[i];
        enum left_out why = find_cell(comparing, cell, run, &found);

        if (why != CELL_COMPARED) {
            cell->rule = why == CELL_FOUND_WRONG ? found->found_wrong : NULL;
            if (!note_left_out(comparing, cell, why, run, &is_excluded[pair_of(comparing, i)]))
                return;
            continue;
        }
        logarithms[i] = log(figure(comparing, found));
        tokens[i] = output_tokens(found);
        is_estimated[i] = comparing->metric->of_tokens && found->tokens_estimated;
    }
    if (!are_enough(comparing, cell->pairs_left_out)) {
        cell->why = cell->disturbed;
        return;
    }
    if (!count_alike(comparing, cell, is_estimated, is_excluded))
        return;
    if (is_other_output(comparing, tokens, is_excluded)) {
        cell->why = CELL_OTHER_OUTPUT;
        cell->run = NULL;
        return;
    }
    cell->why = CELL_COMPARED;
    cell->estimate = estimate(comparing, logarithms, is_excluded);
    add_to_sums(comparing, cell, logarithms, is_excluded);
}

/* ---- Many cells ---- */

static int order_by_p(const void *a, const void *b)
{
    const struct compared_cell *const *left = a, *const *right = b;

    return compare_order((*left)->estimate.p, (*right)->estimate.p);
}

/* Holm, S., Scandinavian Journal of Statistics 6 (1979): the k-th smallest of m p-values is
 * multiplied by m - k + 1. The result is at most 1, and not less than the previous one. */
static void correct_cells(struct comparing *comparing)
{
    struct comparison *out = comparing->out;
    FREE_AUTO struct compared_cell **tested = memory_zeroed(out->cell_count + 1, sizeof *tested);
    double least = 0;
    size_t count = 0;

    for (size_t i = 0; i < out->cell_count; i++)
        if (out->cells[i].why == CELL_COMPARED && !isnan(out->cells[i].estimate.p))
            tested[count++] = &out->cells[i];
    qsort(tested, count, sizeof *tested, order_by_p);
    for (size_t i = 0; i < count; i++) {
        struct estimate *estimate = &tested[i]->estimate;

        least = fmax(least, fmin(1, estimate->p * (double)(count - i)));
        estimate->p_corrected = least;
        estimate->verdict = compare_verdict(estimate, least, comparing->metric->higher_is_better);
    }
}

static void count_verdicts(struct comparison *out)
{
    for (size_t i = 0; i < out->cell_count; i++) {
        if (out->cells[i].why == CELL_COMPARED)
            out->verdicts[out->cells[i].estimate.verdict]++;
        else
            out->cells[i].estimate.verdict = VERDICT_NOT_COMPARABLE;
    }
}

static const char *reason_of(const struct compare_input *input, const struct comparison *out)
{
    if (out->primary.verdict != VERDICT_NO_EVIDENCE)
        return NULL;
    if (input->counts[SIDE_BASELINE] < 2 || input->counts[SIDE_CANDIDATE] < 2)
        return "a side with one run has no spread against which to judge a difference: give at "
               "least two runs per side";
    if (isnan(out->primary.p) && input->paired)
        return "all pairs have the same ratio to the last digit: they are copies, not repetitions";
    if (isnan(out->primary.p))
        return "the runs of each side are equal to the last digit: they are copies, not "
               "repetitions";
    if (input->paired)
        return "the 95 % interval contains 1: the difference is within the spread between pairs";
    return "the 95 % interval contains 1: the difference is within the spread between runs";
}

static void set_no_comparison(struct comparison *out, const char *reason)
{
    out->primary = (struct estimate){ .values = { NAN, NAN },
                                      .ratio = NAN,
                                      .low = NAN,
                                      .high = NAN,
                                      .p = NAN,
                                      .p_corrected = NAN,
                                      .verdict = VERDICT_NOT_COMPARABLE };
    out->reason = reason;
}

/* Every pair must count in the same cells: otherwise a pair's ratio would depend on the cells in
 * which it counts. */
static void estimate_primary(struct comparing *comparing)
{
    static const bool none[COMPARE_RUNS_MAX];
    struct comparison *out = comparing->out;
    bool has_undisturbed = out->primary_cells > 0;
    double *sums = has_undisturbed ? comparing->sums : comparing->disturbed_sums;
    const bool *is_excluded = has_undisturbed ? none : comparing->is_excluded;

    for (size_t i = 0; i < comparing->input->counts[SIDE_BASELINE]; i++)
        out->primary_pairs_left_out += is_excluded[i];
    if (!are_enough(comparing, out->primary_pairs_left_out)) {
        set_no_comparison(out, "every cell excludes at least one pair, and too few pairs count in "
                               "all cells: see the cells");
        return;
    }
    if (!has_undisturbed)
        out->primary_cells = out->compared;
    for (size_t i = 0; i < comparing->run_count; i++)
        sums[i] /= (double)out->primary_cells;
    out->primary = estimate(comparing, sums, is_excluded);
    out->reason = reason_of(comparing->input, out);
}

void compare_runs(const struct compare_input *input, struct comparison *out)
{
    const size_t *counts = input->counts;
    struct comparing comparing = { .input = input,
                                   .metric = &compare_metrics[input->metric],
                                   .out = out,
                                   .run_count = counts[SIDE_BASELINE] + counts[SIDE_CANDIDATE] };

    compare_facts(input, out);
    if (out->refused > 0) {
        set_no_comparison(out, "the runs differ, or may differ, in facts that must be equal");
        return;
    }
    comparing.by_output =
        states_every_output(&comparing) && !compare_is_named(input->factors, "output_length");
    collect_cells(&comparing);
    for (size_t i = 0; i < out->cell_count; i++)
        compare_cell(&comparing, &out->cells[i]);
    correct_cells(&comparing);
    count_verdicts(out);
    if (out->compared == 0) {
        set_no_comparison(out, "no cell can be compared: see why each one was skipped");
        return;
    }
    estimate_primary(&comparing);
}
