/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/job_pool.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/core/thread.h"
#include "base/json/json.h"
#include "jobs/jobs_private.h"

#define NS_PER_MS 1000000LL

void job_pool_sleep(struct job_pool *jobs, pthread_cond_t *condition, int64_t until_ns)
{
    struct timespec at = { until_ns / (1000 * NS_PER_MS), until_ns % (1000 * NS_PER_MS) };

    pthread_cond_timedwait(condition, &jobs->lock, &at);
}

/* Returns the monotonic clock's time `ms` milliseconds from now. */
static int64_t deadline_ns(int64_t ms)
{
    return clock_monotonic_ns() + ms * NS_PER_MS;
}

static const struct job_kind *kind_of(const struct job_pool *jobs, const char *name)
{
    const struct job_kind *kind = jobs->kinds;

    while (strcmp(kind->name, name) != 0)
        kind++;
    return kind; /* only known kinds are claimed */
}

static void set_active(struct runner *runner, bool active)
{
    struct job_pool *jobs = runner->run.jobs;

    pthread_mutex_lock(&jobs->lock);
    runner->active = active;
    if (active) {
        runner->cancel = runner->run.job.cancel_requested_ms != 0;
        runner->lost = runner->asked = runner->undoes = false;
        runner->progress = runner->run.job.progress;
        runner->total = runner->run.job.progress_total;
        text_copy(runner->message, sizeof runner->message, runner->run.job.message);
    }
    pthread_mutex_unlock(&jobs->lock);
    job_pool_moved(jobs, runner->run.claim.job_id);
}

/* Returns the outcome of a failed job. The details of an internal error are written only to the
 * log. */
static char *failure_outcome(const char *job_id, const struct error *error)
{
    json_auto_t *outcome = NULL;

    if (error->kind == ERROR_INTERNAL) {
        log_error("job %s: %s", job_id, error->message);
        outcome = json_pack("{s:s}", "error", "internal error: see opsbrain's log");
    } else {
        outcome =
            json_pack("{s:s, s:s}", "error", error->message, "kind", error_kind_name(error->kind));
    }
    return outcome == NULL ? memory_copy_text("{\"error\":\"unknown\"}") : json_write(outcome);
}

static void read_beat(const struct runner *runner, struct job_beat *beat)
{
    *beat = (struct job_beat){ .claim = runner->run.claim,
                               .progress = runner->progress,
                               .progress_total = runner->total };
    text_copy(beat->message, sizeof beat->message, runner->message);
}

static CHECKED bool finish_job(const struct job_run *run, enum job_end end, const char *outcome,
                               struct error *error)
{
    static const enum job_state states[] = {
        [JOB_END_COMPLETED] = JOB_COMPLETED,
        [JOB_END_FAILED] = JOB_FAILED,
        [JOB_END_CANCELLED] = JOB_CANCELLED,
    };
    const struct job_ending ending = {
        .state = states[end],
        .outcome_json = outcome,
        .sweep_state = run->sweep_state[0] == '\0' ? NULL : run->sweep_state,
        .sweep_reason = run->sweep_state[0] == '\0' ? NULL : run->sweep_reason,
    };

    return job_finish(run->store, &run->claim, &ending, clock_utc_ms(), error);
}

/* Stores the last progress, which may be newer than the last heartbeat, and then how the run ended.
 */
static CHECKED bool store_end(struct runner *runner, struct job_beat *last, enum job_end end,
                              const char *outcome, struct error *error)
{
    struct job_pool *jobs = runner->run.jobs;

    pthread_mutex_lock(&jobs->beating);
    bool ok = job_heartbeat(jobs->store, last, 1, clock_utc_ms(), LEASE_MS, error);
    pthread_mutex_unlock(&jobs->beating);
    if (!ok)
        return false;
    if (end == JOB_END_YIELDED)
        return job_yield(jobs->store, &runner->run.claim, error);
    return finish_job(&runner->run, end, outcome, error);
}

static bool is_stopping(struct job_pool *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    bool stopping = jobs->stopping;
    pthread_mutex_unlock(&jobs->lock);
    return stopping;
}

/* Sleeps. Returns false if the pool is stopping. */
static bool pause_for(struct job_pool *jobs, int64_t ms)
{
    int64_t until_ns = deadline_ns(ms);

    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping && clock_monotonic_ns() < until_ns)
        job_pool_sleep(jobs, &jobs->changed, until_ns);
    bool stopping = jobs->stopping;
    pthread_mutex_unlock(&jobs->lock);
    return !stopping;
}

