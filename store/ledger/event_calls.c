/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the calls that are answered with a stream of events, so that a client that reconnects can
 * learn what became of them. */
#include <stdlib.h>

#include "base/core/memory.h"
#include "store/ledger/events.h"
#include "store/ledger/store_private.h"

#define UNENDED_KEPT_MS (24 * 60 * 60 * 1000LL) /* how long calls that have not ended are kept */

struct opening {
    char stream[EVENT_STREAM_KEY_SIZE];
    const char *session, *message_id, *request_id;
    int64_t now_ms;
};

/* Adds nothing if the session has ended. */
static CHECKED bool apply_begin(struct sql_connection *connection, void *context,
                                struct error *error)
{
    const struct opening *opening = context;
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO event_calls (stream, session, message_id, request_id, "
                              "created_ms) SELECT ?1, id, ?3, ?4, ?5 FROM sessions WHERE id = ?2");

    sql_bind_text(&sql, 1, opening->stream);
    sql_bind_text(&sql, 2, opening->session);
    sql_bind_text(&sql, 3, opening->message_id);
    sql_bind_text(&sql, 4, opening->request_id);
    sql_bind_integer(&sql, 5, opening->now_ms);
    return sql_run(&sql, error);
}

bool event_call_begin(struct store *store, const char *session, const char *stream,
                      const char *message_id, const char *request_id, int64_t now_ms,
                      struct error *error)
{
    struct opening opening = {
        .session = session, .message_id = message_id, .request_id = request_id, .now_ms = now_ms
    };

    event_stream_key(session, stream, opening.stream);
    return database_write(store->main, apply_begin, &opening, error);
}

struct closing {
    char stream[EVENT_STREAM_KEY_SIZE];
    int64_t now_ms;
};

static CHECKED bool apply_end(struct sql_connection *connection, void *context, struct error *error)
{
    const struct closing *closing = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE event_calls SET ended_ms = ?2 WHERE stream = ?1");

    sql_bind_text(&sql, 1, closing->stream);
    sql_bind_integer(&sql, 2, closing->now_ms);
    return sql_run(&sql, error);
}

bool event_call_end(struct store *store, const char *session, const char *stream, int64_t now_ms,
                    struct error *error)
{
    struct closing *closing = memory_zeroed(1, sizeof *closing);

    event_stream_key(session, stream, closing->stream);
    closing->now_ms = now_ms;
    return database_defer_take(store->main, apply_end, closing, free, error);
}

#define CALL_COLUMNS(FIRST, COLUMN, OF)                                                            \
    FIRST(struct event_call, HEAP_TEXT, message_id, OF "message_id")                               \
    COLUMN(struct event_call, TEXT, request_id, OF "request_id")                                   \
    COLUMN(struct event_call, INTEGER, created_ms, OF "created_ms")                                \
    COLUMN(struct event_call, INTEGER, ended_ms, OF "ended_ms")                                    \
    COLUMN(struct event_call, INTEGER, sequence,                                                   \
           "(SELECT max(sequence) FROM events WHERE stream = ?1)")
static const struct sql_columns columns = SQL_COLUMNS(struct event_call, CALL_COLUMNS);

bool event_call_find(struct store *store, const char *session, const char *stream,
                     struct event_call *out, bool *found, struct error *error)
{
    char key[EVENT_STREAM_KEY_SIZE];

    event_stream_key(session, stream, key);
    if (!database_flush(store->main, error))
        return false;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             SQL_SELECT(CALL_COLUMNS, "") "FROM event_calls WHERE stream = ?1");
    sql_bind_text(&sql, 1, key);
    return sql_row_find(&sql, &columns, out, found, error);
}

bool event_call_job(struct store *store, const struct event_call *call, char job[ID_SIZE],
                    struct error *error)
{
    bool found;

    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection,
                  "SELECT coalesce(jobs.id, sweeps.job_id) FROM audit "
                  "LEFT JOIN jobs ON jobs.id = audit.subject "
                  "LEFT JOIN sweeps ON sweeps.id = audit.subject "
                  "WHERE at_ms >= ?1 AND request_id = ?2 AND phase = 'outcome' "
                  "AND audit.outcome = 'ok' "
                  "AND coalesce(jobs.id, sweeps.job_id) IS NOT NULL ORDER BY at_ms LIMIT 1");
    sql_bind_integer(&sql, 1, call->created_ms);
    sql_bind_text(&sql, 2, call->request_id);
    if (!sql_find(&sql, &found, error))
        return false;
    job[0] = '\0';
    if (found)
        sql_text(&sql, 0, job, ID_SIZE);
    return true;
}

/* ---- Expiry ---- */

static CHECKED bool apply_expire(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    const int64_t *now_ms = context;
    SQL_AUTO events = sql_begin(connection, "DELETE FROM events WHERE created_ms < ?1");
    SQL_AUTO calls = sql_begin(connection, "DELETE FROM event_calls WHERE ended_ms < ?1 "
                                           "OR created_ms < ?2 AND ended_ms IS NULL");

    sql_bind_integer(&events, 1, *now_ms - EVENTS_KEPT_MS);
    sql_bind_integer(&calls, 1, *now_ms - EVENTS_KEPT_MS);
    sql_bind_integer(&calls, 2, *now_ms - UNENDED_KEPT_MS);
    return sql_run(&events, error) && sql_run(&calls, error);
}

bool events_expire(struct store *store, int64_t now_ms, struct error *error)
{
    return database_write(store->main, apply_expire, &now_ms, error);
}
