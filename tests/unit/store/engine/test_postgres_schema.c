/* SPDX-License-Identifier: Apache-2.0 */
/* The schema in PostgreSQL is the same as in the SQLite files, and is brought up to date completely
 * or not at all. Without OPSBRAIN_TEST_DATABASE, nothing is tested. */
#include "base/core/text.h"
#include "store/engine/postgres.h"
#include "store/engine/sql.h"
#include "store/engine/sql_engine.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

static int add_row(void *context, int count, char **values, char **names)
{
    (void)names;
    for (int i = 0; i < count; i++)
        text_addf(context, "%s%s", values[i] == NULL ? "" : values[i], i + 1 < count ? " " : "\n");
    return 0;
}

static void list_sqlite(const char *folder, const char *name, const char *query, struct text *out)
{
    char path[FOLDER_SIZE + 32];
    sqlite3 *db;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, query, add_row, out, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void list_postgres(const char *place, const char *query, struct text *out)
{
    PGconn *link = PQconnectdb(place);
    PGresult *result = PQexec(link, query);

    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(link));
    for (int row = 0; row < PQntuples(result); row++)
        for (int i = 0; i < PQnfields(result); i++)
            text_addf(out, "%s%s", PQgetvalue(result, row, i),
                      i + 1 < PQnfields(result) ? " " : "\n");
    PQclear(result);
    PQfinish(link);
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ORDER BY would not do, because the two engines sort underscores differently. */
static void sort_lines(struct text *text)
{
    char *lines[4096], *copy = strdup(text_string(text)), *rest = copy;
    size_t count = 0;

    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n"))
        if (*line != '\0')
            lines[count++] = line;
    qsort(lines, count, sizeof *lines, by_line);
    text_clear(text);
    for (size_t i = 0; i < count; i++)
        text_addf(text, "%s\n", lines[i]);
    free(copy);
}

/* Asserts that a query on both SQLite files returns the same rows as a query on the PostgreSQL
 * schema. */
static void assert_same_rows(const struct ledger *ledger, const char *files, const char *sqlite,
                             const char *postgres)
{
    TEXT_AUTO of_sqlite = { 0 };
    TEXT_AUTO of_postgres = { 0 };

    list_sqlite(files, "opsbrain.db", sqlite, &of_sqlite);
    list_sqlite(files, "scrapes.db", sqlite, &of_sqlite);
    list_postgres(test_database(ledger->folder), postgres, &of_postgres);
    sort_lines(&of_sqlite);
    sort_lines(&of_postgres);
    assert_true(of_sqlite.length > 100);
    assert_string_equal(text_string(&of_sqlite), text_string(&of_postgres));
}

static void both_engines_have_the_same_tables_columns_triggers_and_indexes(void **state)
{
    struct ledger *ledger = *state;
    char files[FOLDER_SIZE];
    struct store *store;

    folder_create(files);
    assert_ok(ledger, store_open(files, "", 1, &store, &ledger->error));
    store_close(store);
    assert_same_rows(
        ledger, files,
        "SELECT m.name, c.name, CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'REAL' THEN "
        "'double precision' WHEN 'BLOB' THEN 'bytea' ELSE lower(c.type) END, "
        "CASE WHEN c.\"notnull\" OR c.pk THEN 'NO' ELSE 'YES' END "
        "FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' "
        "AND m.name NOT LIKE 'sqlite_%'",
        "SELECT table_name, column_name, CASE WHEN data_type = 'text' AND collation_name IS "
        "DISTINCT FROM 'C' THEN 'text of the database''s locale' ELSE data_type END, "
        "is_nullable FROM information_schema.columns WHERE table_schema = current_schema() "
        "AND table_name NOT IN ('opsbrain_schema', 'opsbrain_holder')");
    assert_same_rows(
        ledger, files, "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'",
        "SELECT DISTINCT trigger_name, event_object_table FROM information_schema.triggers "
        "WHERE trigger_schema = current_schema()");
    assert_same_rows(
        ledger, files,
        "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
        "SELECT i.indexname, i.tablename FROM pg_indexes i WHERE i.schemaname = "
        "current_schema() AND NOT EXISTS (SELECT 1 FROM pg_constraint c JOIN pg_class r ON "
        "r.oid = c.conindid JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.relname = "
        "i.indexname AND n.nspname = i.schemaname AND c.contype <> 'f')");
    folder_remove(files);
}

/* The last migration fails, so the slow one before it is not kept either. Without a pooler, the
 * test sets a statement_timeout that is too short for the slow one. The slow one succeeds
 * nevertheless, because the timeout does not apply to migrations. */
static void a_failed_upgrade_keeps_the_previous_version(void **state)
{
    struct migration rows[64];
    struct migration_set upgraded = { rows, migrations_postgres_main.count };
    struct ledger *ledger = *state;
    struct sql_connection *writer;

    memcpy(rows, migrations_postgres_main.rows, (size_t)upgraded.count * sizeof *rows);
    rows[upgraded.count++] =
        (struct migration){ "9998_more.sql", "CREATE TABLE more (id BIGINT); SELECT pg_sleep(1)" };
    rows[upgraded.count++] =
        (struct migration){ "9999_wrong.sql", "ALTER TABLE nothing ADD COLUMN why TEXT" };
    store_close(ledger->store);
    ledger->store = NULL;
    assert_ok(ledger, postgres_engine.open(test_database(ledger->folder), SQL_CONNECTION_WRITER,
                                           &writer, &ledger->error));
    assert_ok(ledger,
              test_database_is_pooled()
                  || sql_connection_run(writer, "SET statement_timeout = '500ms'", &ledger->error));
    assert_refused(ledger, postgres_engine.prepare_schema(writer, &upgraded, &ledger->error),
                   ERROR_INTERNAL, "migration 9999_wrong.sql: ");
    postgres_engine.upkeep(writer, SQL_UPKEEP_END);
    sql_connection_close(writer);
    ledger_reopen(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_have_the_same_tables_columns_triggers_and_indexes),
        cmocka_unit_test(a_failed_upgrade_keeps_the_previous_version),
    };

    return test_database_is_files() ? 0 : ledger_run(tests);
}
