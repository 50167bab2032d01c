/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/secret_origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "store/ledger/store_private.h"

#define URL_SIZE 1025 /* a deployment's URL with its NUL */

static bool is_listed(const struct secret_origin *rows, size_t count,
                      const struct secret_origin *row)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].secret, row->secret) == 0 && strcmp(rows[i].origin, row->origin) == 0)
            return true;
    return false;
}

/* Instead of an origin, rows from older versions contain a deployment's URL, as it was typed. A URL
 * that is no longer valid is read as "", which binds the secret to nothing. */
static bool read_origin(const struct sql_column *column, void *member)
{
    char url[URL_SIZE];
    struct error ignored;

    sql_text(column->sql, column->index, url, sizeof url);
    if (!url_origin(url, member, &ignored))
        *(char *)member = '\0';
    return true;
}

static void bind_origin(struct sql *sql, int position, const void *member)
{
    sql_bind_text(sql, position, member);
}

static const struct sql_member_kind kind_origin = { read_origin, bind_origin, NULL };
#define SQL_KIND_ORIGIN(member) SQL_KIND(kind_origin, char(*)[ORIGIN_SIZE], member)

#define ORIGIN_COLUMNS(FIRST, COLUMN, OF)                                                          \
    FIRST(struct secret_origin, TEXT, secret, OF "secret")                                         \
    COLUMN(struct secret_origin, ORIGIN, origin, OF "url")                                         \
    COLUMN(struct secret_origin, TEXT, created_by, OF "created_by")                                \
    COLUMN(struct secret_origin, INTEGER, created_ms, OF "created_ms")
static const struct sql_columns columns = SQL_COLUMNS(struct secret_origin, ORIGIN_COLUMNS);
#define SELECT_ORIGINS SQL_SELECT(ORIGIN_COLUMNS, "") "FROM secret_origins "

/* Drops duplicates and rows with the origin "". Returns how many rows are left. */
static size_t drop_redundant(struct secret_origin *rows, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].origin[0] != '\0' && !is_listed(rows, kept, &rows[i]))
            rows[kept++] = rows[i];
    return kept;
}

static CHECKED bool list(struct sql_connection *connection, const char *secret,
                         struct secret_origin **out, size_t *count, struct error *error)
{
    void *rows;
    SQL_AUTO sql = sql_begin(connection, SELECT_ORIGINS "WHERE ?1 IS NULL OR secret = ?1 "
                                                        "ORDER BY secret, url");

    sql_bind_text(&sql, 1, secret);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *count = drop_redundant(rows, *count);
    *out = rows;
    return true;
}

bool secret_origin_list(struct store *store, const char *secret, struct secret_origin **out,
                        size_t *count, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return list(reader.connection, secret, out, count, error);
}

/* ---- Changes ---- */

bool secret_origin_insert(struct sql_connection *connection, const struct secret_origin *row,
                          struct error *error)
{
    static const char INSERT[] =
        SQL_INSERT("secret_origins", ORIGIN_COLUMNS) "ON CONFLICT (secret, url) DO NOTHING";
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &columns, row);
    return sql_run(&sql, error);
}

static CHECKED bool apply_insert(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    return secret_origin_insert(connection, context, error);
}

static CHECKED bool delete_url(struct sql_connection *connection, const char *secret,
                               const char *url, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "DELETE FROM secret_origins WHERE secret = ?1 AND url = ?2");

    sql_bind_text(&sql, 1, secret);
    sql_bind_text(&sql, 2, url);
    return sql_run(&sql, error);
}

/* Deletes all rows that bind the secret to the origin. There can be several, because older versions
 * stored URLs, and several URLs can have the same origin. */
static CHECKED bool apply_delete(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    const struct secret_origin *row = context;
    char url[URL_SIZE], origin[ORIGIN_SIZE];
    struct error ignored;
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, "SELECT url FROM secret_origins WHERE secret = ?1");

    sql_bind_text(&sql, 1, row->secret);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        sql_text(&sql, 0, url, sizeof url);
        if (url_origin(url, origin, &ignored) && strcmp(origin, row->origin) == 0
            && !delete_url(connection, row->secret, url, error))
            return false;
    }
    return step != SQL_FAILED;
}

static CHECKED bool find(struct store *store, const struct secret_origin *wanted, bool *found,
                         struct error *error)
{
    struct secret_origin *rows;
    size_t count;

    if (!secret_origin_list(store, wanted->secret, &rows, &count, error))
        return false;
    *found = is_listed(rows, count, wanted);
    free(rows);
    return true;
}

/* Binds the secret to the origin, or removes the binding (`bound` false). */
static CHECKED bool edit(struct store *store, const char *secret, const char *origin, bool bound,
                         int64_t now_ms, struct change *change, bool *changed, struct error *error)
{
    struct secret_origin row = { .created_ms = now_ms };
    bool found;

    text_copy(row.secret, sizeof row.secret, secret);
    text_copy(row.origin, sizeof row.origin, origin);
    text_copy(row.created_by, sizeof row.created_by, store_change_principal(change));
    if (!find(store, &row, &found, error))
        return false;
    *changed = found != bound;
    return !*changed
           || store_change(store, change, bound ? apply_insert : apply_delete, &row, row.secret,
                           row.origin, error);
}

bool secret_origin_add(struct store *store, const char *secret, const char *origin, int64_t now_ms,
                       struct change *change, bool *changed, struct error *error)
{
    return edit(store, secret, origin, true, now_ms, change, changed, error);
}

bool secret_origin_remove(struct store *store, const char *secret, const char *origin,
                          struct change *change, bool *changed, struct error *error)
{
    return edit(store, secret, origin, false, 0, change, changed, error);
}
