/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the tables of a copy, builds the statements that copy them, and reads them page by page. */
#include <stdlib.h>

#include "store/copy/copy_rows.h"

#define PAGE_BYTES ((size_t)1 << 20)
/* PostgreSQL sends all rows of a page in one answer, so their number is chosen before the page is
 * read: PAGE_ROWS_FIRST for the first page, then about as many as fill PAGE_BYTES if they are as
 * long as the rows of the previous page. */
#define PAGE_ROWS_FIRST 16
#define PAGE_ROWS_MAX 1024

/* ---- Statements ---- */

/* Lists the columns of the key, or all columns. */
static void add_names(struct text *out, const struct sql_table *table, bool is_key)
{
    size_t count = is_key ? table->key_count : table->column_count;

    for (size_t i = 0; i < count; i++)
        text_addf(out, "%s\"%s\"", i == 0 ? "" : ", ",
                  table->columns[is_key ? table->key[i] : i].name);
}

static void add_parameters(struct text *out, size_t count)
{
    for (size_t i = 1; i <= count; i++)
        text_addf(out, "%s?%zu", i == 1 ? "" : ", ", i);
}

static char *write_page(const struct sql_table *table, bool is_first)
{
    TEXT_AUTO out = { 0 };

    text_add(&out, "SELECT ");
    add_names(&out, table, false);
    text_addf(&out, " FROM \"%s\"", table->name);
    if (!is_first) {
        text_add(&out, " WHERE (");
        add_names(&out, table, true);
        text_add(&out, ") > (");
        add_parameters(&out, table->key_count);
        text_add(&out, ")");
    }
    text_add(&out, " ORDER BY ");
    add_names(&out, table, true);
    text_addf(&out, " LIMIT ?%zu", is_first ? (size_t)1 : table->key_count + 1);
    return text_take(&out);
}

static char *write_insert(const struct sql_table *table)
{
    TEXT_AUTO out = { 0 };

    text_addf(&out, "INSERT INTO \"%s\" (", table->name);
    add_names(&out, table, false);
    text_add(&out, ") VALUES (");
    add_parameters(&out, table->column_count);
    text_add(&out, ")");
    return text_take(&out);
}

static char *write_count(const struct sql_table *table)
{
    TEXT_AUTO out = { 0 };

    text_addf(&out, "SELECT count(*) FROM \"%s\"", table->name);
    return text_take(&out);
}

/* ---- Tables ---- */

static CHECKED bool add_table(struct copy_tables *tables, enum copy_set set,
                              const struct sql_table *table, struct error *error)
{
    if (table->key_count == 0 || table->column_count > COPY_COLUMNS_MAX)
        return error_set(error, ERROR_INTERNAL,
                         "table %s cannot be copied: it has no primary key, or too many columns",
                         table->name);
    tables->list = sql_rows_grow(tables->list, tables->count, sizeof *tables->list);
    tables->list[tables->count++] = (struct copy_table){
        .set = set,
        .schema = table,
        .first = write_page(table, true),
        .next = write_page(table, false),
        .count = write_count(table),
        .insert = write_insert(table),
    };
    return true;
}

static CHECKED bool read_set(struct copy_tables *tables, enum copy_set set, int64_t version,
                             struct error *error)
{
    const struct migration_set *all =
        set == COPY_MAIN ? &migrations_sqlite_main : &migrations_sqlite_scrapes;
    const struct migration_set some = { all->rows, (int)version };
    struct sql_catalogue *catalogue = &tables->catalogues[set];

    if (!sql_catalogue_read(&some, catalogue, error))
        return false;
    for (size_t i = 0; i < catalogue->count; i++)
        if (!add_table(tables, set, &catalogue->tables[i], error))
            return false;
    return true;
}

bool copy_tables_read(const int64_t versions[COPY_SETS], struct copy_tables *out,
                      struct error *error)
{
    struct copy_tables tables = { 0 };

    for (int set = 0; set < COPY_SETS; set++)
        if (!read_set(&tables, (enum copy_set)set, versions[set], error)) {
            copy_tables_finish(&tables);
            return false;
        }
    *out = tables;
    return true;
}

