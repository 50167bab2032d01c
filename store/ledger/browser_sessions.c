/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/browser_sessions.h"

#include "store/engine/deferred_timestamps.h"
#include "store/ledger/store_private.h"

#define COLUMNS(FIRST, COLUMN, OF)                                                                 \
    FIRST(struct browser_session, TEXT, id, OF "id")                                               \
    COLUMN(struct browser_session, DIGEST, digest, OF "digest")                                    \
    COLUMN(struct browser_session, DIGEST, key_digest, OF "key_digest")                            \
    COLUMN(struct browser_session, TEXT, role, OF "role")                                          \
    COLUMN(struct browser_session, INTEGER, created_ms, OF "created_ms")                           \
    COLUMN(struct browser_session, INTEGER, last_seen_ms, OF "last_seen_ms")

static const struct sql_columns columns = SQL_COLUMNS(struct browser_session, COLUMNS);

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    static const char INSERT[] = SQL_INSERT("browser_sessions", COLUMNS);
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &columns, context);
    return sql_run(&sql, error);
}

bool browser_session_add(struct store *store, const struct browser_session *session,
                         struct change *change, struct error *error)
{
    struct browser_session row = *session;

    return store_change(store, change, apply_add, &row, row.id, "", error);
}

static CHECKED bool apply_remove(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "DELETE FROM browser_sessions WHERE id = ?1");

    sql_bind_text(&sql, 1, context);
    return sql_run(&sql, error);
}

bool browser_session_remove(struct store *store, const char *id, struct change *change,
                            struct error *error)
{
    char copy[ID_SIZE];

    text_copy(copy, sizeof copy, id);
    return store_change(store, change, apply_remove, copy, copy, "", error);
}

void browser_session_set_seen(struct store *store, const char *id, int64_t now_ms)
{
    static const char SEEN[] = "UPDATE browser_sessions SET last_seen_ms = " SQL_GREATER(
        "?2", "last_seen_ms") "WHERE id = ?1";

    deferred_timestamps_note(store->deferred, SEEN, id, now_ms);
}

bool browser_session_load(struct store *store, struct browser_session **out, size_t *count,
                          struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(
        reader.connection, SQL_SELECT(COLUMNS, "") "FROM browser_sessions ORDER BY created_ms, id");

    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}
