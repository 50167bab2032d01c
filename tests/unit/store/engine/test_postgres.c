/* SPDX-License-Identifier: Apache-2.0 */
/* What is special about a store in PostgreSQL: its schema beside that of the files, lost sessions,
 * and who holds the database. Without OPSBRAIN_TEST_DATABASE there is nothing to test. */
#include "base/core/text.h"
#include "store/audit/audit_log.h"
#include "store/ledger/store.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

/* ---- The schemas ---- */

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

/* Sorted: the engines sort underscores differently. */
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

/* Compares lists that both files, and the schema, answer. */
static void compare(const struct ledger *ledger, const char *files, const char *sqlite,
                    const char *postgres)
{
    TEXT_AUTO ours = { 0 };
    TEXT_AUTO theirs = { 0 };

    list_sqlite(files, "opsbrain.db", sqlite, &ours);
    list_sqlite(files, "scrapes.db", sqlite, &ours);
    list_postgres(test_database(ledger->folder), postgres, &theirs);
    sort_lines(&ours);
    sort_lines(&theirs);
    assert_true(ours.length > 100);
    assert_string_equal(text_string(&ours), text_string(&theirs));
}

static void both_engines_have_the_same_tables_columns_and_guards(void **state)
{
    struct ledger *ledger = *state;
    char files[FOLDER_SIZE];
    struct store *store;

    folder_create(files);
    assert_ok(ledger, store_open(files, "", 1, &store, &ledger->error));
    store_close(store);
    compare(ledger, files,
            "SELECT m.name, c.name, CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'REAL' THEN "
            "'double precision' WHEN 'BLOB' THEN 'bytea' ELSE lower(c.type) END, "
            "CASE WHEN c.\"notnull\" OR c.pk THEN 'NO' ELSE 'YES' END "
            "FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' "
            "AND m.name NOT LIKE 'sqlite_%'",
            "SELECT table_name, column_name, data_type, is_nullable FROM "
            "information_schema.columns WHERE table_schema = current_schema() "
            "AND table_name NOT IN ('opsbrain_schema', 'opsbrain_holder')");
    compare(ledger, files, "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger'",
            "SELECT DISTINCT trigger_name, event_object_table FROM information_schema.triggers "
            "WHERE trigger_schema = current_schema()");
    compare(ledger, files,
            "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
            "SELECT i.indexname, i.tablename FROM pg_indexes i WHERE i.schemaname = "
            "current_schema() AND NOT EXISTS (SELECT 1 FROM pg_constraint c JOIN pg_class r ON "
            "r.oid = c.conindid JOIN pg_namespace n ON n.oid = r.relnamespace WHERE r.relname = "
            "i.indexname AND n.nspname = i.schemaname AND c.contype <> 'f')");
    folder_remove(files);
}

/* ---- Sessions ---- */

static void end_sessions(const struct ledger *ledger)
{
    backdoor_run(ledger->folder, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                 "WHERE pid <> pg_backend_pid() AND datname = current_database() "
                                 "AND application_name = 'opsbrain'");
}

static void lost_sessions_are_had_again(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "x");

    for (int i = 0; i < 3; i++) {
        end_sessions(ledger);
        assert_ok(ledger, store_check(ledger->store, &ledger->error));
        end_sessions(ledger);
        assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error));
    }
}

/* ---- Holders ---- */

static void a_second_process_is_refused(void **state)
{
    struct ledger *ledger = *state;
    char other[FOLDER_SIZE];
    struct store *store;

    folder_create(other);
    assert_refused(ledger,
                   store_open(other, test_database(ledger->folder), 1, &store, &ledger->error),
                   ERROR_CONFLICT, "belongs to another opsbrain");
    folder_remove(other);
}

static void who_lost_the_database_stores_nothing_and_says_so(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "x");

    backdoor_run(ledger->folder,
                 "UPDATE opsbrain_holder SET fence = fence + 1, holder = 'another'");
    assert_refused(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error),
                   ERROR_CONFLICT, "taken over by another opsbrain (another,");
    backdoor_run(ledger->folder, "UPDATE opsbrain_holder SET fence = fence - 1");
    assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_have_the_same_tables_columns_and_guards),
        cmocka_unit_test(lost_sessions_are_had_again),
        cmocka_unit_test(a_second_process_is_refused),
        cmocka_unit_test(who_lost_the_database_stores_nothing_and_says_so),
    };

    if (test_database_is_files())
        return 0;
    return ledger_run(tests);
}
