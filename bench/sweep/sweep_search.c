/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the next cell of a sweep, in order or by an adaptive search, and determines which cells
 * need not be measured. Everything is derived from the stored cells, so that a resumed sweep
 * continues where it stopped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "bench/search/search.h"
#include "bench/sweep/sweep_private.h"

#define GROUPS SWEEP_SUBJECTS_MAX

/* The cells of one run at one context (input_tokens) and one output length, in ascending order of
 * load. */
struct group {
    struct cell_row *cells[PLAN_LEVELS];
    struct search_level levels[PLAN_LEVELS];
    size_t count;
    struct search_step step;
};

/* The groups of one repetition, one for each deployment, that have the same lengths. The same
 * levels are measured in each of them. */
struct shape {
    struct group groups[GROUPS];
    size_t count;
};

/* ---- Groups ---------------------------------------------------------------------------------- */

static bool is_same_shape(const struct cell_row *a, const struct cell_row *b)
{
    return a->input_tokens == b->input_tokens && a->output_tokens == b->output_tokens;
}

static bool is_same_run(const struct cell_row *a, const struct cell_row *b)
{
    return strcmp(a->run_id, b->run_id) == 0;
}

static double load_of(const struct cell_row *cell)
{
    return cell->request_rate > 0 ? cell->request_rate : (double)cell->concurrency;
}

static enum level_state state_of(enum cell_state state, const struct measurement *measurement)
{
    switch (state) {
    case CELL_PENDING:
    case CELL_INFERRED:
    case CELL_STATES:
        return LEVEL_UNKNOWN;
    case CELL_MEASURED:
        return measurement->success_rate >= 1 - SLO_ERROR_RATE && measurement->output_throughput > 0
                       && !measurement->contaminated
                   ? LEVEL_SOUND
                   : LEVEL_LOST;
    case CELL_INFEASIBLE:
    case CELL_FAILED:
    case CELL_SKIPPED:
        break;
    }
    return LEVEL_LOST;
}

/* Two standard errors of the number of arrivals, as a share of that number; 0 if arrivals are not
 * random. */
static double slack_of(const struct plan *plan, const struct cell_row *cell)
{
    double variation = plan->arrival == ARRIVAL_POISSON ? 1
                       : plan->arrival == ARRIVAL_GAMMA ? 1 / plan->burstiness
                                                        : 0;

    return 2 * sqrt(variation / fmax((double)cell->measurement.attempted, 1));
}

static struct search_level level_of(const struct sweep_work *work, const struct cell_row *cell)
{
    const struct slo *limits = &work->plan.limits;

    return (struct search_level){
        .load = load_of(cell),
        .state = state_of(cell->state, &cell->measurement),
        .slack = slack_of(&work->plan, cell),
        .tokens_per_s = cell->measurement.output_throughput,
        .slo_ratio =
            slo_are_stated(limits) ? slo_find_nearest(limits, &cell->measurement).ratio : NAN,
    };
}

static void add_cell(struct group *group, const struct sweep_work *work, struct cell_row *cell)
{
    size_t at = group->count++;

    for (; at > 0 && load_of(group->cells[at - 1]) > load_of(cell); at--) {
        group->cells[at] = group->cells[at - 1];
        group->levels[at] = group->levels[at - 1];
    }
    group->cells[at] = cell;
    group->levels[at] = level_of(work, cell);
}

static void read_group(const struct sweep_work *work, const struct cell_row *like,
                       struct group *out)
{
    out->count = 0;
    for (size_t i = 0; i < work->count && out->count < PLAN_LEVELS; i++)
        if (is_same_run(&work->cells[i], like) && is_same_shape(&work->cells[i], like))
            add_cell(out, work, &work->cells[i]);
}

/* Whether no cell of the group is pending, and at least one is sound. */
static bool is_usable(const struct group *group)
{
    bool has_sound = false;

    for (size_t i = 0; i < group->count; i++) {
        if (group->cells[i]->state == CELL_PENDING)
            return false;
        has_sound = has_sound || group->levels[i].state == LEVEL_SOUND;
    }
    return has_sound;
}

/* ---- What was found before ------------------------------------------------------------------- */

/* How well the group of `other` predicts the results of the group of `cell`: the higher the number,
 * the better; 0: not at all. The best group has the same lengths, in the latest earlier repetition.
 * The next best is in the same run, and has the longest of the shorter contexts. */