/* Stores how the run ended. If the store refuses the write, for example because the disk is full,
 * tries again until the pool stops (the next process then runs the job again). Returns false if the
 * end could not be stored, because the pool is stopping or the claim is stale (CONFLICT). */
static bool finish(struct runner *runner, enum job_end end, const char *outcome)
{
    struct job_pool *jobs = runner->run.jobs;
    struct error error = { 0 };
    struct job_beat last;
    bool is_logged = false;

    pthread_mutex_lock(&jobs->lock);
    read_beat(runner, &last);
    pthread_mutex_unlock(&jobs->lock);
    while (!store_end(runner, &last, end, outcome, &error)) {
        if (!is_logged)
            log_warning("cannot store how job %s ended: %s", last.claim.job_id, error.message);
        is_logged = true;
        if (error.kind == ERROR_CONFLICT)
            return false;
        job_run_waits_for_store(&runner->run, &error);
        if (!pause_for(jobs, POLL_MS))
            return false;
    }
    return true;
}

static CHECKED enum job_end run_kind(struct job_run *run, char **outcome, struct error *error)
{
    enum job_end end = kind_of(run->jobs, run->job.kind)->run(run, outcome, error);

    if (end >= JOB_END_COMPLETED && end <= JOB_END_YIELDED)
        return end;
    error_set(error, ERROR_INTERNAL,
              "the function for jobs of the kind %s returned an invalid value: %d", run->job.kind,
              (int)end);
    free(*outcome);
    *outcome = NULL;
    return JOB_END_FAILED;
}

/* Returns true if the next job should be claimed at once. Returns false if the job was returned to
 * the queue, because this thread would claim it again at once. But if the job asked a question,
 * returns true: the answer may have come before the job was back in the queue. */
static bool run_job(struct runner *runner)
{
    static const char *const verbs[] = {
        [JOB_END_COMPLETED] = "completed",
        [JOB_END_FAILED] = "failed",
        [JOB_END_CANCELLED] = "was cancelled",
        [JOB_END_YIELDED] = "was returned to the queue",
    };
    struct job_run *run = &runner->run;
    struct error error = { 0 };
    FREE_AUTO char *outcome = NULL;
    enum job_end end;

    log_info("job %s (%s %s) is running, claim %lld", run->job.id, run->job.kind, run->job.subject,
             (long long)run->claim.fence);
    set_active(runner, true);
    end = run_kind(run, &outcome, &error);
    if (job_run_stop(run) == JOB_STOP_LOST) {
        log_warning("job %s was taken over: its result is discarded", run->job.id);
    } else {
        if (end == JOB_END_FAILED && outcome == NULL)
            outcome = failure_outcome(run->job.id, &error);
        if (finish(runner, end, outcome))
            log_info("job %s %s", run->job.id, verbs[end]);
    }
    set_active(runner, false);
    if (end != JOB_END_YIELDED)
        job_pool_wake(run->jobs); /* other jobs may be waiting for its endpoints */
    return end != JOB_END_YIELDED || runner->asked;
}

static CHECKED bool claim_next(struct runner *runner, bool *found, struct error *error)
{
    struct job_pool *jobs = runner->run.jobs;
    struct job_run *run = &runner->run;

    if (!job_claim(jobs->store, jobs->owner, runner->kinds, clock_utc_ms(), LEASE_MS, &run->job,
                   found, error))
        return false;
    if (!*found)
        return true;
    text_copy(run->claim.job_id, sizeof run->claim.job_id, run->job.id);
    run->claim.fence = run->job.fence;
    run->sweep_state[0] = run->sweep_reason[0] = '\0';
    job_pool_lines_moved(jobs);
    return true;
}

/* Waits until there is new work, or until it is time to check again. Returns false if the pool is
 * stopping. */
static bool wait_for_work(struct job_pool *jobs, uint64_t *wakes_seen)
{
    int64_t until_ns = deadline_ns(POLL_MS);

    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping && jobs->wakes == *wakes_seen && clock_monotonic_ns() < until_ns)
        job_pool_sleep(jobs, &jobs->work, until_ns);
    *wakes_seen = jobs->wakes;
    bool stopping = jobs->stopping;
    pthread_mutex_unlock(&jobs->lock);
    return !stopping;
}

