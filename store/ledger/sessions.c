/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions, which exist only in protocol revisions in which a client begins with `initialize`. */
#include <stdlib.h>

#include "base/core/text.h"
#include "store/engine/deferred_timestamps.h"
#include "store/ledger/principals.h"
#include "store/ledger/store_private.h"

#define SESSION_STORED(FIRST, COLUMN, OF)                                                          \
    FIRST(struct session_row, TEXT, id, OF "id")                                                   \
    COLUMN(struct session_row, TEXT, principal, OF "principal")                                    \
    COLUMN(struct session_row, TEXT, protocol_version, OF "protocol_version")                      \
    COLUMN(struct session_row, TEXT, client, OF "client")                                          \
    COLUMN(struct session_row, HEAP_TEXT, capabilities, OF "capabilities")                         \
    COLUMN(struct session_row, INTEGER, created_ms, OF "created_ms")                               \
    COLUMN(struct session_row, INTEGER, last_seen_ms, OF "last_seen_ms")
#define SESSION_COLUMNS(FIRST, COLUMN, OF)                                                         \
    SESSION_STORED(FIRST, COLUMN, OF)                                                              \
    COLUMN(struct session_row, INTEGER, received, OF "heard")                                      \
    COLUMN(struct session_row, INTEGER, last_event,                                                \
           "(SELECT max(sequence) FROM events "                                                    \
           "WHERE stream = sessions.id || '/" SESSION_STREAM_ID "')")                              \
    COLUMN(struct session_row, INTEGER, log_level, "coalesce(log_level, -1)")
#define SUBSCRIPTION_COLUMNS(FIRST, COLUMN, OF)                                                    \
    FIRST(struct session_subscription_row, TEXT, session, OF "session")                            \
    COLUMN(struct session_subscription_row, HEAP_TEXT, uri, OF "uri")

static const struct sql_columns stored = SQL_COLUMNS(struct session_row, SESSION_STORED);
static const struct sql_columns columns = SQL_COLUMNS(struct session_row, SESSION_COLUMNS);
static const struct sql_columns subscription_columns =
    SQL_COLUMNS(struct session_subscription_row, SUBSCRIPTION_COLUMNS);

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    static const char INSERT[] = SQL_INSERT("sessions", SESSION_STORED);
    struct session_row row = **(const struct session_row *const *)context;
    char none[] = "{}";
    SQL_AUTO sql = sql_begin(connection, INSERT);

    if (row.capabilities == NULL)
        row.capabilities = none;
    sql_row_bind(&sql, &stored, &row);
    return sql_run(&sql, error);
}

bool session_add(struct store *store, const struct session_row *session, struct error *error)
{
    return database_write(store->main, apply_add, &session, error);
}

void session_set_seen(struct store *store, const char *id, int64_t now_ms)
{
    static const char SEEN[] =
        "UPDATE sessions SET last_seen_ms = " SQL_GREATER("?2", "last_seen_ms") "WHERE id = ?1";

    deferred_timestamps_note(store->deferred, SEEN, id, now_ms);
}

void session_set_received(struct store *store, const char *id, int64_t sequence)
{
    static const char RECEIVED[] =
        "UPDATE sessions SET heard = " SQL_GREATER("?2", "heard") "WHERE id = ?1";

    deferred_timestamps_note(store->deferred, RECEIVED, id, sequence);
}

struct log_level_change {
    const char *id;
    int64_t level;
};

static CHECKED bool apply_log_level(struct sql_connection *connection, void *context,
                                    struct error *error)
{
    const struct log_level_change *log_level_change = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE sessions SET log_level = ?2 WHERE id = ?1");

    sql_bind_text(&sql, 1, log_level_change->id);
    sql_bind_integer(&sql, 2, log_level_change->level);
    return sql_run(&sql, error);
}

bool session_set_log_level(struct store *store, const char *id, int64_t level, struct error *error)
{
    struct log_level_change log_level_change = { id, level };

    return database_write(store->main, apply_log_level, &log_level_change, error);
}

/* A session's streams are named <session>/<stream>. Their names are between "<session>/" and
 * "<session>0", because '0' is the character after '/'. */
static CHECKED bool apply_remove(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "DELETE FROM sessions WHERE id = ?1");
    SQL_AUTO events = sql_begin(connection, "DELETE FROM events WHERE stream > ?1 || '/' "
                                            "AND stream < ?1 || '0'");

    sql_bind_text(&sql, 1, context);
    sql_bind_text(&events, 1, context);
    return sql_run(&sql, error) && sql_run(&events, error);
}

bool session_remove(struct store *store, const char *id, struct error *error)
{
    char copy[ID_SIZE];

    text_copy(copy, sizeof copy, id);
    return database_write(store->main, apply_remove, copy, error);
}

static CHECKED bool apply_expire(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    const int64_t *since_ms = context;
    SQL_AUTO sql = sql_begin(connection, "DELETE FROM sessions WHERE last_seen_ms < ?1");

    sql_bind_integer(&sql, 1, *since_ms);
    return sql_run(&sql, error);
}

bool session_load(struct store *store, int64_t since_ms, struct session_row **rows, size_t *count,
                  struct error *error)
{
    void *list;

    if (!database_write(store->main, apply_expire, &since_ms, error))
        return false;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             SQL_SELECT(SESSION_COLUMNS, "") "FROM sessions ORDER BY created_ms");
    if (!sql_rows_read(&sql, &columns, &list, count, error))
        return false;
    *rows = list;
    return true;
}

void session_rows_free(struct session_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}

/* ---- Subscriptions ---- */

struct subscribing {
    const char *session, *uri;
};

static CHECKED bool apply_to_subscription(struct sql_connection *connection, const char *statement,
                                          const struct subscribing *subscribing,
                                          struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, statement);

    sql_bind_text(&sql, 1, subscribing->session);
    sql_bind_text(&sql, 2, subscribing->uri);
    return sql_run(&sql, error);
}

static CHECKED bool apply_subscribe(struct sql_connection *connection, void *context,
                                    struct error *error)
{
    static const char INSERT[] =
        "INSERT INTO subscriptions (session, uri) SELECT id, ?2 FROM sessions WHERE id = ?1 "
        "ON CONFLICT DO NOTHING";

    return apply_to_subscription(connection, INSERT, context, error);
}

bool session_subscription_add(struct store *store, const char *session, const char *uri,
                              struct error *error)
{
    struct subscribing subscribing = { session, uri };

    return database_write(store->main, apply_subscribe, &subscribing, error);
}

static CHECKED bool apply_unsubscribe(struct sql_connection *connection, void *context,
                                      struct error *error)
{
    static const char DELETE[] = "DELETE FROM subscriptions WHERE session = ?1 AND uri = ?2";

    return apply_to_subscription(connection, DELETE, context, error);
}

bool session_subscription_remove(struct store *store, const char *session, const char *uri,
                                 struct error *error)
{
    struct subscribing subscribing = { session, uri };

    return database_write(store->main, apply_unsubscribe, &subscribing, error);
}

bool session_subscription_load(struct store *store, struct session_subscription_row **rows,
                               size_t *count, struct error *error)
{
    void *list;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, SQL_SELECT(SUBSCRIPTION_COLUMNS, "") "FROM subscriptions");

    if (!sql_rows_read(&sql, &subscription_columns, &list, count, error))
        return false;
    *rows = list;
    return true;
}

void session_subscription_rows_free(struct session_subscription_row *rows, size_t count)
{
    sql_rows_free(&subscription_columns, rows, count);
}
