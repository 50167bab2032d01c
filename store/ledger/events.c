/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/events.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/core/memory.h"
#include "store/ledger/store_private.h"

void event_stream(const char *session, const char *stream, char out[EVENT_STREAM_SIZE])
{
    snprintf(out, EVENT_STREAM_SIZE, "%.39s/%.23s", session, stream);
}

struct adding {
    char *stream, *frame;
    int64_t sequence, now_ms;
};

static void release(void *context)
{
    struct adding *adding = context;

    free(adding->stream);
    free(adding->frame);
    free(adding);
}

static CHECKED bool insert(struct sql_connection *connection, const struct adding *adding,
                           struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO events (stream, sequence, created_ms, frame) "
                                         "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING");

    sql_bind_text(&sql, 1, adding->stream);
    sql_bind_integer(&sql, 2, adding->sequence);
    sql_bind_integer(&sql, 3, adding->now_ms);
    sql_bind_text(&sql, 4, adding->frame);
    return sql_run(&sql, error);
}

/* By their count: the numbers may have gaps. */
static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    const struct adding *adding = context;
    SQL_AUTO sql = sql_begin(connection, "DELETE FROM events WHERE stream = ?1 AND sequence <= "
                                         "(SELECT sequence FROM events WHERE stream = ?1 "
                                         "ORDER BY sequence DESC LIMIT 1 OFFSET ?2)");

    if (!insert(connection, adding, error))
        return false;
    sql_bind_text(&sql, 1, adding->stream);
    sql_bind_integer(&sql, 2, EVENTS_PER_STREAM);
    return sql_run(&sql, error);
}

bool event_add(struct store *store, const char *stream, int64_t sequence, const char *frame,
               int64_t now_ms, struct error *error)
{
    struct adding *adding = memory_zeroed(1, sizeof *adding);

    *adding = (struct adding){
        .stream = memory_copy_text(stream),
        .frame = memory_copy_text(frame),
        .sequence = sequence,
        .now_ms = now_ms,
    };
    return database_defer_take(store->main, apply_add, adding, release, error);
}

bool event_list(struct store *store, const char *stream, int64_t after, size_t limit,
                struct event_row **out, size_t *count, struct error *error)
{
    struct event_row *rows = NULL;
    size_t length = 0;
    enum sql_step step;

    if (!database_flush(store->main, error))
        return false;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, "SELECT sequence, frame FROM events WHERE stream = ?1 "
                                     "AND sequence > ?2 ORDER BY sequence LIMIT ?3");
    sql_bind_text(&sql, 1, stream);
    sql_bind_integer(&sql, 2, after);
    sql_bind_integer(&sql, 3, (int64_t)limit);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        rows[length++] = (struct event_row){ sql_integer(&sql, 0), sql_text_copy(&sql, 1) };
    }
    if (step == SQL_FAILED) {
        event_rows_free(rows, length);
        return false;
    }
    *out = rows;
    *count = length;
    return true;
}

void event_rows_free(struct event_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i].frame);
    free(rows);
}
