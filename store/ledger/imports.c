/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/imports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/json/json.h"
#include "store/ledger/store_private.h"

#define COLUMNS                                                                                    \
    "id, corrects, digest, format, name, deployment, principal, file_bytes, cells, created_ms, "   \
    "stated, document "

void import_row_finish(struct import_row *row)
{
    free(row->stated);
    free(row->document);
    free(row->other_names);
    *row = (struct import_row){ 0 };
}

void import_rows_free(struct import_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        import_row_finish(&rows[i]);
    free(rows);
}

/* As a JSON array. */
static CHECKED bool read_other_names(struct sql_connection *connection, struct import_row *row,
                                     struct error *error)
{
    enum sql_step step;
    struct text names = { 0 };
    SQL_AUTO sql =
        sql_begin(connection, "SELECT name FROM import_names WHERE import_id = ?1 ORDER BY name");

    sql_bind_text(&sql, 1, row->id);
    text_add_char(&names, '[');
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        FREE_AUTO char *name = sql_text_copy(&sql, 0);

        if (names.length > 1)
            text_add_char(&names, ',');
        json_add_string(&names, name, strlen(name));
    }
    text_add_char(&names, ']');
    row->other_names = text_take(&names);
    return step == SQL_DONE;
}

static CHECKED bool read_row(struct sql *sql, struct import_row *row, struct error *error)
{
    *row = (struct import_row){
        .file_bytes = sql_integer(sql, 7),
        .cells = sql_integer(sql, 8),
        .created_ms = sql_integer(sql, 9),
        .stated = sql_text_copy(sql, 10),
        .document = sql_text_copy(sql, 11),
    };
    sql_text(sql, 0, row->id, sizeof row->id);
    sql_text(sql, 1, row->corrects, sizeof row->corrects);
    sql_text(sql, 2, row->digest, sizeof row->digest);
    sql_text(sql, 3, row->format, sizeof row->format);
    sql_text(sql, 4, row->name, sizeof row->name);
    sql_text(sql, 5, row->deployment, sizeof row->deployment);
    sql_text(sql, 6, row->principal, sizeof row->principal);
    return read_other_names(sql->connection, row, error);
}

static CHECKED bool read_import(struct sql_connection *connection, const char *id,
                                struct import_row *out, struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT " COLUMNS "FROM imports WHERE id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "no imported run has the id \"%s\": run_list shows the runs there are",
                         id);
    return read_row(&sql, out, error);
}

bool import_find(struct store *store, const char *id, struct import_row *out, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return read_import(reader.connection, id, out, error);
}

bool import_list(struct store *store, const char *deployment, int64_t before_ms, size_t limit,
                 struct import_row **out, size_t *count, struct error *error)
{
    struct import_row *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT " COLUMNS "FROM imports "
                                                "WHERE (?1 IS NULL OR deployment = ?1) "
                                                "AND (?2 = 0 OR created_ms < ?2) "
                                                "ORDER BY created_ms DESC, sequence DESC LIMIT ?3");

    sql_bind_text(&sql, 1, deployment);
    sql_bind_integer(&sql, 2, before_ms);
    sql_bind_integer(&sql, 3, (int64_t)limit);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        if (!read_row(&sql, &rows[length++], error)) {
            import_rows_free(rows, length);
            return false;
        }
    }
    if (step == SQL_FAILED) {
        import_rows_free(rows, length);
        return false;
    }
    *out = rows;
    *count = length;
    return true;
}

bool import_each_cell(struct store *store, const char *id,
                      CHECKED bool (*each)(void *context, const char *json, struct error *error),
                      void *context, struct error *error)
{
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT document FROM import_cells "
                                                "WHERE import_id = ?1 ORDER BY position");

    sql_bind_text(&sql, 1, id);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        char *json = sql_text_copy(&sql, 0);
        bool more = each(context, json == NULL ? "" : json, error);

        free(json);
        if (!more)
            return false;
    }
    return step == SQL_DONE;
}

/* ---- A new one ---- */

struct creation {
    const struct import_order *order;
    const char *principal;
    int64_t now_ms;
    char id[ID_SIZE], earlier[ID_SIZE]; /* the newest of the same file and format; "" */
    char detail[300];
    bool existed;
    struct import_row row;
};

