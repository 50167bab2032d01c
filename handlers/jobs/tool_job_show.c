/* SPDX-License-Identifier: Apache-2.0 */
/* job_show: shows a job's state, at once or after waiting for the job to end. */

#include <math.h>
#include <string.h>

#include "base/core/clock.h"
#include "handlers/answers/job_answer.h"
#include "handlers/answers/job_verdict.h"

#define SAFE_WAIT_S 50 /* clients that get no progress give up on a call after a minute */
#define REPORT_EVERY_MS 10000

static const struct param params[] = {
    PARAM_JOB,
    { "wait_s", VALUE_NUMBER, .low = 0, .high = 3600, .initial = "0",
      .help = "Seconds to wait for the end; at most 50 for clients without progress.",
      .more = "If a longer wait is cut off, use 50; the job continues." },
    { 0 },
};

static const struct field fields[] = {
    { "job", VALUE_OBJECT, .help = "The job as it is now.", .fields = job_answer_fields },
    { "over", VALUE_BOOLEAN, .help = "True: it has ended." },
    FIELDS_VERDICT,
    FIELD_NEXT_STEP,
    { 0 },
};

/* Clients are notified only when the progress rises, but while a job waits in line, only its
 * message changes. Therefore each report raises the progress a little. */
static void report_progress(struct call *call, const struct job *job, double *reported)
{
    *reported = job->progress > *reported ? job->progress : *reported + 0.001;
    call->progress(call, *reported, job->progress_total,
                   job->message[0] != '\0' ? job->message : job_state_name(job->state));
}

/* Returns how long the call may still wait. If the client gets no progress notifications, the call
 * waits for at most SAFE_WAIT_S. Otherwise it may wait longer, until another call needs its
 * thread. */
static int64_t left_ms(const struct call *call, int64_t since_ns)
{
    int64_t waited_ms = (clock_monotonic_ns() - since_ns) / 1000000;
    double wait_s = call_number(call, "wait_s", 0);

    if (!call->is_followed
        || (waited_ms >= SAFE_WAIT_S * 1000 && call->thread_is_wanted != NULL
            && call->thread_is_wanted(call->host)))
        wait_s = fmin(wait_s, SAFE_WAIT_S);
    return (int64_t)(wait_s * 1000) - waited_ms;
}

/* Reports progress while the call waits: at every change of the job, and every REPORT_EVERY_MS. */
static CHECKED bool wait_for_end(struct call *call, struct job *job, struct error *error)
{
    int64_t since_ns = clock_monotonic_ns(), rest_ms;
    double reported = 0;

    while (!job_is_over(job) && (rest_ms = left_ms(call, since_ns)) > 0) {
        struct job known = *job;

        report_progress(call, job, &reported);
        if (!job_pool_wait(call->services->jobs, job->id, &known,
                           rest_ms < REPORT_EVERY_MS ? rest_ms : REPORT_EVERY_MS, call->cancelled,
                           call->host, job, error))
            return false;
        if (call->cancelled(call->host))
            return error_set(error, ERROR_CANCELLED,
                             "the wait for %s was cancelled; the job itself continues", job->id);
    }
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    char id[ID_SIZE];
    struct job job;

    if (!job_answer_id(call, id, error) || !job_pool_show(call->services->jobs, id, &job, error)
        || !wait_for_end(call, &job, error))
        return false;
    answer->structured =
        json_pack("{s:o, s:b}", "job", job_answer_json(&job), "over", job_is_over(&job));
    job_answer_describe(&job, &answer->text);
    if (!job_verdict_add(call->services, &job, answer, error))
        return false;
    answer_next(answer, job_answer_next_step(&job));
    job_answer_shows(&job, answer);
    return true;
}

const struct tool tool_job_show = {
    .name = "job_show",
    .title = "Show a job, or wait for it",
    .help = "A job's state; after a sweep, where the server saturates. With wait_s it waits for "
            "the end: call again until it ends.",
    .more = "This is the way to wait for a sweep; progress is sent meanwhile. It shows state, "
            "progress, what the job is doing and its result; once a sweep is over, also its "
            "verdict, takeaways and report.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
