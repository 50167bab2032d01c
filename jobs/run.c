/* What a running job can do: tell its progress, ask whether to stop, stand in line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "jobs/private.h"

static struct runner *runner_of(struct job_run *run)
{
    return (struct runner *)run; /* its first member */
}

static const struct runner *runner_of_const(const struct job_run *run)
{
    return (const struct runner *)run;
}

void job_run_progress(struct job_run *run, double progress, double total, const char *message)
{
    struct runner *runner = runner_of(run);

    pthread_mutex_lock(&run->jobs->lock);
    runner->progress = progress;
    runner->total = total;
    if (message != NULL)
        text_copy(runner->message, sizeof runner->message, message);
    pthread_mutex_unlock(&run->jobs->lock);
    jobs_moved(run->jobs, run->claim.job_id);
}

/* With the lock held. */
static enum job_stop stop_of(const struct runner *runner)
{
    if (runner->lost)
        return JOB_STOP_LOST;
    if (runner->cancel)
        return JOB_STOP_CANCEL;
    return runner->asked || runner->run.jobs->stopping ? JOB_STOP_YIELD : JOB_STOP_NO;
}

enum job_stop job_run_stop(const struct job_run *run)
{
    pthread_mutex_lock(&run->jobs->lock);
    enum job_stop stop = stop_of(runner_of_const(run));
    pthread_mutex_unlock(&run->jobs->lock);
    return stop;
}

/* Until the run should stop, the time is over or, where `ends` is given, another job ended since.
 */
static enum job_stop wait_on(struct job_run *run, int64_t timeout_ms, const uint64_t *ends)
{
    struct jobs *jobs = run->jobs;
    int64_t until_ns = clock_monotonic_ns() + timeout_ms * 1000000;
    enum job_stop stop;

    pthread_mutex_lock(&jobs->lock);
    while ((stop = stop_of(runner_of(run))) == JOB_STOP_NO && (ends == NULL || jobs->ends == *ends)
           && clock_monotonic_ns() < until_ns)
        jobs_sleep(jobs, &jobs->changed, until_ns);
    pthread_mutex_unlock(&jobs->lock);
    return stop;
}

enum job_stop job_run_wait(struct job_run *run, int64_t timeout_ms)
{
    return wait_on(run, timeout_ms, NULL);
}

/* How many stand in line before us; 0: we are next. */
static size_t count_before(struct job_run *run, const char *endpoint)
{
    struct endpoint_lease *rows;
    struct error ignored;
    size_t count, before = 0;

    if (!endpoint_list(run->store, &rows, &count, &ignored))
        return 0;
    for (size_t i = 0; i < count && strcmp(rows[i].job_id, run->claim.job_id) != 0; i++)
        before += strcmp(rows[i].endpoint, endpoint) == 0 && rows[i].granted_ms == 0;
    free(rows);
    return before;
}

static const char *ordinal_ending(size_t number)
{
    static const char *const endings[] = { "th", "st", "nd", "rd" };

    return number % 10 < 4 && number / 10 % 10 != 1 ? endings[number % 10] : endings[0];
}

/* "waiting for endpoint H: held by alice for swp_1 since 03:12:44Z; 2nd in line" */
static void tell_holder(struct job_run *run, const char *endpoint,
                        const struct endpoint_lease *holder)
{
    struct runner *runner = runner_of(run);
    size_t place = count_before(run, endpoint) + 1;
    char message[sizeof runner->message], when[CLOCK_TEXT_SIZE];
    double progress, total;
    bool changed;

    clock_format_utc(holder->granted_ms, when);
    if (holder->granted_ms == 0)
        snprintf(message, sizeof message,
                 "waiting for endpoint %.80s: %.40s is first in line for %.60s", endpoint,
                 holder->principal, holder->purpose);
    else
        snprintf(message, sizeof message,
                 "waiting for endpoint %.80s: held by %.40s for %.60s since %.8sZ; %zu%s in line",
                 endpoint, holder->principal, holder->purpose, when + strlen("2026-11-21T"), place,
                 ordinal_ending(place));
    pthread_mutex_lock(&run->jobs->lock);
    changed = strcmp(message, runner->message) != 0;
    progress = runner->progress;
    total = runner->total;
    pthread_mutex_unlock(&run->jobs->lock);
    if (changed)
        job_run_progress(run, progress, total, message);
}

static bool stopped(const struct job_run *run, enum job_stop stop, const char *endpoint,
                    struct error *error)
{
    if (stop == JOB_STOP_LOST)
        return error_set(error, ERROR_CONFLICT, "job %s was taken over by another worker",
                         run->claim.job_id);
    return error_set(error, ERROR_CANCELLED, "stopped while waiting for endpoint %s", endpoint);
}

bool place_take(struct runner *runner)
{
    struct jobs *jobs = runner->run.jobs;

    pthread_mutex_lock(&jobs->lock);
    runner->placed = jobs->taken + jobs->returning < jobs->places;
    jobs->taken += runner->placed;
    pthread_mutex_unlock(&jobs->lock);
    return runner->placed;
}

void place_give(struct runner *runner)
{
    struct jobs *jobs = runner->run.jobs;

    pthread_mutex_lock(&jobs->lock);
    jobs->taken -= runner->placed;
    runner->placed = false;
    pthread_cond_broadcast(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
}

/* After the line: before any new job, unless the run should stop. */
static void place_return(struct runner *runner)
{
    struct jobs *jobs = runner->run.jobs;

    pthread_mutex_lock(&jobs->lock);
    jobs->returning++;
    while (jobs->taken == jobs->places && stop_of(runner) == JOB_STOP_NO)
        jobs_sleep(jobs, &jobs->changed, clock_monotonic_ns() + LINE_POLL_MS * 1000000LL);
    jobs->returning--;
    runner->placed = jobs->taken < jobs->places;
    jobs->taken += runner->placed;
    pthread_mutex_unlock(&jobs->lock);
}

/* Who stands in line does not keep those from work who need another endpoint. */
static void make_room(struct runner *runner)
{
    if (!runner->placed)
        return;
    place_give(runner);
    jobs_kick(runner->run.jobs);
}

bool job_run_acquire(struct job_run *run, const char *endpoint, const char *purpose,
                     struct error *error)
{
    struct jobs *jobs = run->jobs;

    for (;;) {
        struct endpoint_lease holder;
        bool granted;

        pthread_mutex_lock(&jobs->lock);
        uint64_t ends = jobs->ends;
        enum job_stop stop = stop_of(runner_of(run));
        pthread_mutex_unlock(&jobs->lock);
        if (stop != JOB_STOP_NO)
            return stopped(run, stop, endpoint, error);
        if (!endpoint_acquire(run->store, &run->claim, endpoint, run->job.principal, purpose,
                              clock_utc_ms(), LEASE_MS, &granted, &holder, error))
            return false;
        if (granted)
            break;
        tell_holder(run, endpoint, &holder);
        make_room(runner_of(run));
        wait_on(run, LINE_POLL_MS, &ends);
    }
    if (!runner_of(run)->placed)
        place_return(runner_of(run));
    return true;
}
