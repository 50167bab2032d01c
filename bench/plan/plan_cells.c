/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the cells of a plan, and estimates their time and tokens. */
#include <math.h>
#include <stdio.h>

#include "base/core/memory.h"
#include "bench/plan/plan.h"
#include "bench/plan/plan_search.h"

/* If no limit is stated, an extended window is limited to this many times window_s. */
#define WINDOW_LIMIT_FACTOR 4

/* ---- Cells ----------------------------------------------------------------------------------- */

size_t plan_levels(const struct plan *plan)
{
    return plan->arrival == ARRIVAL_CLOSED ? plan->concurrency_count : plan->rate_count;
}

static size_t cells_per_repetition(const struct plan *plan)
{
    return plan_levels(plan) * plan->input_count * plan->output_count;
}

bool plan_check_cells(const struct plan *plan, size_t subjects, struct error *error)
{
    size_t cells = cells_per_repetition(plan) * (size_t)plan->repetitions * subjects;

    if (cells <= PLAN_CELLS)
        return true;
    return error_set(error, ERROR_INVALID,
                     "the grid would have %zu cells (%zu levels of load x %zu input_tokens x %zu "
                     "output_tokens x %ld repetitions%s): one sweep can have at most %d",
                     cells, plan_levels(plan), plan->input_count, plan->output_count,
                     plan->repetitions, subjects == 1 ? "" : " x 2 deployments", PLAN_CELLS);
}

/* The cell with this index within one repetition, counted from 0. */
static struct cell_plan cell_at(const struct plan *plan, size_t index)
{
    bool open = plan->arrival != ARRIVAL_CLOSED;
    size_t levels = plan_levels(plan), level = index % levels, lengths = index / levels;

    return (struct cell_plan){
        .concurrency = plan->concurrency[open ? 0 : level],
        .request_rate = open ? plan->request_rate[level] : 0,
        .output_tokens = plan->output_tokens[lengths % plan->output_count],
        .input_tokens = plan->input_tokens[lengths / plan->output_count],
    };
}

void plan_cells(const struct plan *plan, size_t subjects, struct cell_plan **out, size_t *count)
{
    size_t per_repetition = cells_per_repetition(plan);
    size_t total = per_repetition * (size_t)plan->repetitions * subjects;
    struct cell_plan *cells = memory_zeroed(total, sizeof *cells);

    for (size_t i = 0; i < total; i++) {
        size_t turn = i / subjects, repetition = turn / per_repetition;
        size_t index = turn % per_repetition;

        cells[i] = cell_at(plan, index);
        cells[i].repetition = (int64_t)repetition;
        cells[i].position = (int64_t)i;
        cells[i].subject = (i + index + repetition) % subjects;
    }
    *out = cells;
    *count = total;
}

static bool same_cell(const struct cell_plan *a, const struct cell_plan *b)
{
    return a->concurrency == b->concurrency && a->request_rate == b->request_rate
           && a->input_tokens == b->input_tokens && a->output_tokens == b->output_tokens
           && a->repetition == b->repetition;
}

bool plan_same_cells(const struct plan *a, const struct plan *b)
{
    FREE_AUTO struct cell_plan *left = NULL, *right = NULL;
    size_t left_count, right_count;
    bool same;

    plan_cells(a, 1, &left, &left_count);
    plan_cells(b, 1, &right, &right_count);
    same = left_count == right_count;
    for (size_t i = 0; same && i < left_count; i++)
        same = same_cell(&left[i], &right[i]);
    return same;
}

/* ---- Estimate -------------------------------------------------------------------------------- */

/* The speed of the assumed server. */
#define FIRST_TOKEN_S 0.01
#define USER_OUTPUT_TOKENS_PER_S 100.0
#define ALL_OUTPUT_TOKENS_PER_S 10000.0
#define ALL_INPUT_TOKENS_PER_S 100000.0
/* Seconds for the calibrations at the start of a sweep. */
#define SWEEP_OVERHEAD_S 3.0
/* Seconds, in each cell, for the first (cold) request and for waiting until the server is idle. */
#define CELL_OVERHEAD_S 1.0

double plan_window_limit_s(const struct plan *plan)
{
    return plan->window_limit_s > 0 ? plan->window_limit_s : WINDOW_LIMIT_FACTOR * plan->window_s;
}

/* How many requests per second are sent in this cell; a closed loop sends as many as the assumed
 * server can answer. */
static double request_rate(const struct plan *plan, const struct cell_plan *cell)
{
    double input = (double)cell->input_tokens, output = (double)cell->output_tokens;
    double latency_s =
        FIRST_TOKEN_S + input / ALL_INPUT_TOKENS_PER_S + output / USER_OUTPUT_TOKENS_PER_S;
    double rate = (double)cell->concurrency / (latency_s + plan->think_time_s);

    if (cell->request_rate > 0)
        return cell->request_rate;
    return fmin(rate, fmin(ALL_OUTPUT_TOKENS_PER_S / output, ALL_INPUT_TOKENS_PER_S / input));
}

/* The window's length in seconds if `rate` requests are sent per second; with ci_width, the
 * window's limit. */
static double window_s(const struct plan *plan, double rate)
{
    double limit_s = plan_window_limit_s(plan);

    if (plan->ci_width > 0)
        return limit_s;
    return plan->requests > 0 ? fmin((double)plan->requests / rate, limit_s) : plan->window_s;
}

void plan_estimate(const struct plan *plan, size_t subjects, struct plan_estimate *out)
{
    FREE_AUTO struct cell_plan *cells = NULL;
    size_t count;

    *out = (struct plan_estimate){ 0 };
    plan_cells(plan, subjects, &cells, &count);
    for (size_t i = 0; i < count; i++) {
        double rate = request_rate(plan, &cells[i]);
        double measured_s = plan->ramp_s + plan->warmup_limit_s + window_s(plan, rate);
        /* Requests in flight when the window ends: */
        int64_t in_flight = cells[i].request_rate > 0 ? 0 : cells[i].concurrency;
        int64_t requests = (int64_t)ceil(rate * measured_s) + in_flight;

        if (!plan_search_includes_level(plan, i / subjects % plan_levels(plan)))
            continue;
        out->cells++;
        out->requests += requests;
        out->input_tokens += requests * cells[i].input_tokens;
        out->output_tokens += requests * cells[i].output_tokens;
        out->duration_s += CELL_OVERHEAD_S + measured_s + (double)in_flight / rate;
    }
    out->grid_cells = (int64_t)count;
    out->duration_s = fmin(out->duration_s + SWEEP_OVERHEAD_S, plan->time_limit_s);
    snprintf(
        out->assumption, sizeof out->assumption,
        "the warm-up takes its entire limit; no cell is measured again; output %g tokens/s for one "
        "user and %g for all, input %g tokens/s",
        USER_OUTPUT_TOKENS_PER_S, ALL_OUTPUT_TOKENS_PER_S, ALL_INPUT_TOKENS_PER_S);
}
