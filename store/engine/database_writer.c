/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/database_writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/thread.h"
#include "store/engine/sql_engine.h"
#include "store/engine/write_batch.h"

#define BATCH_LIMIT 512              /* maximum writes in one transaction, except deferred ones */
#define DEFERRED_LIMIT 16384         /* maximum deferred writes in the queue */
#define DEFERRED_DELAY_NS 1000000000 /* after this, deferred writes get their own transaction */
#define GUARD_INTERVAL_NS 2000000000 /* between two calls of the guard while nothing is queued */
#define REPEAT_DELAY_NS 250000000    /* between two runs of a batch */

struct database_writer {
    struct sql_connection *connection;
    pthread_t thread;
    bool rehearses; /* runs each transaction twice; see database_open */
    /* A transaction or `keep` failed, and no commit has succeeded since. Private to the thread. */
    bool failing;

    pthread_mutex_t lock; /* protects everything below */
    CHECKED bool (*guard)(void *context, struct error *error);
    void *guard_context;
    pthread_cond_t work;
    struct write *first, **last;
    size_t queued;
    struct deferred_write *deferred_first, **deferred_last;
    size_t deferred_count;
    int64_t deferred_due_ns, committed_ns;
    bool stopping;
};

/* Logs only the first failure and the next success: if the disk is full, the log should not grow
 * with each failure. */
static void log_failing(struct database_writer *writer, bool failing, const struct error *error)
{
    if (failing && !writer->failing)
        log_error("nothing can be stored: %s", error->message);
    if (!failing && writer->failing)
        log_info("%s is writable again", writer->connection->place);
    writer->failing = failing;
}

static CHECKED bool guard_allows(struct database_writer *writer, struct error *error)
{
    pthread_mutex_lock(&writer->lock);
    CHECKED bool (*guard)(void *, struct error *) = writer->guard;
    void *context = writer->guard_context;
    pthread_mutex_unlock(&writer->lock);
    return guard == NULL || guard(context, error);
}

static void roll_back(struct sql_connection *connection)
{
    struct error problem;

    if (connection->engine->in_transaction(connection)
        && !sql_connection_run(connection, "ROLLBACK", &problem))
        log_error("the failed transaction could not be rolled back: %s", problem.message);
}

static bool is_stopping(struct database_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    bool stopping = writer->stopping;
    pthread_mutex_unlock(&writer->lock);
    return stopping;
}

/* Returns whether to run the batch again: it might succeed then, it is not yet until_ns, and the
 * writer need not stop. Waits a moment before it returns true. */
static bool wait_to_repeat(struct database_writer *writer, const struct error *reason,
                           int64_t until_ns)
{
    if (reason->kind != ERROR_BUSY || !writer->connection->engine->may_repeat(writer->connection)
        || clock_monotonic_ns() >= until_ns || is_stopping(writer))
        return false;
    nanosleep(&(struct timespec){ .tv_nsec = REPEAT_DELAY_NS }, NULL);
    return true;
}

/* Runs the batch until it is committed, or until wait_to_repeat returns false. */
static CHECKED bool commit_patiently(struct database_writer *writer, struct write_batch *batch,
                                     struct error *error)
{
    int64_t until_ns = clock_monotonic_ns() + SQL_REPEAT_PATIENCE_NS;

    while (!write_batch_commit(batch, writer->connection, writer->rehearses, error)) {
        roll_back(writer->connection);
        if (!wait_to_repeat(writer, error, until_ns))
            return false;
        for (struct write *write = batch->writes; write != NULL; write = write->next)
            *write->error = (struct error){ 0 };
    }
    return true;
}

/* Returns whether the batch was committed. *allowed: the guard allows transactions. */
static bool run_batch(struct database_writer *writer, struct write_batch *batch, bool *allowed)
{
    struct error error = { 0 };
    bool ok;

    *allowed = guard_allows(writer, &error);
    ok = *allowed && commit_patiently(writer, batch, &error);
    if (*allowed) /* otherwise the guard has logged why not */
        log_failing(writer, !ok, &error);
    if (ok)
        return true;
    for (struct write *write = batch->writes; write != NULL; write = write->next) {
        if (write->ok || write->error->kind == ERROR_NONE)
            *write->error = error;
        write->ok = false;
    }
    return false;
}

