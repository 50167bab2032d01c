/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions of the protocol eras that begin with `initialize`. */
#include <stdlib.h>

#include "base/core/text.h"
#include "store/engine/deferred_timestamps.h"
#include "store/ledger/principals.h"
#include "store/ledger/store_private.h"

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    const struct session_row *session = *(const struct session_row *const *)context;
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO sessions (id, principal, protocol_version, "
                                         "client, capabilities, created_ms, last_seen_ms) "
                                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");

    sql_bind_text(&sql, 1, session->id);
    sql_bind_text(&sql, 2, session->principal);
    sql_bind_text(&sql, 3, session->protocol_version);
    sql_bind_text(&sql, 4, session->client);
    sql_bind_text(&sql, 5, session->capabilities == NULL ? "{}" : session->capabilities);
    sql_bind_integer(&sql, 6, session->created_ms);
    sql_bind_integer(&sql, 7, session->last_seen_ms);
    return sql_run(&sql, error);
}

bool session_add(struct store *store, const struct session_row *session, struct error *error)
{
    return database_write(store->main, apply_add, &session, error);
}

bool session_touch(struct store *store, const char *id, int64_t now_ms, struct error *error)
{
    static const char SEEN[] =
        "UPDATE sessions SET last_seen_ms = " SQL_GREATER("?2", "last_seen_ms") "WHERE id = ?1";

    (void)error;
    deferred_timestamps_note(store->deferred, SEEN, id, now_ms);
    return true;
}

bool session_hear(struct store *store, const char *id, int64_t sequence, struct error *error)
{
    static const char HEARD[] =
        "UPDATE sessions SET heard = " SQL_GREATER("?2", "heard") "WHERE id = ?1";

    (void)error;
    deferred_timestamps_note(store->deferred, HEARD, id, sequence);
    return true;
}

struct leveling {
    const char *id;
    int64_t level;
};

static CHECKED bool apply_log_level(struct sql_connection *connection, void *context,
                                    struct error *error)
{
    const struct leveling *leveling = context;
    SQL_AUTO sql = sql_begin(connection, "UPDATE sessions SET log_level = ?2 WHERE id = ?1");

    sql_bind_text(&sql, 1, leveling->id);
    sql_bind_integer(&sql, 2, leveling->level);
    return sql_run(&sql, error);
}

bool session_set_log_level(struct store *store, const char *id, int64_t level, struct error *error)
{
    struct leveling leveling = { id, level };

    return database_write(store->main, apply_log_level, &leveling, error);
}

/* The streams of a session are called <session>/<stream>. */
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

static void read_row(const struct sql *sql, struct session_row *row)
{
    *row = (struct session_row){
        .capabilities = sql_text_copy(sql, 4),
        .created_ms = sql_integer(sql, 5),
        .last_seen_ms = sql_integer(sql, 6),
        .heard = sql_integer(sql, 7),
        .last_event = sql_integer(sql, 8),
        .log_level = sql_integer(sql, 9),
    };
    sql_text(sql, 0, row->id, sizeof row->id);
    sql_text(sql, 1, row->principal, sizeof row->principal);
    sql_text(sql, 2, row->protocol_version, sizeof row->protocol_version);
    sql_text(sql, 3, row->client, sizeof row->client);
}

bool session_load(struct store *store, int64_t since_ms, struct session_row **rows, size_t *count,
                  struct error *error)
{
    struct session_row *list = NULL;
    size_t length = 0;
    enum sql_step step;

    if (!database_write(store->main, apply_expire, &since_ms, error))
        return false;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             "SELECT id, principal, protocol_version, client, capabilities, "
                             "created_ms, last_seen_ms, heard, (SELECT max(sequence) FROM events "
                             "WHERE stream = sessions.id || '/" SESSION_STANDING "'), "
                             "coalesce(log_level, -1) "
                             "FROM sessions ORDER BY created_ms");
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        list = sql_rows_grow(list, length, sizeof *list);
        read_row(&sql, &list[length++]);
    }
    if (step == SQL_FAILED) {
        session_rows_free(list, length);
        return false;
    }
    *rows = list;
    *count = length;
    return true;
}

void session_rows_free(struct session_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i].capabilities);
    free(rows);
}

/* ---- What they follow ---- */

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
    struct session_subscription_row *list = NULL;
    size_t length = 0;
    enum sql_step step;

    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT uri, session FROM subscriptions");
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        list = sql_rows_grow(list, length, sizeof *list);
        list[length] = (struct session_subscription_row){ .uri = sql_text_copy(&sql, 0) };
        sql_text(&sql, 1, list[length].session, sizeof list[length].session);
        length++;
    }
    if (step == SQL_FAILED) {
        session_subscription_rows_free(list, length);
        return false;
    }
    *rows = list;
    *count = length;
    return true;
}

void session_subscription_rows_free(struct session_subscription_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i].uri);
    free(rows);
}