static int64_t nearness(const struct cell_row *cell, const struct cell_row *other)
{
    if (other->output_tokens != cell->output_tokens || other->deployment_id != cell->deployment_id)
        return 0;
    if (other->input_tokens == cell->input_tokens)
        return other->repetition < cell->repetition ? INT64_MAX / 2 + other->repetition : 0;
    return is_same_run(other, cell) && other->input_tokens < cell->input_tokens
               ? other->input_tokens
               : 0;
}

/* Reads the earlier group that predicts the results of this cell's group best. Returns false if
 * there is none, or if that group is not usable. */
static bool find_earlier(const struct sweep_work *work, const struct cell_row *cell,
                         struct group *group, struct search_hint *hint)
{
    const struct cell_row *nearest = NULL;

    for (size_t i = 0; i < work->count; i++)
        if (nearness(cell, &work->cells[i]) > (nearest == NULL ? 0 : nearness(cell, nearest)))
            nearest = &work->cells[i];
    if (nearest == NULL)
        return false;
    read_group(work, nearest, group);
    *hint = (struct search_hint){ group->levels, is_same_shape(nearest, cell) };
    return is_usable(group);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void step(const struct sweep_work *work, struct group *group)
{
    struct search_hint hint;
    struct group *earlier = memory_zeroed(1, sizeof *earlier);
    bool found =
        find_earlier(work, group->cells[0], earlier, &hint) && earlier->count == group->count;

    if (work->plan.search == SEARCH_CLIMB)
        search_climb(group->levels, group->count, found ? &hint : NULL, &group->step);
    else
        search_step(group->levels, group->count, found ? &hint : NULL, &group->step);
    free(earlier);
}

static bool is_infeasible(const struct group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->cells[i]->state == CELL_INFEASIBLE)
            return true;
    return false;
}

/* Requests that are infeasible because of their lengths are infeasible at any load. So if a cell of
 * the group is infeasible, this returns a pending cell, which becomes infeasible without being
 * measured. Returns NULL if no cell of the group is infeasible, or none is pending. */
static struct cell_row *next_of_infeasible(const struct group *group)
{
    for (size_t i = 0; is_infeasible(group) && i < group->count; i++)
        if (group->cells[i]->state == CELL_PENDING)
            return group->cells[i];
    return NULL;
}

static void read_shape(const struct sweep_work *work, const struct cell_row *like,
                       struct shape *out)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct cell_row *cell = &work->cells[i];
        bool is_new = cell->repetition == like->repetition && is_same_shape(cell, like);

        for (size_t j = 0; j < out->count && is_new; j++)
            is_new = !is_same_run(out->groups[j].cells[0], cell);
        if (is_new && out->count < GROUPS)
            read_group(work, cell, &out->groups[out->count++]);
    }
}

/* The first pending cell of a level, in the order of the plan; NULL if none is pending. */
static struct cell_row *first_of_level(const struct shape *shape, size_t level)
{
    struct cell_row *first = NULL;

    for (size_t i = 0; i < shape->count; i++) {
        struct cell_row *cell =
            level < shape->groups[i].count ? shape->groups[i].cells[level] : NULL;

        if (cell != NULL && cell->state == CELL_PENDING
            && (first == NULL || cell->position < first->position))
            first = cell;
    }
    return first;
}

/* Whether the level was measured or failed. False if its lengths are infeasible. */
static bool was_tried(const struct group *group, size_t level)
{
    return group->levels[level].state != LEVEL_UNKNOWN
           && group->cells[level]->state != CELL_INFEASIBLE;
}

/* Returns a pending cell at a level that was tried in another group, because a level is tried in
 * all groups or in none. Returns NULL if there is no such cell. */
static struct cell_row *next_of_other_group(const struct shape *shape)
{
    struct cell_row *next = NULL;

    for (size_t i = 0; i < shape->count && next == NULL; i++)
        for (size_t level = 0; level < shape->groups[i].count && next == NULL; level++)
            if (was_tried(&shape->groups[i], level))
                next = first_of_level(shape, level);
    return next;
}

/* Returns the cell to measure next, or NULL if the search is complete. */
static struct cell_row *next_of_shape(const struct sweep_work *work, struct shape *shape)
{
    struct cell_row *next = next_of_other_group(shape);

    for (size_t i = 0; i < shape->count && next == NULL; i++)
        next = next_of_infeasible(&shape->groups[i]);
    for (size_t i = 0; i < shape->count && next == NULL; i++) {
        struct group *group = &shape->groups[i];

        step(work, group);
        if (!group->step.finished)
            next = first_of_level(shape, group->step.next);
    }
    return next;
}

