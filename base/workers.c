#include "base/workers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

struct work {
    void (*run)(void *context);
    void *context;
};

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closing;
    struct work *queue; /* a ring */
    size_t limit, first, queued;
    pthread_t *threads;
    unsigned started;
    char name[16];
};

/* Waits for work; false when there is none left and the pool closes. */
static bool take(struct workers *workers, struct work *out)
{
    bool found;

    pthread_mutex_lock(&workers->lock);
    while (workers->queued == 0 && !workers->closing)
        pthread_cond_wait(&workers->changed, &workers->lock);
    found = workers->queued > 0;
    if (found) {
        *out = workers->queue[workers->first];
        workers->first = (workers->first + 1) % workers->limit;
        workers->queued--;
    }
    pthread_mutex_unlock(&workers->lock);
    return found;
}

static void *run_thread(void *context)
{
    struct workers *workers = context;
    struct work work;

    pthread_setname_np(pthread_self(), workers->name);
    while (take(workers, &work))
        work.run(work.context);
    return NULL;
}

/* Signals are the main thread's: a new thread inherits the mask it is made under. */
static int start_thread(struct workers *workers)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&workers->threads[workers->started], NULL, run_thread, workers);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

bool workers_create(const char *name, unsigned threads, size_t queue_limit, struct workers **out,
                    struct error *error)
{
    struct workers *workers = memory_zeroed(1, sizeof *workers);

    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->changed, NULL);
    workers->limit = queue_limit > 0 ? queue_limit : 1;
    workers->queue = memory_zeroed(workers->limit, sizeof *workers->queue);
    workers->threads = memory_zeroed(threads, sizeof *workers->threads);
    snprintf(workers->name, sizeof workers->name, "%.11s", name);
    for (; workers->started < threads; workers->started++) {
        errno = start_thread(workers);
        if (errno != 0) {
            error_set(error, ERROR_INTERNAL, "cannot start thread %u of %u of pool \"%s\": %m",
                      workers->started + 1, threads, workers->name);
            workers_destroy(workers);
            return false;
        }
    }
    *out = workers;
    return true;
}

bool workers_submit(struct workers *workers, void (*run)(void *context), void *context,
                    struct error *error)
{
    bool fits;

    pthread_mutex_lock(&workers->lock);
    fits = workers->queued < workers->limit;
    if (fits) {
        size_t last = (workers->first + workers->queued++) % workers->limit;

        workers->queue[last] = (struct work){ .run = run, .context = context };
        pthread_cond_signal(&workers->changed);
    }
    pthread_mutex_unlock(&workers->lock);
    if (!fits)
        return error_set(error, ERROR_BUSY,
                         "busy: %zu calls wait already (\"%s\"), try again later", workers->limit,
                         workers->name);
    return true;
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
    pthread_cond_broadcast(&workers->changed);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->started; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->changed);
    pthread_mutex_destroy(&workers->lock);
    free(workers->threads);
    free(workers->queue);
    free(workers);
}
