/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/database.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/core/thread.h"
#include "store/engine/sql_engine.h"

#define BATCH_LIMIT 512      /* writes in one transaction */
#define DEFERRED_LIMIT 16384 /* closures without a waiting caller */
#define DEFERRED_DELAY_NS 1000000000
#define GUARD_INTERVAL_NS 2000000000 /* while there is nothing to write */

/* A write somebody waits for; it lives on the waiting thread's stack. */
struct write {
    database_apply *apply;
    void *context;
    struct error *error;
    bool ok, done;
    bool rehearsed_ok;
    pthread_cond_t finished;
    struct write *next;
};

struct deferred {
    database_apply *apply;
    void *context;
    void (*release)(void *context);
    struct deferred *next;
};

struct database {
    const struct sql_engine *engine;
    char *place;
    struct sql_connection *writer;
    pthread_t thread;
    bool started, rehearses;
    bool failing; /* the writer's own */

    pthread_mutex_t lock; /* everything below */
    CHECKED bool (*guard)(void *context, struct error *error);
    void *guard_context;
    pthread_cond_t work, reader_free;
    struct write *first, **last;
    size_t queued;
    struct deferred *deferred_first, **deferred_last;
    size_t deferred_count;
    int64_t deferred_due_ns, committed_ns;
    bool stopping;
    struct sql_connection **readers; /* the free ones come first */
    size_t reader_count, readers_free;
};

/* One transaction's worth of work, taken out of the queues. */
struct batch {
    struct write *writes;
    struct deferred *deferred, **deferred_last;
    size_t deferred_count;
    bool is_guarded; /* its guard allows transactions */
};

static bool in_transaction(struct sql_connection *connection)
{
    return connection->engine->in_transaction(connection);
}

/* After `reason`. False, with *spoilt: the transaction is over, or may not be committed. */
static CHECKED bool undo(struct sql_connection *writer, const struct error *reason,
                         struct error *spoilt)
{
    if (in_transaction(writer))
        return sql_connection_run(writer, "ROLLBACK TO one", spoilt)
               && sql_connection_run(writer, "RELEASE one", spoilt);
    *spoilt = *reason; /* a full disk, say */
    return false;
}

/* Runs one closure, whose changes all stay or are all undone; *ok: they stay. False, with *spoilt:
 * nothing else in the batch may be committed either. */
static CHECKED bool apply_whole(struct sql_connection *writer, database_apply *apply, void *context,
                                bool *ok, struct error *error, struct error *spoilt)
{
    *ok = sql_connection_run(writer, "SAVEPOINT one", error) && apply(writer, context, error)
          && sql_connection_run(writer, "RELEASE one", error);
    return *ok || undo(writer, error, spoilt);
}

static CHECKED bool apply_deferred(struct sql_connection *writer, const struct deferred *deferred,
                                   struct error *error)
{
    struct error reason;
    bool ok;
    bool whole = apply_whole(writer, deferred->apply, deferred->context, &ok, &reason, error);

    if (!ok)
        log_warning("a deferred update was not stored: %s", reason.message);
    return whole;
}

static CHECKED bool apply_each(struct sql_connection *writer, struct batch *batch,
                               struct error *error)
{
    if (!sql_connection_run(writer, writer->engine->begin, error))
        return false;
    for (struct deferred *each = batch->deferred; each != NULL; each = each->next)
        if (!apply_deferred(writer, each, error))
            return false;
    for (struct write *write = batch->writes; write != NULL; write = write->next)
        if (!apply_whole(writer, write->apply, write->context, &write->ok, write->error, error))
            return false;
    return true;
}

/* Runs the whole batch once and rolls it back. */
static CHECKED bool rehearse(struct sql_connection *writer, struct batch *batch,
                             struct error *error)
{
    if (!apply_each(writer, batch, error) || !sql_connection_run(writer, "ROLLBACK", error))
        return false;
    for (struct write *write = batch->writes; write != NULL; write = write->next)
        write->rehearsed_ok = write->ok;
    return true;
}

