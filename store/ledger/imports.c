/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/imports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/json/json.h"
#include "store/ledger/store_private.h"

#define IMPORT_COLUMNS(FIRST, COLUMN, OF)                                                          \
    FIRST(struct import_row, TEXT, id, OF "id")                                                    \
    COLUMN(struct import_row, TEXT, corrects, OF "corrects")                                       \
    COLUMN(struct import_row, TEXT, digest, OF "digest")                                           \
    COLUMN(struct import_row, TEXT, format, OF "format")                                           \
    COLUMN(struct import_row, TEXT, name, OF "name")                                               \
    COLUMN(struct import_row, TEXT, deployment, OF "deployment")                                   \
    COLUMN(struct import_row, TEXT, principal, OF "principal")                                     \
    COLUMN(struct import_row, INTEGER, file_bytes, OF "file_bytes")                                \
    COLUMN(struct import_row, INTEGER, cell_count, OF "cells")                                     \
    COLUMN(struct import_row, INTEGER, created_ms, OF "created_ms")                                \
    COLUMN(struct import_row, HEAP_TEXT, stated, OF "stated")                                      \
    COLUMN(struct import_row, HEAP_TEXT, document, OF "document")
static const struct sql_columns columns = SQL_COLUMNS(struct import_row, IMPORT_COLUMNS);
#define SELECT_IMPORTS SQL_SELECT(IMPORT_COLUMNS, "") "FROM imports "

void import_row_finish(struct import_row *row)
{
    sql_row_finish(&columns, row);
    free(row->other_names);
    *row = (struct import_row){ 0 };
}

void import_rows_free(struct import_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        import_row_finish(&rows[i]);
    free(rows);
}

/* Sets row->other_names to a JSON array of the names, other than row->name, under which the file
 * was imported. */
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

static CHECKED bool read_import(struct sql_connection *connection, const char *id,
                                struct import_row *out, struct error *error)
{
    struct import_row row;
    bool found;
    SQL_AUTO sql = sql_begin(connection, SELECT_IMPORTS "WHERE id = ?1");

    sql_bind_text(&sql, 1, id);
    if (!sql_row_find(&sql, &columns, &row, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "no imported run has the id \"%s\": run_list shows all runs", id);
    if (!read_other_names(connection, &row, error)) {
        import_row_finish(&row);
        return false;
    }
    *out = row;
    return true;
}

bool import_find(struct store *store, const char *id, struct import_row *out, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return read_import(reader.connection, id, out, error);
}

bool import_list(struct store *store, const char *deployment, int64_t before_ms, size_t limit,
                 struct import_row **out, size_t *count, struct error *error)
{
    void *rows;
    size_t found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection,
                             SELECT_IMPORTS "WHERE (?1 IS NULL OR deployment = ?1) "
                                            "AND (?2 = 0 OR created_ms < ?2) "
                                            "ORDER BY created_ms DESC, sequence DESC LIMIT ?3");

    sql_bind_text(&sql, 1, deployment);
    sql_bind_integer(&sql, 2, before_ms);
    sql_bind_integer(&sql, 3, (int64_t)limit);
    if (!sql_rows_read(&sql, &columns, &rows, &found, error))
        return false;
    for (size_t i = 0; i < found; i++) {
        if (!read_other_names(reader.connection, (struct import_row *)rows + i, error)) {
            import_rows_free(rows, found);
            return false;
        }
    }
    *out = rows;
    *count = found;
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

/* ---- Creating ---- */

struct creation {
    struct import_order order;
    const char *principal;
    int64_t now_ms, cell_count;
    char id[ID_SIZE];
    char earlier[ID_SIZE]; /* the newest existing import of this file and format; "": none */
    char detail[300];
    bool existed;
    struct import_row row;
};

#define IMPORT_STORED(FIRST, COLUMN, OF)                                                           \
    FIRST(struct creation, TEXT, id, OF "id")                                                      \
    COLUMN(struct creation, TEXT_OR_NULL, earlier, OF "corrects")                                  \
    COLUMN(struct creation, BORROWED_TEXT, order.digest, OF "digest")                              \
    COLUMN(struct creation, BORROWED_TEXT, order.format, OF "format")                              \
    COLUMN(struct creation, BORROWED_TEXT, order.name, OF "name")                                  \
    COLUMN(struct creation, BORROWED_TEXT, order.deployment, OF "deployment")                      \
    COLUMN(struct creation, BORROWED_TEXT, principal, OF "principal")                              \
    COLUMN(struct creation, INTEGER, order.file_bytes, OF "file_bytes")                            \
    COLUMN(struct creation, INTEGER, cell_count, OF "cells")                                       \
    COLUMN(struct creation, INTEGER, now_ms, OF "created_ms")                                      \
    COLUMN(struct creation, BORROWED_TEXT, order.stated, OF "stated")                              \
    COLUMN(struct creation, BORROWED_TEXT, order.document, OF "document")
static const struct sql_columns stored = SQL_COLUMNS(struct creation, IMPORT_STORED);

/* Finds the newest import of this file in this format. If `same_facts` is true, the stated facts
 * must also be the same. */
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
    static const char INSERT[] =
        SQL_INSERT_WITH("imports", IMPORT_STORED, ", sequence", ", " SQL_NEXT_SEQUENCE("imports"));
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &stored, creation);
    return sql_run(&sql, error);
}

static CHECKED bool insert_cells(struct sql_connection *connection, const struct creation *creation,
                                 struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO import_cells (import_id, position, document) "
                                         "VALUES (?1, ?2, ?3)");

    for (size_t i = 0; i < creation->order.cell_count; i++) {
        sql_bind_text(&sql, 1, creation->id);
        sql_bind_integer(&sql, 2, (int64_t)i);
        sql_bind_text(&sql, 3, creation->order.cells[i]);
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
    sql_bind_text(&sql, 2, creation->order.name);
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
    const struct import_order *order = &creation->order;
    bool has_facts = strcmp(order->stated, "{}") != 0;

    import_row_finish(&creation->row);
    if (!find_earlier(connection, order, has_facts, creation->id, error)
        || !find_earlier(connection, order, false, creation->earlier, error))
        return false;
    creation->existed = creation->id[0] != '\0';
    if (!(creation->existed ? note_name(connection, creation, error)
                            : insert_new(connection, creation, error)))
        return false;
    snprintf(creation->detail, sizeof creation->detail, "%s %s, %zu cells%s", order->format,
             order->name, order->cell_count, creation->existed ? ", already known" : "");
    return read_import(connection, creation->id, &creation->row, error);
}

bool import_create(struct store *store, const struct import_order *order, int64_t now_ms,
                   struct change *change, struct import_row *out, bool *existed,
                   struct error *error)
{
    struct creation creation = { .order = *order,
                                 .principal = store_change_principal(change),
                                 .now_ms = now_ms,
                                 .cell_count = (int64_t)order->cell_count };

    if (!store_change(store, change, apply_create, &creation, creation.id, creation.detail,
                      error)) {
        import_row_finish(&creation.row);
        return false;
    }
    *out = creation.row;
    *existed = creation.existed;
    return true;
}
