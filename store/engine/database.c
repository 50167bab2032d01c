/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/database.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/engine/database_writer.h"
#include "store/engine/sql_engine.h"

struct database {
    const struct sql_engine *engine;
    char *place;
    struct sql_connection *connection; /* the writer's */
    struct database_writer *writer;

    pthread_mutex_t lock; /* protects everything below */
    pthread_cond_t reader_free;
    struct sql_connection **readers; /* the free ones come first */
    size_t reader_count, readers_free;
};

/* ---- Writing ---- */

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
    assert(!waiting_forbidden);
    return database_writer_write(database->writer, apply, context, error);
}

bool database_defer_take(struct database *database, database_apply *apply, void *context,
                         void (*release)(void *context), struct error *error)
{
    return database_writer_defer_take(database->writer, apply, context, release, error);
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

void database_guard(struct database *database,
                    CHECKED bool (*guard)(void *context, struct error *error), void *context)
{
    database_writer_guard(database->writer, guard, context);
}

size_t database_queued(struct database *database)
{
    return database_writer_queued(database->writer);
}

int64_t database_committed_ns(struct database *database)
{
    return database_writer_committed_ns(database->writer);
}

/* ---- Reading ---- */

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

int64_t database_size_bytes(struct database *database)
{
    READER_AUTO reader = database_reader(database);

    return database->engine->size_bytes(reader.connection);
}

bool database_shares_place(const struct database *one, const struct database *other)
{
    return strcmp(one->place, other->place) == 0;
}

/* ---- Opening and closing ---- */

static CHECKED bool open_readers(struct database *database, unsigned readers, struct error *error)
{
    database->readers = memory_zeroed(readers, sizeof *database->readers);
    while (database->reader_count < readers) {
        if (!sql_connection_open(database->engine, database->place, SQL_CONNECTION_READER,
                                 &database->readers[database->reader_count], error))
            return false;
        database->readers_free = ++database->reader_count;
    }
    return true;
}

static CHECKED bool refuse_unfinished(struct sql_connection *connection, struct error *error)
{
    bool unfinished;

    if (!sql_connection_has_table(connection, DATABASE_UNFINISHED_COPY, &unfinished, error))
        return false;
    return !unfinished
           || error_set(error, ERROR_CONFLICT,
                        "database %s is an unfinished copy: run the same `opsbrain move` or "
                        "`opsbrain restore` again, or delete the database",
                        connection->place);
}

bool database_open(const struct sql_engine *engine, const char *place,
                   const struct migration_set *migrations, unsigned readers, struct database **out,
                   struct error *error)
{
    struct database *database = memory_zeroed(1, sizeof *database);

    database->engine = engine;
    database->place = memory_copy_text(place);
    pthread_mutex_init(&database->lock, NULL);
    pthread_cond_init(&database->reader_free, NULL);
    if (!sql_connection_open(engine, place, SQL_CONNECTION_WRITER, &database->connection, error)
        || !refuse_unfinished(database->connection, error)
        || !engine->prepare_schema(database->connection, migrations, error)
        || !open_readers(database, readers, error)
        || !database_writer_create(database->connection, &database->writer, error)) {
        database_close(database);
        return false;
    }
    *out = database;
    return true;
}

void database_close(struct database *database)
{
    if (database == NULL)
        return;
    if (database->writer != NULL)
        database_writer_stop(database->writer);
    for (size_t i = 0; i < database->reader_count; i++)
        sql_connection_close(database->readers[i]);
    if (database->writer != NULL)
        database_writer_destroy(database->writer);
    sql_connection_close(database->connection);
    pthread_cond_destroy(&database->reader_free);
    pthread_mutex_destroy(&database->lock);
    free(database->readers);
    free(database->place);
    free(database);
}