/* A write ends differently the second time if its closure left something in memory. */
static void check_rehearsal(const struct batch *batch)
{
    for (const struct write *write = batch->writes; write != NULL; write = write->next) {
        if (write->ok == write->rehearsed_ok)
            continue;
        log_error("a write that was run again ended differently: %s", write->error->message);
        abort();
    }
}

static CHECKED bool apply_all(struct database *database, struct batch *batch, struct error *error)
{
    struct sql_connection *writer = database->writer;

    if (database->rehearses && !rehearse(writer, batch, error))
        return false;
    if (!apply_each(writer, batch, error))
        return false;
    if (database->rehearses)
        check_rehearsal(batch);
    return sql_connection_run(writer, "COMMIT", error);
}

/* Once when it begins and once when it ends: a full disk would fill the log too. */
static void log_failing(struct database *database, bool failing, const struct error *error)
{
    if (failing && !database->failing)
        log_error("nothing can be stored: %s", error->message);
    if (!failing && database->failing)
        log_info("%s can be written again", database->place);
    database->failing = failing;
}

static CHECKED bool is_guarded(struct database *database, struct error *error)
{
    pthread_mutex_lock(&database->lock);
    CHECKED bool (*guard)(void *, struct error *) = database->guard;
    void *context = database->guard_context;
    pthread_mutex_unlock(&database->lock);
    return guard == NULL || guard(context, error);
}

static bool run_batch(struct database *database, struct batch *batch)
{
    struct sql_connection *writer = database->writer;
    struct error error = { 0 }, problem;
    bool ok;

    batch->is_guarded = is_guarded(database, &error);
    ok = batch->is_guarded && apply_all(database, batch, &error);
    if (batch->is_guarded) /* otherwise the guard has logged it */
        log_failing(database, !ok, &error);
    if (ok)
        return true;
    if (in_transaction(writer) && !sql_connection_run(writer, "ROLLBACK", &problem))
        log_error("the failed write is not rolled back: %s", problem.message);
    for (struct write *write = batch->writes; write != NULL; write = write->next) {
        if (write->ok || write->error->kind == ERROR_NONE)
            *write->error = error;
        write->ok = false;
    }
    return false;
}

/* With the lock held: waits until something is queued, or until that time. */
static void wait_until(struct database *database, int64_t due_ns)
{
    struct timespec at = { due_ns / 1000000000, due_ns % 1000000000 };

    pthread_cond_timedwait(&database->work, &database->lock, &at);
}

/* With the lock held: while nothing is queued, the guard is asked every few seconds. */
static void wait_idle(struct database *database)
{
    int64_t due_ns = clock_monotonic_ns() + GUARD_INTERVAL_NS;
    struct error reported; /* by the guard itself, in the log */

    wait_until(database, due_ns);
    if (clock_monotonic_ns() < due_ns)
        return;
    pthread_mutex_unlock(&database->lock);
    error_ignore(is_guarded(database, &reported));
    pthread_mutex_lock(&database->lock);
}

/* With the lock held: waits until there is something to commit. False: nothing is left and we stop.
 */
static bool wait_for_work(struct database *database)
{
    while (database->first == NULL) {
        if (database->deferred_first == NULL) {
            if (database->stopping)
                return false;
            wait_idle(database);
        } else if (database->stopping || clock_monotonic_ns() >= database->deferred_due_ns) {
            return true;
        } else {
            wait_until(database, database->deferred_due_ns);
        }
    }
    return true;
}

/* With the lock held. */
static void take_batch(struct database *database, struct batch *batch)
{
    struct write **end = &database->first;
    size_t count = 0;

    while (*end != NULL && count < BATCH_LIMIT) {
        end = &(*end)->next;
        count++;
    }
    *batch = (struct batch){ .writes = database->first };
    database->first = *end;
    *end = NULL;
    if (database->first == NULL)
        database->last = &database->first;

    batch->deferred = database->deferred_first;
    batch->deferred_last = database->deferred_last;
    batch->deferred_count = database->deferred_count;
    database->deferred_first = NULL;
    database->deferred_last = &database->deferred_first;
    database->deferred_count = 0;
}

static void release_deferred(struct deferred *first)
{
    while (first != NULL) {
        struct deferred *next = first->next;

        first->release(first->context);
        free(first);
        first = next;
    }
}

