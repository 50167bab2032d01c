/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/events.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/core/memory.h"
#include "store/ledger/store_private.h"

void event_stream_key(const char *session, const char *stream, char out[EVENT_STREAM_KEY_SIZE])
{
    snprintf(out, EVENT_STREAM_KEY_SIZE, "%.39s/%.23s", session, stream);
}

struct adding {
    char *stream, *frame;
    int64_t sequence, now_ms;
};

#define EVENT_STORED(FIRST, COLUMN, OF)                                                            \
    FIRST(struct adding, HEAP_TEXT, stream, OF "stream")                                           \
    COLUMN(struct adding, INTEGER, sequence, OF "sequence")                                        \
    COLUMN(struct adding, INTEGER, now_ms, OF "created_ms")                                        \
    COLUMN(struct adding, HEAP_TEXT, frame, OF "frame")
#define EVENT_COLUMNS(FIRST, COLUMN, OF)                                                           \
    FIRST(struct event_row, INTEGER, sequence, OF "sequence")                                      \
    COLUMN(struct event_row, HEAP_TEXT, frame, OF "frame")

static const struct sql_columns stored = SQL_COLUMNS(struct adding, EVENT_STORED);
static const struct sql_columns columns = SQL_COLUMNS(struct event_row, EVENT_COLUMNS);
#define SELECT_EVENTS SQL_SELECT(EVENT_COLUMNS, "") "FROM events "

static void release(void *context)
{
    struct adding *adding = context;

    sql_row_finish(&stored, adding);
    free(adding);
}

static CHECKED bool insert(struct sql_connection *connection, const struct adding *adding,
                           struct error *error)
{
    static const char INSERT[] = SQL_INSERT("events", EVENT_STORED) "ON CONFLICT DO NOTHING";
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &stored, adding);
    return sql_run(&sql, error);
}

/* Adds an event, and deletes all but the newest EVENTS_PER_STREAM of its stream. The newest are
 * found by counting rows, because the events' numbers can have gaps. */
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

bool event_add(struct store *store, const char *key, int64_t sequence, const char *frame,
               int64_t now_ms, struct error *error)
{
    struct adding *adding = memory_zeroed(1, sizeof *adding);

    *adding = (struct adding){
        .stream = memory_copy_text(key),
        .frame = memory_copy_text(frame),
        .sequence = sequence,
        .now_ms = now_ms,
    };
    return database_defer_take(store->main, apply_add, adding, release, error);
}

bool event_list(struct store *store, const char *key, int64_t after, size_t limit,
                struct event_row **out, size_t *count, struct error *error)
{
    void *rows;

    if (!database_flush(store->main, error))
        return false;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, SELECT_EVENTS "WHERE stream = ?1 "
                                                   "AND sequence > ?2 ORDER BY sequence LIMIT ?3");
    sql_bind_text(&sql, 1, key);
    sql_bind_integer(&sql, 2, after);
    sql_bind_integer(&sql, 3, (int64_t)limit);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

void event_rows_free(struct event_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}