/* The newest of this file and format, or of these stated facts too. */
static CHECKED bool find_earlier(struct sql_connection *connection,
                                 const struct import_order *order, bool same_facts,
                                 char out[ID_SIZE], struct error *error)
{
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT id FROM imports WHERE digest = ?1 AND format = ?2 "
                                         "AND (?3 IS NULL OR stated = ?3) "
                                         "ORDER BY created_ms DESC, sequence DESC LIMIT 1");

    out[0] = '\0';
    sql_bind_text(&sql, 1, order->digest);
    sql_bind_text(&sql, 2, order->format);
    sql_bind_text(&sql, 3, same_facts ? order->stated : NULL);
    if (!sql_find(&sql, &found, error))
        return false;
    if (found)
        sql_text(&sql, 0, out, ID_SIZE);
    return true;
}

static CHECKED bool insert_import(struct sql_connection *connection,
                                  const struct creation *creation, struct error *error)
{
    const struct import_order *order = creation->order;
    SQL_AUTO sql = sql_begin(
        connection, "INSERT INTO imports (id, digest, format, stated, corrects, name, file_bytes, "
                    "deployment, document, cells, principal, created_ms, sequence) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, " SQL_NEXT_SEQUENCE(
                        "imports") ")");

    sql_bind_text(&sql, 1, creation->id);
    sql_bind_text(&sql, 2, order->digest);
    sql_bind_text(&sql, 3, order->format);
    sql_bind_text(&sql, 4, order->stated);
    sql_bind_text(&sql, 5, creation->earlier[0] != '\0' ? creation->earlier : NULL);
    sql_bind_text(&sql, 6, order->name);
    sql_bind_integer(&sql, 7, order->file_bytes);
    sql_bind_text(&sql, 8, order->deployment);
    sql_bind_text(&sql, 9, order->document);
    sql_bind_integer(&sql, 10, (int64_t)order->cell_count);
    sql_bind_text(&sql, 11, creation->principal);
    sql_bind_integer(&sql, 12, creation->now_ms);
    return sql_run(&sql, error);
}

static CHECKED bool insert_cells(struct sql_connection *connection, const struct creation *creation,
                                 struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO import_cells (import_id, position, document) "
                                         "VALUES (?1, ?2, ?3)");

    for (size_t i = 0; i < creation->order->cell_count; i++) {
        sql_bind_text(&sql, 1, creation->id);
        sql_bind_integer(&sql, 2, (int64_t)i);
        sql_bind_text(&sql, 3, creation->order->cells[i]);
        if (!sql_run(&sql, error))
            return false;
    }
    return true;
}

static CHECKED bool note_name(struct sql_connection *connection, const struct creation *creation,
                              struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO import_names (import_id, name, principal, created_ms) "
                              "SELECT id, ?2, ?3, ?4 FROM imports WHERE id = ?1 AND name <> ?2 "
                              "ON CONFLICT DO NOTHING");

    sql_bind_text(&sql, 1, creation->id);
    sql_bind_text(&sql, 2, creation->order->name);
    sql_bind_text(&sql, 3, creation->principal);
    sql_bind_integer(&sql, 4, creation->now_ms);
    return sql_run(&sql, error);
}

static CHECKED bool insert_new(struct sql_connection *connection, struct creation *creation,
                               struct error *error)
{
    random_id("imp", creation->id);
    return insert_import(connection, creation, error) && insert_cells(connection, creation, error);
}

static CHECKED bool apply_create(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct creation *creation = context;
    const struct import_order *order = creation->order;
    bool stated = strcmp(order->stated, "{}") != 0;

    import_row_finish(&creation->row);
    if (!find_earlier(connection, order, stated, creation->id, error)
        || !find_earlier(connection, order, false, creation->earlier, error))
        return false;
    creation->existed = creation->id[0] != '\0';
    if (!(creation->existed ? note_name(connection, creation, error)
                            : insert_new(connection, creation, error)))
        return false;
    snprintf(creation->detail, sizeof creation->detail, "%s %s, %zu cells%s", order->format,
             order->name, order->cell_count, creation->existed ? ", known already" : "");
    return read_import(connection, creation->id, &creation->row, error);
}

bool import_create(struct store *store, const struct import_order *order, int64_t now_ms,
                   struct change *change, struct import_row *out, bool *existed,
                   struct error *error)
{
    struct creation creation = { .order = order,
                                 .principal = store_change_principal(change),
                                 .now_ms = now_ms };

    if (!store_change(store, change, apply_create, &creation, creation.id, creation.detail,
                      error)) {
        import_row_finish(&creation.row);
        return false;
    }
    *out = creation.row;
    *existed = creation.existed;
    return true;
}