/* With the lock held: waits until something is queued, the writer must stop, or due_ns has come. */
static void wait_until(struct database_writer *writer, int64_t due_ns)
{
    struct timespec at = { due_ns / 1000000000, due_ns % 1000000000 };

    pthread_cond_timedwait(&writer->work, &writer->lock, &at);
}

/* Calls the guard, and `keep` of the engine. Since there is nothing to write, a temporary problem
 * of the engine does no harm, and is not logged. */
static void keep(struct database_writer *writer)
{
    const struct sql_engine *engine = writer->connection->engine;
    struct error error; /* the guard logs its own problems */

    if (!guard_allows(writer, &error) || engine->keep == NULL)
        return;
    if (!engine->keep(writer->connection, &error) && error.kind != ERROR_BUSY)
        log_failing(writer, true, &error);
}

/* With the lock held: waits until something is queued, the writer must stop, or GUARD_INTERVAL_NS
 * have passed. In the last case, calls keep without the lock. */
static void wait_idle(struct database_writer *writer)
{
    int64_t due_ns = clock_monotonic_ns() + GUARD_INTERVAL_NS;

    wait_until(writer, due_ns);
    if (clock_monotonic_ns() < due_ns)
        return;
    pthread_mutex_unlock(&writer->lock);
    keep(writer);
    pthread_mutex_lock(&writer->lock);
}

/* With the lock held: waits until there is something to commit. Returns false if nothing is left
 * and the writer must stop. */
static bool wait_for_work(struct database_writer *writer)
{
    while (writer->first == NULL) {
        if (writer->deferred_first == NULL) {
            if (writer->stopping)
                return false;
            wait_idle(writer);
        } else if (writer->stopping || clock_monotonic_ns() >= writer->deferred_due_ns) {
            return true;
        } else {
            wait_until(writer, writer->deferred_due_ns);
        }
    }
    return true;
}

/* With the lock held. */
static void take_batch(struct database_writer *writer, struct write_batch *batch)
{
    struct write **end = &writer->first;
    size_t count = 0;

    while (*end != NULL && count < BATCH_LIMIT) {
        end = &(*end)->next;
        count++;
    }
    *batch = (struct write_batch){ .writes = writer->first };
    writer->first = *end;
    *end = NULL;
    if (writer->first == NULL)
        writer->last = &writer->first;

    batch->deferred = writer->deferred_first;
    batch->deferred_last = writer->deferred_last;
    batch->deferred_count = writer->deferred_count;
    writer->deferred_first = NULL;
    writer->deferred_last = &writer->deferred_first;
    writer->deferred_count = 0;
}

static void release_deferred(struct deferred_write *first)
{
    while (first != NULL) {
        struct deferred_write *next = first->next;

        first->release(first->context);
        free(first);
        first = next;
    }
}

/* With the lock held: puts the deferred writes of the batch back at the front of the queue, to be
 * tried again with the next write, or after one second. */
static void retry_deferred(struct database_writer *writer, struct write_batch *batch)
{
    if (batch->deferred == NULL)
        return;
    *batch->deferred_last = writer->deferred_first;
    if (writer->deferred_first == NULL)
        writer->deferred_last = batch->deferred_last;
    writer->deferred_first = batch->deferred;
    writer->deferred_count += batch->deferred_count;
    writer->deferred_due_ns = clock_monotonic_ns() + DEFERRED_DELAY_NS;
    batch->deferred = NULL;
}

/* With the lock held: wakes the waiting threads, which from then on own their writes again. */
static void wake_callers(struct database_writer *writer, struct write *write)
{
    while (write != NULL) {
        struct write *next = write->next;

        writer->queued--;
        write->done = true;
        pthread_cond_signal(&write->finished);
        write = next;
    }
}