static void *runner_loop(void *context)
{
    struct runner *runner = context;
    struct job_pool *jobs = runner->run.jobs;
    uint64_t wakes_seen = 0;
    bool failed = false;

    while (!is_stopping(jobs)) {
        struct error error = { 0 };
        bool found = false, ok = claim_next(runner, &found, &error), more;

        if (!ok && !failed)
            log_error("cannot claim a job: %s", error.message);
        failed = !ok;
        more = found && run_job(runner);
        if (!more && !wait_for_work(jobs, &wakes_seen))
            break;
    }
    return NULL;
}

/* The lock must be held. */
static size_t read_beats(const struct job_pool *jobs, struct job_beat *beats,
                         struct runner **beat_runners)
{
    size_t count = 0;

    for (unsigned i = 0; i < jobs->runner_count; i++) {
        struct runner *runner = &jobs->runners[i];

        if (!runner->active || runner->lost)
            continue;
        beat_runners[count] = runner;
        read_beat(runner, &beats[count++]);
    }
    return count;
}

/* Notes which jobs were lost or cancelled. Skips a runner that has a different job by now. The lock
 * must be held. */
static void apply_beats(struct job_pool *jobs, const struct job_beat *beats,
                        struct runner **beat_runners, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct runner *runner = beat_runners[i];

        if (!runner->active || runner->run.claim.fence != beats[i].claim.fence
            || strcmp(runner->run.claim.job_id, beats[i].claim.job_id) != 0)
            continue;
        runner->lost = runner->lost || beats[i].stale;
        runner->cancel = runner->cancel || beats[i].cancel_requested;
    }
    pthread_cond_broadcast(&jobs->changed);
}