void copy_tables_finish(struct copy_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        free(tables->list[i].first);
        free(tables->list[i].next);
        free(tables->list[i].count);
        free(tables->list[i].insert);
    }
    free(tables->list);
    for (int set = 0; set < COPY_SETS; set++)
        sql_catalogue_finish(&tables->catalogues[set]);
    *tables = (struct copy_tables){ 0 };
}

/* ---- Pages ---- */

/* How far a table has been read. */
struct pages {
    const struct copy_table *table;
    struct sql_connection *connection;
    struct text rows; /* of this page */
    struct text last; /* the row before the next page */
    int64_t limit;    /* maximum number of rows in the next page */
    bool ended;
};

static CHECKED bool bind_key(struct sql *sql, const struct pages *pages, struct error *error)
{
    const struct sql_table *table = pages->table->schema;
    const uint8_t *at = (const uint8_t *)pages->last.data;
    struct sql_value values[COPY_COLUMNS_MAX];

    if (!copy_rows_read(table, &at, at + pages->last.length, values, error))
        return false;
    for (size_t i = 0; i < table->key_count; i++)
        copy_rows_bind(sql, (int)i + 1, &values[table->key[i]]);
    return true;
}

/* Reads the rows of a page, but stops once they have PAGE_BYTES. Sets the limit for the next
 * page. */
static CHECKED bool read_rows(struct sql *sql, struct pages *pages, struct copy_tally *tally,
                              struct error *error)
{
    enum sql_step step = SQL_ROW;
    int64_t count = 0;
    size_t before = 0;

    while (pages->rows.length < PAGE_BYTES && (step = sql_step(sql, error)) == SQL_ROW) {
        before = pages->rows.length;
        copy_rows_add(sql, pages->table->schema, &pages->rows);
        copy_tally_add(tally, pages->rows.data + before, pages->rows.length - before);
        count++;
    }
    if (step == SQL_FAILED)
        return false;
    pages->ended = step == SQL_DONE && count < pages->limit;
    text_clear(&pages->last);
    if (count == 0)
        return true;
    text_add_bytes(&pages->last, pages->rows.data + before, pages->rows.length - before);
    pages->limit = (int64_t)(PAGE_BYTES / (pages->rows.length / (size_t)count + 1));
    pages->limit = pages->limit > PAGE_ROWS_MAX ? PAGE_ROWS_MAX : pages->limit + 1;
    return true;
}

static CHECKED bool read_page(struct pages *pages, struct copy_tally *tally, struct error *error)
{
    const struct copy_table *table = pages->table;
    bool is_first = pages->last.length == 0;
    SQL_AUTO sql = sql_begin(pages->connection, is_first ? table->first : table->next);

    text_clear(&pages->rows);
    if (!is_first && !bind_key(&sql, pages, error))
        return false;
    sql_bind_integer(&sql, is_first ? 1 : (int)table->schema->key_count + 1, pages->limit);
    return read_rows(&sql, pages, tally, error);
}

/* A connection that was lost and opened again is no longer in the snapshot's transaction. */
static CHECKED bool check_snapshot(struct sql_connection *connection, struct error *error)
{
    return connection->engine->in_transaction(connection)
           || error_set(error, ERROR_BUSY,
                        "the connection to database %s was lost while it was copied: try again",
                        connection->place);
}

bool copy_table_read(struct sql_connection *connection, bool snapshot,
                     const struct copy_tables *tables, size_t table, const struct copy_sink *sink,
                     struct copy_tally *tally, struct error *error)
{
    struct pages pages = { .table = &tables->list[table],
                           .connection = connection,
                           .limit = PAGE_ROWS_FIRST };
    bool done = true, found;

    *tally = (struct copy_tally){ 0 };
    if (!sql_connection_has_table(connection, pages.table->schema->name, &found, error))
        return false;
    pages.ended = !found;
    while (done && !pages.ended)
        done =
            read_page(&pages, tally, error) && (!snapshot || check_snapshot(connection, error))
            && (pages.rows.length == 0 || sink->receive(sink->context, table, &pages.rows, error));
    text_finish(&pages.rows);
    text_finish(&pages.last);
    return done;
}