/* With the lock held: puts them back in front, to be tried again in a second. */
static void retry_deferred(struct database *database, struct batch *batch)
{
    if (batch->deferred == NULL)
        return;
    *batch->deferred_last = database->deferred_first;
    if (database->deferred_first == NULL)
        database->deferred_last = batch->deferred_last;
    database->deferred_first = batch->deferred;
    database->deferred_count += batch->deferred_count;
    database->deferred_due_ns = clock_monotonic_ns() + DEFERRED_DELAY_NS;
    batch->deferred = NULL;
}

/* With the lock held: from here on the waiting threads own their writes again. */
static void answer(struct database *database, struct write *write)
{
    while (write != NULL) {
        struct write *next = write->next;

        database->queued--;
        write->done = true;
        pthread_cond_signal(&write->finished);
        write = next;
    }
}

static void *write_loop(void *context)
{
    struct database *database = context;
    struct batch batch;

    pthread_mutex_lock(&database->lock);
    while (wait_for_work(database)) {
        take_batch(database, &batch);
        pthread_mutex_unlock(&database->lock);
        bool ok = run_batch(database, &batch);
        pthread_mutex_lock(&database->lock);
        if (ok)
            database->committed_ns = clock_monotonic_ns();
        else if (!database->stopping)
            retry_deferred(database, &batch);
        answer(database, batch.writes);
        bool idle = database->first == NULL;
        pthread_mutex_unlock(&database->lock);
        release_deferred(batch.deferred);
        if (batch.is_guarded)
            database->engine->upkeep(database->writer, idle ? SQL_UPKEEP_IDLE : SQL_UPKEEP_BUSY);
        pthread_mutex_lock(&database->lock);
    }
    pthread_mutex_unlock(&database->lock);
    return NULL;
}

static _Thread_local bool waiting_forbidden;

void database_forbid_waiting(void)
{
    waiting_forbidden = true;
}

bool database_may_wait(void)
{
    return !waiting_forbidden;
}

bool database_write(struct database *database, database_apply *apply, void *context,
                    struct error *error)
{
    struct error reason = { 0 };
    struct write write = { .apply = apply, .context = context, .error = &reason };

    assert(!waiting_forbidden);
    pthread_cond_init(&write.finished, NULL);
    pthread_mutex_lock(&database->lock);
    if (database->stopping) {
        error_set(&reason, ERROR_CANCELLED, "opsbrain is shutting down: try again when it is back");
    } else {
        *database->last = &write;
        database->last = &write.next;
        database->queued++;
        pthread_cond_signal(&database->work);
        while (!write.done)
            pthread_cond_wait(&write.finished, &database->lock);
    }
    pthread_mutex_unlock(&database->lock);
    pthread_cond_destroy(&write.finished);
    if (!write.ok)
        *error = reason;
    return write.ok;
}

bool database_defer_take(struct database *database, database_apply *apply, void *context,
                         void (*release)(void *context), struct error *error)
{
    struct deferred *deferred = memory_zeroed(1, sizeof *deferred);
    bool taken;

    *deferred = (struct deferred){ apply, context, release, NULL };
    pthread_mutex_lock(&database->lock);
    taken = !database->stopping && database->deferred_count < DEFERRED_LIMIT;
    if (taken) {
        if (database->deferred_first == NULL) {
            database->deferred_due_ns = clock_monotonic_ns() + DEFERRED_DELAY_NS;
            pthread_cond_signal(&database->work);
        }
        *database->deferred_last = deferred;
        database->deferred_last = &deferred->next;
        database->deferred_count++;
    }
    pthread_mutex_unlock(&database->lock);
    if (taken)
        return true;
    release_deferred(deferred);
    return error_set(error, ERROR_BUSY,
                     "too many updates wait to be stored: try again in a second");
}

static CHECKED bool apply_nothing(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    (void)connection;
    (void)context;
    (void)error;
    return true;
}

bool database_flush(struct database *database, struct error *error)
{
    return database_write(database, apply_nothing, NULL, error);
}

struct reader database_reader(struct database *database)
{
    struct reader reader = { .database = database };

