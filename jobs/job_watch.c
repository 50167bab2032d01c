/* SPDX-License-Identifier: Apache-2.0 */
/* The functions with which callers show jobs, wait for them, cancel them and listen to their
 * changes. */
#include <string.h>

#include "base/core/clock.h"
#include "base/core/text.h"
#include "jobs/jobs_private.h"

#define POLL_NS 1000000000          /* the stored row is checked at least this often */
#define CANCELLED_POLL_NS 150000000 /* `cancelled` is called at least this often */

void job_pool_moved(struct job_pool *jobs, const char *job_id)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->moves++;
    pthread_cond_broadcast(&jobs->changed);
    void (*listener)(void *, const char *) = jobs->listener;
    void *context = jobs->listener_context;
    pthread_mutex_unlock(&jobs->lock);
    if (listener != NULL)
        listener(context, job_id);
}

void job_pool_listen(struct job_pool *jobs, void (*moved)(void *context, const char *job_id),
                     void *context)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->listener = moved;
    jobs->listener_context = context;
    pthread_mutex_unlock(&jobs->lock);
}

/* Returns NULL if the job is not running in this process. The lock must be held. */
static struct runner *runner_at(struct job_pool *jobs, const char *id)
{
    for (unsigned i = 0; i < jobs->runner_count; i++)
        if (jobs->runners[i].active && strcmp(jobs->runners[i].run.claim.job_id, id) == 0)
            return &jobs->runners[i];
    return NULL;
}

/* Fills in what is not stored: the newest progress of a running job, or a queued job's place in
 * line. */
static void add_current(struct job_pool *jobs, struct job *job)
{
    if (job->state == JOB_QUEUED)
        queue_notice_describe(jobs->store, job);
    if (job->state != JOB_RUNNING)
        return;
    pthread_mutex_lock(&jobs->lock);
    const struct runner *runner = runner_at(jobs, job->id);
    if (runner != NULL) {
        job->progress = runner->progress;
        job->progress_total = runner->total;
        text_copy(job->message, sizeof job->message, runner->message);
    }
    pthread_mutex_unlock(&jobs->lock);
}

bool job_pool_show(struct job_pool *jobs, const char *id, struct job *out, struct error *error)
{
    if (!job_find(jobs->store, id, out, error))
        return false;
    add_current(jobs, out);
    return true;
}

bool job_pool_list(struct job_pool *jobs, const struct job_filter *filter, size_t limit,
                   struct job **out, size_t *count, struct error *error)
{
    if (!job_list(jobs->store, filter, limit, out, count, error))
        return false;
    for (size_t i = 0; i < *count; i++)
        add_current(jobs, &(*out)[i]);
    return true;
}

static bool differs(const struct job *a, const struct job *b)
{
    return a->state != b->state || a->progress < b->progress || a->progress > b->progress
           || strcmp(a->message, b->message) != 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct watch {
    struct job_pool *jobs;
    bool (*cancelled)(void *context);
    void *context;
    int64_t until_ns;
    uint64_t moves; /* the pool's `moves` at the last check */
};

/* Waits until a job has changed or it is time to check again. Returns false if the time is up, or
 * the caller has cancelled. */
static bool sleep_until_moved(const struct watch *watch)
{
    struct job_pool *jobs = watch->jobs;
    int64_t poll_ns = clock_monotonic_ns() + POLL_NS;
    bool moved = false;

    while (!moved) {
        int64_t now_ns = clock_monotonic_ns();
        int64_t wake_ns = earlier(poll_ns, watch->until_ns);

        if (now_ns >= watch->until_ns
            || (watch->cancelled != NULL && watch->cancelled(watch->context)))
            return false;
        if (now_ns >= poll_ns)
            return true;
        if (watch->cancelled != NULL)
            wake_ns = earlier(wake_ns, now_ns + CANCELLED_POLL_NS);
        pthread_mutex_lock(&jobs->lock);
        if (jobs->moves == watch->moves)
            job_pool_sleep(jobs, &jobs->changed, wake_ns);
        moved = jobs->moves != watch->moves;
        pthread_mutex_unlock(&jobs->lock);
    }
    return true;
}

bool job_pool_wait(struct job_pool *jobs, const char *id, const struct job *seen,
                   int64_t timeout_ms, bool (*cancelled)(void *context), void *context,
                   struct job *out, struct error *error)
{
    struct watch watch = { jobs, cancelled, context, clock_monotonic_ns() + timeout_ms * 1000000,
                           0 };
    struct job before = *seen; /* `out` may be the same object */

    do {
        pthread_mutex_lock(&jobs->lock);
        watch.moves = jobs->moves;
        pthread_mutex_unlock(&jobs->lock);
        if (!job_pool_show(jobs, id, out, error))
            return false;
    } while (!differs(out, &before) && sleep_until_moved(&watch));
    return true;
}

bool job_pool_cancel(struct job_pool *jobs, const char *id, struct change *change, struct job *out,
                     struct error *error)
{
    if (!job_cancel(jobs->store, id, clock_utc_ms(), change, out, error))
        return false;
    pthread_mutex_lock(&jobs->lock);
    struct runner *runner = runner_at(jobs, id);
    if (runner != NULL)
        runner->cancel = true;
    pthread_mutex_unlock(&jobs->lock);
    add_current(jobs, out);
    job_pool_moved(jobs, id);
    if (out->state != JOB_CANCELLED)
        return true;
    job_pool_wake(jobs); /* other jobs may be waiting for its endpoints */
    job_pool_lines_moved(jobs);
    return true;
}
