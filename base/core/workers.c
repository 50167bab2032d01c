/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/core/memory.h"
#include "base/core/thread.h"

struct work {
    void (*run)(void *context);
    void *context;
};

struct worker {
    struct workers *workers;
    pthread_t thread;
    pthread_cond_t woken;
    struct worker *next; /* the next idle worker */
    struct work work;    /* what it was given while it was idle; `run` is NULL: nothing */
};

/* Work goes to the thread that became idle last, so that only a few threads run while the load is
 * low: each thread that runs keeps a stack and a malloc cache resident. */
struct workers {
    pthread_mutex_t lock;
    bool closing;
    struct work *queue; /* a ring buffer */
    size_t limit, first, queued;
    struct worker *threads, *idle;
    unsigned started;
    int niceness;
    char name[16];
};

/* The lock must be held. */
static struct work dequeue(struct workers *workers)
{
    struct work work = workers->queue[workers->first];

    workers->first = (workers->first + 1) % workers->limit;
    workers->queued--;
    return work;
}

/* Waits until the worker is given work, or the pool is closing. The lock must be held. */
static struct work wait_idle(struct worker *worker)
{
    struct workers *workers = worker->workers;
    struct work work;

    worker->next = workers->idle;
    workers->idle = worker;
    while (worker->work.run == NULL && !workers->closing)
        pthread_cond_wait(&worker->woken, &workers->lock);
    work = worker->work;
    worker->work.run = NULL;
    return work;
}

/* Waits for work. Returns false if none is left and the pool is closing. */
static bool next_work(struct worker *worker, struct work *out)
{
    struct workers *workers = worker->workers;

    pthread_mutex_lock(&workers->lock);
    *out = workers->queued > 0 ? dequeue(workers) : wait_idle(worker);
    pthread_mutex_unlock(&workers->lock);
    return out->run != NULL;
}

static void *run_thread(void *context)
{
    struct worker *worker = context;
    struct work work;

    /* On Linux this applies to the calling thread only: see sched(7). */
    setpriority(PRIO_PROCESS, 0, worker->workers->niceness);
    while (next_work(worker, &work))
        work.run(work.context);
    return NULL;
}

bool workers_create(const char *name, unsigned threads, size_t queue_limit, int niceness,
                    struct workers **out, struct error *error)
{
    struct workers *workers = memory_zeroed(1, sizeof *workers);

    pthread_mutex_init(&workers->lock, NULL);
    workers->niceness = niceness;
    workers->limit = queue_limit > 0 ? queue_limit : 1;
    workers->queue = memory_zeroed(workers->limit, sizeof *workers->queue);
    workers->threads = memory_zeroed(threads, sizeof *workers->threads);
    snprintf(workers->name, sizeof workers->name, "%.11s", name);
    for (; workers->started < threads; workers->started++) {
        struct worker *worker = &workers->threads[workers->started];

        worker->workers = workers;
        pthread_cond_init(&worker->woken, NULL);
        if (!thread_start(workers->name, run_thread, worker, &worker->thread, error)) {
            workers_destroy(workers);
            return false;
        }
    }
    *out = workers;
    return true;
}

/* Gives the work to an idle worker; returns false if there is none. The lock must be held. */
static bool hand_over(struct workers *workers, struct work work)
{
    struct worker *worker = workers->idle;

    if (worker == NULL)
        return false;
    workers->idle = worker->next;
    worker->work = work;
    pthread_cond_signal(&worker->woken);
    return true;
}

/* Returns false if the queue is full. The lock must be held. */
static bool enqueue(struct workers *workers, struct work work)
{
    if (workers->queued >= workers->limit)
        return false;
    workers->queue[(workers->first + workers->queued++) % workers->limit] = work;
    return true;
}

bool workers_submit(struct workers *workers, void (*run)(void *context), void *context,
                    struct error *error)
{
    struct work work = { .run = run, .context = context };
    bool accepted;

    pthread_mutex_lock(&workers->lock);
    accepted = hand_over(workers, work) || enqueue(workers, work);
    pthread_mutex_unlock(&workers->lock);
    return accepted
           || error_set(error, ERROR_BUSY,
                        "busy: the queue \"%s\" is full (calls waiting: %zu); try again later",
                        workers->name, workers->limit);
}

size_t workers_queued(struct workers *workers)
{
    size_t queued;

    pthread_mutex_lock(&workers->lock);
    queued = workers->queued;
    pthread_mutex_unlock(&workers->lock);
    return queued;
}

void workers_destroy(struct workers *workers)
{
    if (workers == NULL)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->closing = true;
    for (struct worker *worker = workers->idle; worker != NULL; worker = worker->next)
        pthread_cond_signal(&worker->woken);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->started; i++) {
        pthread_join(workers->threads[i].thread, NULL);
        pthread_cond_destroy(&workers->threads[i].woken);
    }
    pthread_mutex_destroy(&workers->lock);
    free(workers->threads);
    free(workers->queue);
    free(workers);
}