    assert(!waiting_forbidden);
    pthread_mutex_lock(&database->lock);
    while (database->readers_free == 0)
        pthread_cond_wait(&database->reader_free, &database->lock);
    reader.connection = database->readers[--database->readers_free];
    pthread_mutex_unlock(&database->lock);
    return reader;
}

void database_reader_return(struct reader *reader)
{
    struct database *database = reader->database;

    pthread_mutex_lock(&database->lock);
    database->readers[database->readers_free++] = reader->connection;
    pthread_cond_signal(&database->reader_free);
    pthread_mutex_unlock(&database->lock);
}

size_t database_queued(struct database *database)
{
    pthread_mutex_lock(&database->lock);
    size_t queued = database->queued;
    pthread_mutex_unlock(&database->lock);
    return queued;
}

int64_t database_committed_ns(struct database *database)
{
    pthread_mutex_lock(&database->lock);
    int64_t committed_ns = database->committed_ns;
    pthread_mutex_unlock(&database->lock);
    return committed_ns;
}

int64_t database_size_bytes(const struct database *database)
{
    return database->engine->size_bytes(database->place);
}

static CHECKED bool apply_shrink(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    return connection->engine->shrink(connection, context, error);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): written through the context */
bool database_shrink(struct database *database, bool *more, struct error *error)
{
    return database_write(database, apply_shrink, more, error);
}

static CHECKED bool open_connections(struct database *database,
                                     const struct migration_set *migrations, unsigned readers,
                                     struct error *error)
{
    const struct sql_engine *engine = database->engine;

    if (!sql_connection_open(engine, database->place, SQL_CONNECTION_WRITER, &database->writer,
                             error)
        || !engine->prepare_schema(database->writer, migrations, error))
        return false;
    database->readers = memory_zeroed(readers, sizeof *database->readers);
    while (database->reader_count < readers) {
        if (!sql_connection_open(engine, database->place, SQL_CONNECTION_READER,
                                 &database->readers[database->reader_count], error))
            return false;
        database->readers_free = ++database->reader_count;
    }
    return true;
}

bool database_open(const struct sql_engine *engine, const char *place,
                   const struct migration_set *migrations, unsigned readers, struct database **out,
                   struct error *error)
{
    struct database *database = memory_zeroed(1, sizeof *database);

    database->engine = engine;
    database->place = memory_copy_text(place);
    database->rehearses = secure_getenv("OPSBRAIN_REHEARSE_WRITES") != NULL;
    database->last = &database->first;
    database->deferred_last = &database->deferred_first;
    pthread_mutex_init(&database->lock, NULL);
    thread_condition_init(&database->work);
    pthread_cond_init(&database->reader_free, NULL);
    if (!open_connections(database, migrations, readers, error)) {
        database_close(database);
        return false;
    }
    database->started =
        thread_start("store-writer", write_loop, database, &database->thread, error);
    if (!database->started) {
        database_close(database);
        return false;
    }
    *out = database;
    return true;
}

void database_guard(struct database *database,
                    CHECKED bool (*guard)(void *context, struct error *error), void *context)
{
    pthread_mutex_lock(&database->lock);
    database->guard = guard;
    database->guard_context = context;
    pthread_mutex_unlock(&database->lock);
}

void database_close(struct database *database)
{
    struct error ignored;

    if (database == NULL)
        return;
    pthread_mutex_lock(&database->lock);
    database->stopping = true;
    pthread_cond_signal(&database->work);
    pthread_mutex_unlock(&database->lock);
    if (database->started)
        pthread_join(database->thread, NULL);
    for (size_t i = 0; i < database->reader_count; i++)
        sql_connection_close(database->readers[i]);
    if (database->started)
        database->engine->upkeep(database->writer,
                                 is_guarded(database, &ignored) ? SQL_UPKEEP_END : SQL_UPKEEP_LOST);
    sql_connection_close(database->writer);
    pthread_cond_destroy(&database->work);
    pthread_cond_destroy(&database->reader_free);
    pthread_mutex_destroy(&database->lock);
    free(database->readers);
    free(database->place);
    free(database);
}
