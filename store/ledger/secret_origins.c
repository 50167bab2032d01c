/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/secret_origins.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "store/ledger/store_private.h"

#define URL_SIZE 1025 /* of a deployment */

static bool is_listed(const struct secret_origin *rows, size_t count,
                      const struct secret_origin *row)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].secret, row->secret) == 0 && strcmp(rows[i].origin, row->origin) == 0)
            return true;
    return false;
}

/* Rows of an upgrade hold a deployment's URL as it was typed: one that no longer is a URL binds
 * nothing. */
static bool read_row(const struct sql *sql, struct secret_origin *row)
{
    char url[URL_SIZE];
    struct error ignored;

    *row = (struct secret_origin){ .created_ms = sql_integer(sql, 3) };
    sql_text(sql, 0, row->secret, sizeof row->secret);
    sql_text(sql, 1, url, sizeof url);
    sql_text(sql, 2, row->created_by, sizeof row->created_by);
    return url_origin(url, row->origin, &ignored);
}

static CHECKED bool list(struct sql_connection *connection, const char *secret,
                         struct secret_origin **out, size_t *count, struct error *error)
{
    struct secret_origin *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    SQL_AUTO sql = sql_begin(connection, "SELECT secret, url, created_by, created_ms "
                                         "FROM secret_origins WHERE ?1 IS NULL OR secret = ?1 "
                                         "ORDER BY secret, url");

    sql_bind_text(&sql, 1, secret);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        if (read_row(&sql, &rows[length]) && !is_listed(rows, length, &rows[length]))
            length++;
    }
    if (step == SQL_FAILED) {
        free(rows);
        return false;
    }
    *out = rows;
    *count = length;
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
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO secret_origins (secret, url, created_ms, "
                                         "created_by) VALUES (?1, ?2, ?3, ?4) "
                                         "ON CONFLICT (secret, url) DO NOTHING");

    sql_bind_text(&sql, 1, row->secret);
    sql_bind_text(&sql, 2, row->origin);
    sql_bind_integer(&sql, 3, row->created_ms);
    sql_bind_text(&sql, 4, row->created_by);
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

/* The URLs of an origin may be several: those of an upgrade. */
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

/* Makes it so that the secret is bound, or not. */
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