/* ---- Failures with a cause other than the load ----------------------------------------------- */

/* Whether the failure may be temporary, with a cause other than the load. */
static bool may_be_temporary(enum failure failure)
{
    return failure == FAILURE_CONNECT_REFUSED || failure == FAILURE_RATE_LIMITED
           || failure == FAILURE_OVERLOADED_503 || failure == FAILURE_SERVER_ERROR
           || failure == FAILURE_STREAM_ERROR || failure == FAILURE_TRUNCATED
           || failure == FAILURE_ABORTED || failure == FAILURE_RESET;
}

static bool most_may_be_temporary(const struct measurement *measurement)
{
    int64_t all = 0, temporary = 0;

    for (enum failure i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++) {
        all += measurement->failures[i];
        temporary += may_be_temporary(i) ? measurement->failures[i] : 0;
    }
    return temporary * 2 > all;
}

/* Whether the loss was to be expected, because a smaller load was already lost. */
static bool is_expected(const struct sweep_work *work, const struct cell_row *lost)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct cell_row *cell = &work->cells[i];

        if (is_same_run(cell, lost) && is_same_shape(cell, lost) && load_of(cell) < load_of(lost)
            && state_of(cell->state, &cell->measurement) == LEVEL_LOST)
            return true;
    }
    return false;
}

bool sweep_search_doubts(const struct sweep_work *work, const struct cell_result *result)
{
    return work->plan.search != SEARCH_FULL
           && state_of(result->state, &result->measurement) == LEVEL_LOST
           && most_may_be_temporary(&result->measurement) && !is_expected(work, work->current);
}

/* ---- What need not be measured --------------------------------------------------------------- */

static void note_inferred(struct sweep_work *work, const struct cell_inference *inferences,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < work->count; j++) {
            struct cell_row *cell = &work->cells[j];

            if (cell->id != inferences[i].cell_id)
                continue;
            cell->state = CELL_INFERRED;
            text_copy(cell->reason, sizeof cell->reason, inferences[i].reason);
        }
    work->done += count;
}

static size_t list_inferences(const struct shape *shape, struct cell_inference *out)
{
    size_t count = 0;

    for (size_t i = 0; i < shape->count; i++)
        for (size_t level = 0; level < shape->groups[i].count; level++) {
            const struct group *group = &shape->groups[i];
            TEXT_AUTO reason = { 0 };

            if (group->cells[level]->state != CELL_PENDING)
                continue;
            search_explain(group->levels, &group->step, level,
                           group->cells[level]->request_rate > 0, &reason);
            out[count].cell_id = group->cells[level]->id;
            text_copy(out[count++].reason, sizeof out->reason, reason.data);
        }
    return count;
}

static CHECKED bool infer(struct sweep_work *work, const struct shape *shape, struct error *error)
{
    FREE_AUTO struct cell_inference *inferences =
        memory_zeroed(GROUPS * PLAN_LEVELS, sizeof *inferences);
    size_t count = list_inferences(shape, inferences);
    struct job_run *run = work->run;

    while (!sweep_infer_cells(run->store, &run->claim, work->row.id, inferences, count,
                              clock_utc_ms(), error))
        if (!sweep_wait_for_store(work, error))
            return false;
    note_inferred(work, inferences, count);
    return true;
}

static bool next_in_order(struct sweep_work *work, struct cell_row **next)
{
    *next = NULL;
    for (size_t i = 0; i < work->count && *next == NULL; i++)
        if (work->cells[i].state == CELL_PENDING)
            *next = &work->cells[i];
    return true;
}

static CHECKED bool next_of_search(struct sweep_work *work, struct cell_row **next,
                                   struct error *error)
{
    FREE_AUTO struct shape *shape = memory_zeroed(1, sizeof *shape);

    for (size_t i = 0; i < work->count; i++) {
        if (work->cells[i].state != CELL_PENDING)
            continue;
        shape->count = 0;
        read_shape(work, &work->cells[i], shape);
        *next = next_of_shape(work, shape);
        if (*next != NULL)
            return true;
        if (!infer(work, shape, error))
            return false;
    }
    *next = NULL;
    return true;
}

bool sweep_search_next(struct sweep_work *work, struct cell_row **next, struct error *error)
{
    return work->plan.search == SEARCH_FULL ? next_in_order(work, next)
                                            : next_of_search(work, next, error);
}
