/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cells of a sweep one by one, and stores the attempts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/digest.h"
#include "base/core/log.h"
#include "base/core/text.h"
#include "bench/cell/cell.h"
#include "bench/sweep/attempt_outcome.h"
#include "bench/sweep/sweep_private.h"

/* The sweep stops after this many cells in a row have failed on one deployment. */
#define FAILED_CELLS_LIMIT 3
/* Before a lost cell is measured again, the sweep pauses for the length of a window, but at most
 * for this long. */
#define LONGEST_PAUSE_S 10.0

/* ---- Stopping -------------------------------------------------------------------------------- */

static bool is_out_of_time(const struct sweep_work *work)
{
    return sweep_elapsed_s(work) >= work->plan.time_limit_s;
}

static void stop_at_time_limit(struct sweep_work *work)
{
    snprintf(work->stopped, sizeof work->stopped,
             "the time limit of %.0f s passed; sweep_resume measures the remaining cells",
             work->plan.time_limit_s);
}

static bool cell_is_stopped(void *context, const char *doing, double elapsed_s)
{
    struct sweep_work *work = context;

    sweep_progress_report(work, doing, elapsed_s);
    return job_run_stop(work->run) != JOB_STOP_NO || is_out_of_time(work);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static struct subject *subject_of(struct sweep_work *work, const struct cell_row *cell)
{
    for (size_t i = 1; i < work->subject_count; i++)
        if (work->subjects[i].deployment.id == cell->deployment_id)
            return &work->subjects[i];
    return &work->subjects[0];
}

static bool has_same_lengths_and_deployment(const struct cell_row *a, const struct cell_row *b)
{
    return a->deployment_id == b->deployment_id && a->input_tokens == b->input_tokens
           && a->output_tokens == b->output_tokens;
}

/* The last cell, in the plan's order, that has this state and the same deployment and lengths as
 * the current cell; NULL if there is none. */
static const struct cell_row *find_sibling(const struct sweep_work *work, enum cell_state state)
{
    for (size_t i = work->count; i > 0; i--)
        if (work->cells[i - 1].state == state
            && has_same_lengths_and_deployment(&work->cells[i - 1], work->current))
            return &work->cells[i - 1];
    return NULL;
}

static double load_of(const struct cell_row *cell)
{
    return cell->request_rate > 0 ? cell->request_rate : (double)cell->concurrency;
}

/* Whether `load` is better than `other` for an estimate at the load `at`. The best one is the
 * largest load that is not above `at` or, if all are above `at`, the smallest. */
static bool is_nearer(double at, double load, double other)
{
    if (load <= at)
        return other > at || load >= other;
    return load < other && other > at;
}

/* Estimates how many seconds a request takes: the mean of the measured cell that has the current
 * cell's deployment and lengths, and the nearest load (is_nearer). 0 if there is no such cell. */
static double expected_e2e_s(const struct sweep_work *work)
{
    const struct cell_row *nearest = NULL;

    for (size_t i = 0; i < work->count; i++) {
        const struct cell_row *cell = &work->cells[i];

        if (cell->state == CELL_MEASURED && has_same_lengths_and_deployment(cell, work->current)
            && (nearest == NULL
                || is_nearer(load_of(work->current), load_of(cell), load_of(nearest))))
            nearest = cell;
    }
    return nearest == NULL ? 0 : nearest->measurement.latency[METRIC_E2E].mean_ms / 1e3;
}

static uint64_t nonce_of(const struct sweep_work *work, int64_t attempt_id)
{
    char name[128];
    uint8_t digest[DIGEST_BYTES];
    uint64_t nonce;
    int length = snprintf(name, sizeof name, "%s attempt %" PRId64, work->row.id, attempt_id);

    digest_sha256(name, (size_t)length, digest);
    memcpy(&nonce, digest, sizeof nonce);
    return nonce;
}

static bool monitor_is_stopped(void *context, const char *doing)
{
    return cell_is_stopped(context, doing, 0);
}

static void *begin_monitor(struct sweep_work *work)
{
    const struct sweep_host *host = work->sweep->host;
    const struct subject *subject = subject_of(work, work->current);
    const struct monitor_watch watch = { monitor_is_stopped, work };

    if (host->monitor_begin == NULL)
        return NULL;
    return host->monitor_begin(host->context, &subject->deployment, &subject->endpoint, &watch);
}

/* `has_result` is false if the attempt was stopped: then nothing is compared. */
static void end_monitor(struct sweep_work *work, void *monitor, bool has_result,
                        struct cell_result *result, struct cross_check *cross_check)
{
    const struct sweep_host *host = work->sweep->host;

    if (host->monitor_end == NULL)
        return;
    host->monitor_end(host->context, monitor, has_result ? result : NULL, cross_check);
    result->witness_json = cross_check->json;
    result->series = cross_check->series;
    result->series_length = cross_check->series_length;
    result->series_scrapes = cross_check->series_scrapes;
    if (has_result)
        attempt_outcome_judge(work, subject_of(work, work->current), cross_check, result);
}

/* Whether a cell has already been measured or has failed on the current cell's server. Both
 * deployments may have the same server. */
static bool has_used_server(struct sweep_work *work)
{
    const char *server = subject_of(work, work->current)->server;

    for (size_t i = 0; i < work->count; i++) {
        const struct cell_row *cell = &work->cells[i];

        if ((cell->state == CELL_MEASURED || cell->state == CELL_FAILED)
            && strcmp(subject_of(work, cell)->server, server) == 0)
            return true;
    }
    return false;
}

/* The smallest known context length of all deployments, in tokens, so that the same lengths are
 * drawn for all of them; 0 if no context length is known. */
static int64_t least_context(const struct sweep_work *work)
{
    int64_t least = 0;

    for (size_t i = 0; i < work->subject_count; i++) {
        int64_t context = work->subjects[i].facts.context_tokens;

        if (context > 0 && (least == 0 || context < least))
            least = context;
    }
    return least;
}

/* The largest overhead of all deployments, and the longest of their shortest possible prompts, so
 * that the same lengths are drawn for all of them. */
static struct workload_room widest_room(const struct sweep_work *work)
{
    struct workload_room room = { 0 };

    for (size_t i = 0; i < work->subject_count; i++)
        workload_room_widen(&room, &work->subjects[i].workload);
    return room;
}

static CHECKED bool measure(struct sweep_work *work, int64_t attempt_id, struct cell_result *out,
                            struct cross_check *cross_check, struct error *error)
{
    const struct cell_row *cell = work->current;
    const struct cell_row *sibling = find_sibling(work, CELL_MEASURED);
    struct subject *subject = subject_of(work, cell);
    const struct cell_order order = {
        .endpoint = &subject->endpoint,
        .workload = &subject->workload,
        .plan = &work->plan,
        .concurrency = cell->concurrency,
        .input_tokens = cell->input_tokens,
        .output_tokens = cell->output_tokens,
        .request_rate = cell->request_rate,
        .repetition = cell->repetition,
        .context_tokens = least_context(work),
        .room = widest_room(work),
        .dataset = work->dataset.count > 0 ? &work->dataset : NULL,
        .dataset_sent = has_used_server(work) || work->rejected > 0 || cell->attempts > 0
                        || work->lost[0] != '\0',
        .nonce = nonce_of(work, attempt_id),
        .probe = sibling == NULL || subject->failed_in_a_row > 0 || work->rejected > 0
                 || work->lost[0] != '\0',
        .shards = work->sweep->shards,
        .ceiling_chunks_s = work->ceiling.chunks_per_s,
        .expected_e2e_s = expected_e2e_s(work),
        .reuse = &subject->reuse,
        .stopped = cell_is_stopped,
        .context = work,
    };
    void *monitor = begin_monitor(work);
    bool done = cell_measure(&order, out, error);

    end_monitor(work, monitor, done, out, cross_check);
    if (done)
        attempt_outcome_judge_evenness(work, cross_check, out);
    return done;
}

/* Requests that are infeasible because of their lengths are infeasible at any load, so this copies
 * the result of an infeasible cell with the same deployment and lengths. Returns false if there is
 * no such cell. */
static bool copy_infeasible(const struct sweep_work *work, struct cell_result *out)
{
    const struct cell_row *sibling = find_sibling(work, CELL_INFEASIBLE);

    if (sibling == NULL)
        return false;
    out->state = CELL_INFEASIBLE;
    text_copy(out->reason, sizeof out->reason, sibling->reason);
    return true;
}

static void describe_loss(const struct cell_result *result, char *out, size_t size)
{
    const struct measurement *measurement = &result->measurement;

    snprintf(out, size, "%" PRId64 " of %" PRId64 " requests failed, for example with: %.100s",
             measurement->attempted - measurement->succeeded, measurement->attempted,
             result->reason[0] != '\0' ? result->reason : measurement->first_error);
}

/* A search draws conclusions about other levels from a lost one. So a level that may have been lost
 * for a temporary reason is measured once more, and the cell's reason mentions both attempts. */
static void repeat_if_doubtful(struct sweep_work *work, struct cell_result *result)
{
    TEXT_AUTO reason = { 0 };

    if (result->state == CELL_PENDING)
        return;
    if (work->lost[0] != '\0') {
        text_addf(&reason, "%s%smeasured again after %s", result->reason,
                  result->reason[0] != '\0' ? "; " : "", work->lost);
    } else if (sweep_search_doubts(work, result)) {
        describe_loss(result, work->lost, sizeof work->lost);
        result->state = CELL_PENDING;
        text_addf(&reason, "measured again: %s", work->lost);
    }
    if (reason.length > 0)
        text_copy(result->reason, sizeof result->reason, reason.data);
}

static void note_result(struct sweep_work *work, const struct cell_result *result)
{
    struct cell_row *cell = work->current;
    struct subject *subject = subject_of(work, cell);

    if (result->state == CELL_PENDING) /* the attempt does not count */
        return;
    cell->state = result->state;
    cell->measurement = result->measurement;
    text_copy(cell->reason, sizeof cell->reason, result->reason);
    work->done++;
    subject->failed_in_a_row = result->state == CELL_FAILED ? subject->failed_in_a_row + 1 : 0;
    if (subject->failed_in_a_row < FAILED_CELLS_LIMIT)
        return;
    work->ends_failed = true;
    snprintf(work->stopped, sizeof work->stopped,
             "%d cells in a row failed on %s, the last with %.60s%s", subject->failed_in_a_row,
             subject->deployment.name, cell->reason,
             work->done < work->count
                 ? "; sweep_resume with retry_failed continues, and measures the failed cells of "
                   "unfinished runs again"
                 : "");
}

static CHECKED bool store_result(struct sweep_work *work, int64_t attempt_id,
                                 const struct cell_result *result, struct error *error)
{
    struct job_run *run = work->run;

    while (!attempt_end(run->store, &run->claim, attempt_id, result, clock_utc_ms(), error))
        if (!sweep_wait_for_store(work, error))
            return false;
    note_result(work, result);
    return true;
}

static const char *why_interrupted(const struct sweep_work *work)
{
    switch (job_run_stop(work->run)) {
    case JOB_STOP_CANCEL:
        return "cancelled";
    case JOB_STOP_YIELD:
        return "opsbrain was shut down";
    case JOB_STOP_NO:
    case JOB_STOP_LOST:
        break;
    }
    return work->stopped;
}

/* Measures the current cell and stores the result. If the attempt was stopped or could not be made,
 * stores it as interrupted and returns false; also returns false if the store failed. */
static CHECKED bool attempt(struct sweep_work *work, int64_t attempt_id, struct error *error)
{
    struct cell_result result = { 0 };
    struct job_run *run = work->run;
    struct error problem;
    CROSS_CHECK_AUTO cross_check = { 0 };
    bool done;

    done = sweep_resolve(work, subject_of(work, work->current), error)
           && (copy_infeasible(work, &result)
               || measure(work, attempt_id, &result, &cross_check, error));
    if (done)
        repeat_if_doubtful(work, &result);
    else if (error->kind == ERROR_CANCELLED && job_run_stop(run) == JOB_STOP_NO)
        stop_at_time_limit(work);
    if (done)
        done = store_result(work, attempt_id, &result, error);
    else if (!attempt_interrupt(run->store, &run->claim, attempt_id,
                                error->kind == ERROR_CANCELLED ? why_interrupted(work)
                                                               : error->message,
                                clock_utc_ms(), &problem))
        log_warning("an interrupted attempt could not be recorded as interrupted: %s",
                    problem.message);
    cell_result_finish(&result);
    return done;
}

static CHECKED bool run_attempt(struct sweep_work *work, struct error *error)
{
    struct job_run *run = work->run;
    int64_t attempt_id;

    while (!attempt_begin(run->store, &run->claim, work->current->id, clock_utc_ms(), &attempt_id,
                          error))
        if (!sweep_wait_for_store(work, error))
            return false;
    return attempt(work, attempt_id, error);
}

static bool should_end(struct sweep_work *work)
{
    return sweep_is_stopped(work) || is_out_of_time(work) || work->stopped[0] != '\0';
}

/* Whether to measure the cell again, because its latest attempt does not count. After a lost
 * attempt this waits first, because the server may need a moment to recover. */
static bool should_repeat(struct sweep_work *work, const struct cell_row *cell)
{
    if (cell->state == CELL_PENDING && work->lost[0] != '\0' && !should_end(work))
        job_run_wait(work->run, (int64_t)(1e3 * fmin(work->plan.window_s, LONGEST_PAUSE_S)));
    return cell->state == CELL_PENDING && !should_end(work);
}

static CHECKED bool run_cell(struct sweep_work *work, struct cell_row *cell, struct error *error)
{
    int64_t begun_ns = clock_monotonic_ns();

    work->current = cell;
    work->rejected = 0;
    work->lost[0] = '\0';
    do
        if (!run_attempt(work, error))
            return false;
    while (should_repeat(work, cell));
    if (cell->state == CELL_MEASURED) {
        work->cells_s += (double)(clock_monotonic_ns() - begun_ns) / 1e9;
        work->cells_run++;
    }
    return true;
}

bool sweep_cells_run(struct sweep_work *work, struct error *error)
{
    struct cell_row *next = NULL;

    while (!sweep_is_stopped(work) && work->stopped[0] == '\0') {
        if (!sweep_search_next(work, &next, error))
            return false;
        if (next == NULL)
            return true;
        if (is_out_of_time(work)) {
            stop_at_time_limit(work);
            return true;
        }
        if (!run_cell(work, next, error))
            return error->kind == ERROR_CANCELLED;
    }
    return true;
}
