/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet/recipe_imports.h"

#include <string.h>

#include "base/core/memory.h"
#include "store/ledger/store_private.h"

#define IMPORT_STORED(FIRST, COLUMN, OF)                                                           \
    FIRST(struct recipe_import, TEXT, name, OF "name")                                             \
    COLUMN(struct recipe_import, INTEGER, revision, OF "revision")                                 \
    COLUMN(struct recipe_import, HEAP_TEXT, document, OF "document")                               \
    COLUMN(struct recipe_import, TEXT, principal, OF "principal")                                  \
    COLUMN(struct recipe_import, INTEGER, created_ms, OF "created_ms")

static const struct sql_columns columns = SQL_COLUMNS(struct recipe_import, IMPORT_STORED);

#define SELECT_IMPORTS SQL_SELECT(IMPORT_STORED, "i.") "FROM recipe_imports i "

void recipe_import_finish(struct recipe_import *row)
{
    sql_row_finish(&columns, row);
}

void recipe_imports_free(struct recipe_import *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}

static CHECKED bool find(struct sql_connection *connection, const char *name,
                         struct recipe_import *out, bool *found, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, SELECT_IMPORTS "WHERE i.name = ?1 ORDER BY i.revision DESC LIMIT 1");

    sql_bind_text(&sql, 1, name);
    return sql_row_find(&sql, &columns, out, found, error);
}

struct put {
    struct recipe_import wanted; /* its document is borrowed */
    struct recipe_import row;    /* the newest revision, which is the new one unless `existed` */
    bool existed;
};

static CHECKED bool check_room(struct sql_connection *connection, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "SELECT count(DISTINCT name) FROM recipe_imports");
    bool found;

    if (!sql_find(&sql, &found, error))
        return false;
    return sql_integer(&sql, 0) < RECIPE_IMPORTS_MAX
           || error_set(error, ERROR_CONFLICT,
                        "%d recipes are imported, which is the limit: import a new revision of "
                        "one of them, or put the new recipe into the team's folder (setting "
                        "recipes)",
                        RECIPE_IMPORTS_MAX);
}

static CHECKED bool insert(struct sql_connection *connection, const struct recipe_import *row,
                           struct error *error)
{
    static const char INSERT[] = SQL_INSERT("recipe_imports", IMPORT_STORED);
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &columns, row);
    return sql_run(&sql, error);
}

static CHECKED bool apply_put(struct sql_connection *connection, void *context, struct error *error)
{
    struct put *put = context;
    bool found;

    recipe_import_finish(&put->row);
    put->row = (struct recipe_import){ 0 };
    if (!find(connection, put->wanted.name, &put->row, &found, error))
        return false;
    put->existed = found && strcmp(put->row.document, put->wanted.document) == 0;
    if (put->existed)
        return true;
    if (!found && !check_room(connection, error))
        return false;
    put->wanted.revision = found ? put->row.revision + 1 : 1;
    recipe_import_finish(&put->row);
    put->row = put->wanted;
    put->row.document = memory_copy_text(put->wanted.document);
    return insert(connection, &put->row, error);
}

bool recipe_import_put(struct store *store, const char *name, const char *document, int64_t now_ms,
                       struct change *change, struct recipe_import *out, bool *existed,
                       struct error *error)
{
    FREE_AUTO char *copy = memory_copy_text(document);
    struct put put = { .wanted = { .created_ms = now_ms, .document = copy } };
    bool done;

    text_copy(put.wanted.name, sizeof put.wanted.name, name);
    text_copy(put.wanted.principal, sizeof put.wanted.principal, store_change_principal(change));
    done = store_change(store, change, apply_put, &put, put.wanted.name, "", error);
    if (done) {
        *out = put.row;
        *existed = put.existed;
    } else
        recipe_import_finish(&put.row);
    return done;
}

bool recipe_import_find(struct store *store, const char *name, struct recipe_import *out,
                        bool *found, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return find(reader.connection, name, out, found, error);
}

bool recipe_import_list(struct store *store, struct recipe_import **out, size_t *count,
                        struct error *error)
{
    READER_AUTO reader = database_reader(store->main);
    void *rows;
    SQL_AUTO sql = sql_begin(reader.connection,
                             SELECT_IMPORTS "WHERE i.revision = (SELECT max(n.revision) FROM "
                                            "recipe_imports n WHERE n.name = i.name) "
                                            "ORDER BY i.name");

    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}
