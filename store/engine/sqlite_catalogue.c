/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the migrations in an in-memory database, and reads the tables' columns from it. */
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/engine/sql.h"
#include "store/engine/sql_catalogue.h"
#include "store/engine/sqlite.h"

static enum sql_type type_of(const char *declared)
{
    static const struct {
        const char *name;
        enum sql_type type;
    } types[] = {
        { "INTEGER", SQL_INTEGER }, { "REAL", SQL_REAL }, { "TEXT", SQL_TEXT }, { "BLOB", SQL_BLOB }
    };

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(declared, types[i].name) == 0)
            return types[i].type;
    return SQL_BLOB;
}

static struct sql_table *add_table(struct sql_catalogue *catalogue, const char *name)
{
    struct sql_table *table;

    catalogue->tables =
        sql_rows_grow(catalogue->tables, catalogue->count, sizeof *catalogue->tables);
    table = &catalogue->tables[catalogue->count++];
    *table = (struct sql_table){ .name = memory_copy_text(name) };
    return table;
}

/* `key`: the column's position in the primary key, from 1; 0: it is not in the key. */
static void add_column(struct sql_table *table, const char *name, const char *declared, size_t key)
{
    table->columns = sql_rows_grow(table->columns, table->column_count, sizeof *table->columns);
    if (key > 0 && key <= SQL_KEY_MAX) {
        table->key[key - 1] = table->column_count;
        table->key_count = key > table->key_count ? key : table->key_count;
    }
    table->columns[table->column_count++] =
        (struct sql_table_column){ memory_copy_text(name), type_of(declared) };
}

static CHECKED bool read_tables(struct sql_connection *connection, struct sql_catalogue *catalogue,
                                struct error *error)
{
    char table[64] = "", column[64], declared[16];
    enum sql_step step;
    SQL_AUTO sql = sql_begin(
        connection, "SELECT m.name, c.name, c.type, c.pk FROM sqlite_schema m, "
                    "pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE "
                    "'sqlite\\_%' ESCAPE '\\' ORDER BY m.name, c.cid");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        char next[sizeof table];

        sql_text(&sql, 0, next, sizeof next);
        sql_text(&sql, 1, column, sizeof column);
        sql_text(&sql, 2, declared, sizeof declared);
        if (strcmp(next, table) != 0)
            add_table(catalogue, next);
        memcpy(table, next, sizeof table);
        add_column(&catalogue->tables[catalogue->count - 1], column, declared,
                   (size_t)sql_integer(&sql, 3));
    }
    return step == SQL_DONE;
}

static CHECKED bool make_schema(struct sql_connection *connection,
                                const struct migration_set *migrations, struct error *error)
{
    for (int i = 0; i < migrations->count; i++)
        if (!sqlite_run(connection, migrations->rows[i].sql, error))
            return false;
    return true;
}

bool sql_catalogue_read(const struct migration_set *migrations, struct sql_catalogue *out,
                        struct error *error)
{
    struct sql_connection *connection;
    bool done;

    *out = (struct sql_catalogue){ 0 };
    /* Opening a writer would create a file named ":memory:". */
    if (!sql_connection_open(&sqlite_engine, ":memory:", SQL_CONNECTION_READER, &connection, error))
        return false;
    done = sqlite_run(connection, "PRAGMA query_only = OFF", error)
           && make_schema(connection, migrations, error) && read_tables(connection, out, error);
    sql_connection_close(connection);
    if (!done)
        sql_catalogue_finish(out);
    return done;
}

void sql_catalogue_finish(struct sql_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->count; i++) {
        for (size_t j = 0; j < catalogue->tables[i].column_count; j++)
            free(catalogue->tables[i].columns[j].name);
        free(catalogue->tables[i].columns);
        free(catalogue->tables[i].name);
    }
    free(catalogue->tables);
    *catalogue = (struct sql_catalogue){ 0 };
}