/* Once a second, sends a heartbeat for all running jobs in one transaction. */
static void *heartbeat_loop(void *context)
{
    struct job_pool *jobs = context;
    FREE_AUTO struct job_beat *beats = memory_zeroed(jobs->runner_count, sizeof *beats);
    FREE_AUTO struct runner **beat_runners =
        memory_zeroed(jobs->runner_count, sizeof *beat_runners);
    struct error error;
    bool failed = false;

    pthread_mutex_lock(&jobs->lock);
    while (!jobs->heartbeat_stopping) {
        pthread_mutex_unlock(&jobs->lock);
        pthread_mutex_lock(&jobs->beating);
        pthread_mutex_lock(&jobs->lock);
        size_t count = read_beats(jobs, beats, beat_runners);

        pthread_mutex_unlock(&jobs->lock);
        bool ok = job_heartbeat(jobs->store, beats, count, clock_utc_ms(), LEASE_MS, &error);
        pthread_mutex_unlock(&jobs->beating);
        if (!ok && !failed)
            log_error("cannot extend the leases of running jobs: %s", error.message);
        failed = !ok;
        pthread_mutex_lock(&jobs->lock);
        if (ok)
            apply_beats(jobs, beats, beat_runners, count);
        int64_t next_ns = deadline_ns(BEAT_MS);
        while (!jobs->heartbeat_stopping && clock_monotonic_ns() < next_ns)
            job_pool_sleep(jobs, &jobs->work, next_ns);
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

static void init_conditions(struct job_pool *jobs)
{
    pthread_mutex_init(&jobs->lock, NULL);
    pthread_mutex_init(&jobs->beating, NULL);
    thread_condition_init(&jobs->work);
    thread_condition_init(&jobs->changed);
}

static void list_kind_names(struct job_pool *jobs)
{
    size_t count = 0, at = 0;

    while (jobs->kinds[count].name != NULL)
        count++;
    jobs->kind_names = memory_zeroed(2 * count + 1, sizeof *jobs->kind_names);
    for (size_t i = 0; i < count; i++)
        if (jobs->kinds[i].threads == 0)
            jobs->kind_names[at++] = jobs->kinds[i].name;
    at++;
    for (size_t i = 0; i < count; i++) {
        if (jobs->kinds[i].threads == 0)
            continue;
        jobs->kind_names[at] = jobs->kinds[i].name;
        at += 2;
    }
}

/* The pool's shared runners come first, then those of each kind that has its own threads. */
static void make_runners(struct job_pool *jobs, unsigned threads)
{
    const char **kinds = jobs->kind_names;
    unsigned at = threads;

    jobs->runner_count = threads;
    for (const struct job_kind *kind = jobs->kinds; kind->name != NULL; kind++)
        jobs->runner_count += kind->threads;
    jobs->runners = memory_zeroed(jobs->runner_count, sizeof *jobs->runners);
    for (unsigned i = 0; i < threads; i++)
        jobs->runners[i].kinds = kinds;
    while (*kinds != NULL)
        kinds++;
    for (const struct job_kind *kind = jobs->kinds; kind->name != NULL; kind++) {
        for (unsigned i = 0; i < kind->threads; i++)
            jobs->runners[at++].kinds = kinds + 1;
        kinds += kind->threads > 0 ? 2 : 0;
    }
}

static CHECKED bool start_threads(struct job_pool *jobs, struct error *error)
{
    jobs->heartbeat_started = thread_start("heart", heartbeat_loop, jobs, &jobs->heartbeat, error);
    if (!jobs->heartbeat_started)
        return false;
    for (; jobs->runners_started < jobs->runner_count; jobs->runners_started++) {
        struct runner *runner = &jobs->runners[jobs->runners_started];

        if (!thread_start("job", runner_loop, runner, &runner->thread, error))
            return false;
    }
    return true;
}

bool job_pool_create(struct store *store, const struct job_kind *kinds, unsigned threads,
                     void *services, struct job_pool **out, struct error *error)
{
    struct job_pool *jobs = memory_zeroed(1, sizeof *jobs);

    jobs->store = store;
    jobs->kinds = kinds;
    jobs->services = services;
    random_id("own", jobs->owner);
    list_kind_names(jobs);
    make_runners(jobs, threads);
    for (unsigned i = 0; i < jobs->runner_count; i++)
        jobs->runners[i].run =
            (struct job_run){ .jobs = jobs, .store = store, .services = services };
    init_conditions(jobs);
    if (!job_orphans_release(store, jobs->owner, error) || !start_threads(jobs, error)) {
        job_pool_destroy(jobs, 0);
        return false;
    }
    *out = jobs;
    return true;
}

/* The lock must be held. */
static size_t active_count(const struct job_pool *jobs)
{
    size_t count = 0;

    for (unsigned i = 0; i < jobs->runner_count; i++)
        count += jobs->runners[i].active;
    return count;
}

static void wait_for_runs(struct job_pool *jobs, int64_t timeout_ms)
{
    int64_t until_ns = deadline_ns(timeout_ms);

    pthread_mutex_lock(&jobs->lock);
    jobs->stopping = true;
    pthread_cond_broadcast(&jobs->work);
    pthread_cond_broadcast(&jobs->changed);
    while (active_count(jobs) > 0 && clock_monotonic_ns() < until_ns)
        job_pool_sleep(jobs, &jobs->changed, until_ns);
    for (unsigned i = 0; i < jobs->runner_count; i++)
        if (jobs->runners[i].active)
            log_warning("job %s has not stopped yet: still waiting for it",
                        jobs->runners[i].run.claim.job_id);
    pthread_mutex_unlock(&jobs->lock);
}

void job_pool_destroy(struct job_pool *jobs, int64_t timeout_ms)
{
    if (jobs == NULL)
        return;
    wait_for_runs(jobs, timeout_ms);
    for (unsigned i = 0; i < jobs->runners_started; i++)
        pthread_join(jobs->runners[i].thread, NULL);
    pthread_mutex_lock(&jobs->lock);
    jobs->heartbeat_stopping = true;
    pthread_cond_broadcast(&jobs->work);
    pthread_mutex_unlock(&jobs->lock);
    if (jobs->heartbeat_started)
        pthread_join(jobs->heartbeat, NULL);
    pthread_cond_destroy(&jobs->work);
    pthread_cond_destroy(&jobs->changed);
    pthread_mutex_destroy(&jobs->beating);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs->kind_names);
    free(jobs->runners);
    free(jobs);
}

void job_pool_wake(struct job_pool *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->wakes++;
    pthread_cond_broadcast(&jobs->work);
    pthread_mutex_unlock(&jobs->lock);
}

size_t job_pool_running(struct job_pool *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    size_t count = active_count(jobs);
    pthread_mutex_unlock(&jobs->lock);
    return count;
}