static void *write_loop(void *context)
{
    struct database_writer *writer = context;
    struct write_batch batch;
    bool allowed;

    pthread_mutex_lock(&writer->lock);
    while (wait_for_work(writer)) {
        take_batch(writer, &batch);
        pthread_mutex_unlock(&writer->lock);
        bool ok = run_batch(writer, &batch, &allowed);
        pthread_mutex_lock(&writer->lock);
        if (ok)
            writer->committed_ns = clock_monotonic_ns();
        else if (!writer->stopping)
            retry_deferred(writer, &batch);
        wake_callers(writer, batch.writes);
        bool idle = writer->first == NULL;
        pthread_mutex_unlock(&writer->lock);
        release_deferred(batch.deferred);
        if (allowed)
            writer->connection->engine->upkeep(writer->connection,
                                               idle ? SQL_UPKEEP_IDLE : SQL_UPKEEP_BUSY);
        pthread_mutex_lock(&writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

bool database_writer_write(struct database_writer *writer, database_apply *apply, void *context,
                           struct error *error)
{
    struct error reason = { 0 };
    struct write write = { .apply = apply, .context = context, .error = &reason };

    pthread_cond_init(&write.finished, NULL);
    pthread_mutex_lock(&writer->lock);
    if (writer->stopping) {
        error_set(&reason, ERROR_CANCELLED, "opsbrain is shutting down: try again when it is back");
    } else {
        *writer->last = &write;
        writer->last = &write.next;
        writer->queued++;
        pthread_cond_signal(&writer->work);
        while (!write.done)
            pthread_cond_wait(&write.finished, &writer->lock);
    }
    pthread_mutex_unlock(&writer->lock);
    pthread_cond_destroy(&write.finished);
    if (!write.ok)
        *error = reason;
    return write.ok;
}

bool database_writer_defer_take(struct database_writer *writer, database_apply *apply,
                                void *context, void (*release)(void *context), struct error *error)
{
    struct deferred_write *deferred = memory_zeroed(1, sizeof *deferred);
    bool is_queued;

    *deferred = (struct deferred_write){ apply, context, release, NULL };
    pthread_mutex_lock(&writer->lock);
    is_queued = !writer->stopping && writer->deferred_count < DEFERRED_LIMIT;
    if (is_queued) {
        if (writer->deferred_first == NULL) {
            writer->deferred_due_ns = clock_monotonic_ns() + DEFERRED_DELAY_NS;
            pthread_cond_signal(&writer->work);
        }
        *writer->deferred_last = deferred;
        writer->deferred_last = &deferred->next;
        writer->deferred_count++;
    }
    pthread_mutex_unlock(&writer->lock);
    if (is_queued)
        return true;
    release_deferred(deferred);
    return error_set(
        error, ERROR_BUSY,
        "too many updates are waiting to be stored, or opsbrain is shutting down: try again in a "
        "second");
}

size_t database_writer_queued(struct database_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    size_t queued = writer->queued;
    pthread_mutex_unlock(&writer->lock);
    return queued;
}

int64_t database_writer_committed_ns(struct database_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    int64_t committed_ns = writer->committed_ns;
    pthread_mutex_unlock(&writer->lock);
    return committed_ns;
}

void database_writer_guard(struct database_writer *writer,
                           CHECKED bool (*guard)(void *context, struct error *error), void *context)
{
    pthread_mutex_lock(&writer->lock);
    writer->guard = guard;
    writer->guard_context = context;
    pthread_mutex_unlock(&writer->lock);
}

static void free_writer(struct database_writer *writer)
{
    pthread_cond_destroy(&writer->work);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}

bool database_writer_create(struct sql_connection *connection, struct database_writer **out,
                            struct error *error)
{
    struct database_writer *writer = memory_zeroed(1, sizeof *writer);

    writer->connection = connection;
    writer->rehearses = secure_getenv("OPSBRAIN_REHEARSE_WRITES") != NULL;
    writer->last = &writer->first;
    writer->deferred_last = &writer->deferred_first;
    pthread_mutex_init(&writer->lock, NULL);
    thread_condition_init(&writer->work);
    if (!thread_start("store-writer", write_loop, writer, &writer->thread, error)) {
        free_writer(writer);
        return false;
    }
    *out = writer;
    return true;
}

void database_writer_stop(struct database_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
}

void database_writer_destroy(struct database_writer *writer)
{
    struct error ignored;
    bool allowed = guard_allows(writer, &ignored);

    writer->connection->engine->upkeep(writer->connection,
                                       allowed ? SQL_UPKEEP_END : SQL_UPKEEP_LOST);
    free_writer(writer);
}
