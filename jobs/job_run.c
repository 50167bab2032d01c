/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a running job calls to report its progress, to check whether it should stop,
 * and to wait. */

#include "base/core/clock.h"
#include "base/core/text.h"
#include "jobs/jobs_private.h"

static struct runner *runner_of(struct job_run *run)
{
    return (struct runner *)run; /* `run` is its first member */
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
    job_pool_moved(run->jobs, run->claim.job_id);
}

void job_run_waits_for_store(struct job_run *run, const struct error *reason)
{
    struct runner *runner = runner_of(run);
    TEXT_AUTO message = { 0 };

    text_addf(&message, "waiting for the store: %s", reason->message);
    pthread_mutex_lock(&run->jobs->lock);
    text_copy(runner->message, sizeof runner->message, message.data);
    pthread_mutex_unlock(&run->jobs->lock);
    job_pool_moved(run->jobs, run->claim.job_id);
}

/* The lock must be held. */
static enum job_stop stop_of(const struct runner *runner)
{
    if (runner->lost)
        return JOB_STOP_LOST;
    if (runner->cancel && !runner->undoes)
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

void job_run_undoes(struct job_run *run)
{
    pthread_mutex_lock(&run->jobs->lock);
    runner_of(run)->undoes = true;
    pthread_mutex_unlock(&run->jobs->lock);
}

enum job_stop job_run_wait(struct job_run *run, int64_t timeout_ms)
{
    struct job_pool *jobs = run->jobs;
    int64_t until_ns = clock_monotonic_ns() + timeout_ms * 1000000;
    enum job_stop stop;

    pthread_mutex_lock(&jobs->lock);
    while ((stop = stop_of(runner_of(run))) == JOB_STOP_NO && clock_monotonic_ns() < until_ns)
        job_pool_sleep(jobs, &jobs->changed, until_ns);
    pthread_mutex_unlock(&jobs->lock);
    return stop;
}
