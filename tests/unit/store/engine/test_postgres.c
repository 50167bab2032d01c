/* SPDX-License-Identifier: Apache-2.0 */
/* What is special about a store in PostgreSQL: its address, its schema beside that of the files,
 * lost sessions, refusals, and who holds the database. Without OPSBRAIN_TEST_DATABASE only the
 * address is tested. */
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/text.h"
#include "store/audit/audit_log.h"
#include "store/engine/postgres.h"
#include "store/engine/postgres_private.h"
#include "store/engine/sql.h"
#include "store/ledger/store.h"
#include "store/ledger/store_private.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

/* ---- The address ---- */

static void the_error_of_an_address_has_no_password_in_it(void **state)
{
    static const char *const places[] = {
        "postgresql://u:hunter2@h:5432/%zz",  "postgresql://u:hunter2@[::1/db",
        "postgresql://u:hun%zzter2@h/db",     "postgresql://u:hunter2/more@h/db",
        "postgresql://u:hunter2@more@h/db",   "postgresql://u:hunt?er2@more@h/db",
        "postgresql://u:hunter2@h/db?a=b",    "postgresql://u@h/db?password=hunter2&sslmode",
        "postgres://u:hunter2:more/x@h:1/db", "host=h password='hunter2",
        "postgresql://u:hunter2/db",          "postgresql://u:65536/db",
        "postgresql://u:65536,5432/db",       "postgresql://u:5432,65536/db",
        "postgresql://u:655360000000/db",     "postgresql://u:00065536/db",
        "postgresql://u:65536x/db",           "postgresql://u:00000/db",
    };

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct sql_connection *connection;
        struct error error;

        assert_false(postgres_engine.open(places[i], SQL_CONNECTION_WRITER, &connection, &error));
        if (error.kind != ERROR_INVALID)
            fail_msg("%s: %s", places[i], error.message);
        assert_null(strstr(error.message, "hun"));
        assert_null(strstr(error.message, "more"));
        assert_null(strstr(error.message, "65536"));
        assert_null(strstr(error.message, "00000"));
        assert_non_null(strstr(error.message, "postgresql://USER@HOST:PORT/DATABASE"));
    }
}

/* A server that refuses TLS. */
static void *refuse_tls(void *listener)
{
    char request[8];
    int link = accept(*(const int *)listener, NULL, NULL);

    close(*(const int *)listener);
    if (recv(link, request, sizeof request, MSG_WAITALL) == sizeof request
        && send(link, "N", 1, 0) == 1)
        recv(link, request, 1, 0);
    close(link);
    return NULL;
}

static void another_machine_needs_tls_also_if_only_its_number_is_given(void **state)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000002) };
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sql_connection *connection;
    socklen_t size = sizeof at;
    struct error error;
    pthread_t server;
    char place[80];

    (void)state;
    assert_int_equal(bind(listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &size), 0);
    snprintf(place, sizeof place, "postgresql://u@/d?hostaddr=127.0.0.2&port=%d",
             ntohs(at.sin_port));
    assert_int_equal(pthread_create(&server, NULL, refuse_tls, &listener), 0);
    assert_false(postgres_engine.open(place, SQL_CONNECTION_READER, &connection, &error));
    if (strstr(error.message, "has no TLS, which other machines need") == NULL)
        fail_msg("%s", error.message);
    pthread_join(server, NULL);
}

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

/* The last one fails: the one before it, which takes its time, is not kept either. */
static void an_upgrade_that_fails_leaves_the_version_before(void **state)
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

/* ---- Sessions ---- */

/* Other tests have theirs on the same server. */
static void end_sessions(const struct ledger *ledger)
{
    backdoor_run(ledger->folder,
                 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                 "pg_backend_pid() AND application_name = current_setting('application_name')");
}

static void lost_sessions_are_had_again(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "x");

    for (int i = 0; i < 2; i++) {
        end_sessions(ledger);
        assert_ok(ledger, store_check(ledger->store, &ledger->error));
        end_sessions(ledger);
        assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error));
    }
}

static CHECKED bool note(struct sql_connection *connection, const char *nonce, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO settled_requests "
                                         "(nonce, request_id, created_ms) VALUES (?1, '', 0)");

    sql_bind_text(&sql, 1, nonce);
    return sql_run(&sql, error);
}

static int64_t count_notes(const struct ledger *ledger)
{
    TEXT_AUTO out = { 0 };

    list_postgres(test_database(ledger->folder), "SELECT count(*) FROM settled_requests", &out);
    return atoll(text_string(&out));
}

struct losing {
    const struct ledger *ledger;
    int runs, stored_outside;
};

/* Swallows the error of its lost session; the second time it changes its mind. */
static bool lose_session(struct sql_connection *connection, void *context, struct error *error)
{
    struct losing *losing = context;
    struct error ignored;

    if (++losing->runs > 1)
        return error_set(error, ERROR_CONFLICT, "changed its mind");
    if (!note(connection, "first", error))
        return false;
    end_sessions(losing->ledger);
    for (int i = 0; i < 2; i++) /* the first finds out that it is lost */
        losing->stored_outside += note(connection, "second", &ignored);
    return true;
}

static void nothing_is_stored_outside_of_a_lost_transaction(void **state)
{
    struct ledger *ledger = *state;
    struct losing losing = { .ledger = ledger };

    assert_refused(ledger,
                   database_write(ledger->store->main, lose_session, &losing, &ledger->error),
                   ERROR_CONFLICT, "changed its mind");
    assert_in_range(losing.runs, 2, 3); /* rehearsed, the second run is one more */
    assert_int_equal(losing.stored_outside, 0);
    assert_int_equal(count_notes(ledger), 0);
}

static bool read_limits(struct sql_connection *connection, void *context, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "SELECT current_setting('idle_in_transaction_session_timeout') "
                              "|| ' ' || current_setting('statement_timeout')");

    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    sql_text(&sql, 0, context, 40);
    return true;
}

static void a_transaction_that_stands_still_is_ended(void **state)
{
    struct ledger *ledger = *state;
    char limits[40];

    assert_ok(ledger, database_write(ledger->store->main, read_limits, limits, &ledger->error));
    assert_string_equal(limits, "10s 5min");
}

/* It is asked for the process that serves it first, here in vain. */
static void a_session_that_could_not_begin_is_not_used(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *reader;
    char place[1100];

    if (test_database_is_pooled())
        skip();
    snprintf(place, sizeof place, "%s%%2Cpg_catalog", test_database(ledger->folder));
    assert_ok(ledger, postgres_engine.open(place, SQL_CONNECTION_READER, &reader, &ledger->error));
    backdoor_run(ledger->folder,
                 "CREATE FUNCTION pg_backend_pid() RETURNS int LANGUAGE plpgsql AS $$ BEGIN "
                 "RAISE EXCEPTION 'refused'; END $$");
    assert_int_equal(shutdown(PQsocket(postgres_of(reader)->link), SHUT_RDWR), 0);
    for (int i = 0; i < 3; i++)
        assert_false(sql_connection_run(reader, "SELECT 1", &ledger->error));
    assert_non_null(strstr(ledger->error.message, "refused"));
    sql_connection_close(reader);
}

static void a_snapshot_may_stand_still(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *reader;
    char limits[40];

    assert_ok(ledger, postgres_engine.open(test_database(ledger->folder), SQL_CONNECTION_READER,
                                           &reader, &ledger->error));
    assert_ok(ledger, sql_connection_run(reader, "SET idle_in_transaction_session_timeout = '1s'",
                                         &ledger->error));
    assert_ok(ledger, postgres_engine.snapshot(reader, &ledger->error));
    assert_ok(ledger, read_limits(reader, limits, &ledger->error));
    sql_connection_close(reader);
    assert_string_equal(limits, test_database_is_pooled() ? "0 0" : "0 1min");
}

/* ---- Commits whose answer is lost ---- */

static struct sql_connection *open_writer(struct ledger *ledger)
{
    struct sql_connection *writer;

    store_close(ledger->store);
    ledger->store = NULL;
    assert_ok(ledger, postgres_engine.open(test_database(ledger->folder), SQL_CONNECTION_WRITER,
                                           &writer, &ledger->error));
    assert_ok(ledger,
              postgres_engine.prepare_schema(writer, &migrations_postgres_main, &ledger->error));
    assert_ok(ledger, postgres_engine.begin(writer, &ledger->error));
    assert_ok(ledger, note(writer, "one", &ledger->error));
    return writer;
}

static void cut(struct sql_connection *writer)
{
    assert_int_equal(shutdown(PQsocket(postgres_of(writer)->link), SHUT_RDWR), 0);
}

static void a_commit_that_took_place_is_reported_although_its_answer_is_lost(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *writer = open_writer(ledger);

    PQclear(PQexec(postgres_of(writer)->link, "COMMIT"));
    cut(writer);
    assert_ok(ledger, postgres_engine.commit(writer, &ledger->error));
    assert_int_equal(count_notes(ledger), 1);
    sql_connection_close(writer);
}

static void a_commit_that_did_not_take_place_is_reported_and_may_be_repeated(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *writer = open_writer(ledger);

    cut(writer);
    assert_false(postgres_engine.commit(writer, &ledger->error));
    assert_int_equal(ledger->error.kind, ERROR_BUSY);
    assert_true(postgres_engine.may_repeat(writer));
    assert_int_equal(count_notes(ledger), 0);
    assert_ok(ledger, postgres_engine.begin(writer, &ledger->error));
    assert_ok(ledger, note(writer, "one", &ledger->error));
    assert_ok(ledger, postgres_engine.commit(writer, &ledger->error));
    assert_int_equal(count_notes(ledger), 1);
    sql_connection_close(writer);
}

static void a_commit_that_two_others_came_after_may_have_taken_place(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *writer = open_writer(ledger);

    cut(writer);
    backdoor_run(ledger->folder, "UPDATE opsbrain_holder SET fence = fence + 2");
    assert_refused(ledger, postgres_engine.commit(writer, &ledger->error), ERROR_CONFLICT,
                   "may be stored or not");
    sql_connection_close(writer);
}

static bool count_and_note(struct sql_connection *connection, void *context, struct error *error)
{
    ++*(int *)context;
    return note(connection, "one", error);
}

/* A sequence counts on when its transaction is rolled back. */
static void what_was_not_committed_is_run_again(void **state)
{
    struct ledger *ledger = *state;
    int runs = 0, each = getenv("OPSBRAIN_REHEARSE_WRITES") == NULL ? 1 : 2;

    backdoor_run(ledger->folder,
                 "CREATE SEQUENCE commits; "
                 "CREATE FUNCTION end_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                 "IF nextval('commits') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); "
                 "PERFORM pg_sleep(10); END IF; RETURN NULL; END $$; "
                 "CREATE CONSTRAINT TRIGGER end_first AFTER INSERT ON settled_requests "
                 "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION end_first()");
    assert_ok(ledger, database_write(ledger->store->main, count_and_note, &runs, &ledger->error));
    assert_int_equal(runs, 2 * each);
    assert_int_equal(count_notes(ledger), 1);
}

/* ---- Refusals ---- */

struct guest {
    char folder[FOLDER_SIZE], role[24], place[1100];
    struct store *store;
};

__attribute__((format(printf, 2, 3))) static void run_for(const struct guest *guest,
                                                          const char *format, ...)
{
    char script[400];
    va_list args;

    va_start(args, format);
    vsnprintf(script, sizeof script, format, args);
    va_end(args);
    backdoor_run(guest->folder, script);
}

/* A store of a role of its own, which can be refused what it had. */
static void open_as_guest(struct ledger *ledger, struct guest *guest)
{
    folder_create(guest->folder);
    snprintf(guest->place, sizeof guest->place, "%s", test_database(guest->folder));
    snprintf(guest->role, sizeof guest->role, "g%016llx",
             (unsigned long long)test_database_digest(guest->folder));
    run_for(guest, "CREATE ROLE %s LOGIN; ALTER SCHEMA t%s OWNER TO %s", guest->role,
            guest->role + 1, guest->role);
    snprintf(guest->place + strlen(guest->place), sizeof guest->place - strlen(guest->place),
             "&user=%s", guest->role);
    assert_ok(ledger, store_open(guest->folder, guest->place, 1, &guest->store, &ledger->error));
}

static void close_guest(struct guest *guest)
{
    store_close(guest->store);
    run_for(guest, "DROP OWNED BY %s CASCADE; DROP ROLE %s", guest->role, guest->role);
    folder_remove(guest->folder);
}

/* Whether the store becomes ready, or ceases to be, within 5 s. */
static bool becomes_ready(struct ledger *ledger, struct guest *guest, bool ready)
{
    int64_t until_ns = clock_monotonic_ns() + 5000000000;

    while (store_check(guest->store, &ledger->error) != ready) {
        if (clock_monotonic_ns() > until_ns)
            return false;
        usleep(50000);
    }
    return true;
}

/* Takes something from the role, and gives it back. */
static void refuse_and_allow(struct ledger *ledger, const char *refuse, const char *sentence,
                             const char *allow)
{
    struct guest guest;

    if (test_database_is_pooled()) /* which has the same role for all */
        skip();
    open_as_guest(ledger, &guest);
    run_for(&guest, "ALTER ROLE %s %s", guest.role, refuse);
    run_for(&guest, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s'",
            guest.role);
    assert_true(becomes_ready(ledger, &guest, false));
    assert_string_equal(error_kind_name(ledger->error.kind), error_kind_name(ERROR_BUSY));
    if (strstr(ledger->error.message, sentence) == NULL)
        fail_msg("%s", ledger->error.message);
    run_for(&guest, "ALTER ROLE %s %s", guest.role, allow);
    if (!becomes_ready(ledger, &guest, true))
        fail_msg("%s", ledger->error.message);
    close_guest(&guest);
}

static void a_database_that_can_only_be_read_is_not_ready_until_it_can_be_written(void **state)
{
    refuse_and_allow(*state, "SET default_transaction_read_only = on",
                     "the database can only be read", "RESET ALL");
}

static void a_server_without_a_free_connection_is_not_ready_until_it_has_one(void **state)
{
    refuse_and_allow(*state, "CONNECTION LIMIT 0", "the database server has no connection left",
                     "CONNECTION LIMIT -1");
}

static bool is_full_on(struct sql_connection *connection, void *context, struct error *error)
{
    bool *is_full = context;

    (void)error;
    *is_full = postgres_of(connection)->is_full;
    return true;
}

static void a_full_disk_is_looked_at_again_before_the_next_transaction(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "x");
    bool is_full = true;

    backdoor_run(ledger->folder,
                 "CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE "
                 "EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$; "
                 "CREATE TRIGGER fill BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION fill()");
    assert_refused(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error),
                   ERROR_BUSY, "the disk of the database server is full: free some space there");
    assert_ok(ledger, database_write(ledger->store->main, is_full_on, &is_full, &ledger->error));
    assert_false(is_full);
    backdoor_run(ledger->folder, "DROP TRIGGER fill ON audit");
    assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error));
}

static void the_size_of_the_database_is_known(void **state)
{
    struct ledger *ledger = *state;

    assert_in_range(store_size_bytes(ledger->store), 100000, 100000000);
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

static void a_second_process_brings_nothing_up_to_date(void **state)
{
    struct ledger *ledger = *state;

    backdoor_run(ledger->folder,
                 "UPDATE opsbrain_schema SET version = version - 1 WHERE name = 'main'");
    a_second_process_is_refused(state);
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

static void reopen_elsewhere(struct ledger *ledger)
{
    char other[FOLDER_SIZE];
    struct store *store;

    folder_create(other);
    assert_ok(ledger, store_open(other, test_database(ledger->folder), 1, &store, &ledger->error));
    store_close(store);
    folder_remove(other);
}

static void a_holder_whose_process_is_gone_is_followed_at_once(void **state)
{
    struct ledger *ledger = *state;
    int64_t begun_ns = clock_monotonic_ns();

    backdoor_run(ledger->folder, "UPDATE opsbrain_holder SET process = "
                                 "regexp_replace(process, '[0-9]+$', '1')");
    reopen_elsewhere(ledger);
    assert_true(clock_monotonic_ns() - begun_ns < 10000000000);
}

int main(void)
{
    const struct CMUnitTest address[] = {
        cmocka_unit_test(the_error_of_an_address_has_no_password_in_it),
        cmocka_unit_test(another_machine_needs_tls_also_if_only_its_number_is_given),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_have_the_same_tables_columns_and_guards),
        cmocka_unit_test(an_upgrade_that_fails_leaves_the_version_before),
        cmocka_unit_test(lost_sessions_are_had_again),
        cmocka_unit_test(nothing_is_stored_outside_of_a_lost_transaction),
        cmocka_unit_test(a_transaction_that_stands_still_is_ended),
        cmocka_unit_test(a_session_that_could_not_begin_is_not_used),
        cmocka_unit_test(a_snapshot_may_stand_still),
        cmocka_unit_test(a_commit_that_took_place_is_reported_although_its_answer_is_lost),
        cmocka_unit_test(a_commit_that_did_not_take_place_is_reported_and_may_be_repeated),
        cmocka_unit_test(a_commit_that_two_others_came_after_may_have_taken_place),
        cmocka_unit_test(what_was_not_committed_is_run_again),
        cmocka_unit_test(a_database_that_can_only_be_read_is_not_ready_until_it_can_be_written),
        cmocka_unit_test(a_server_without_a_free_connection_is_not_ready_until_it_has_one),
        cmocka_unit_test(a_full_disk_is_looked_at_again_before_the_next_transaction),
        cmocka_unit_test(the_size_of_the_database_is_known),
        cmocka_unit_test(a_second_process_is_refused),
        cmocka_unit_test(a_second_process_brings_nothing_up_to_date),
        cmocka_unit_test(a_holder_whose_process_is_gone_is_followed_at_once),
        cmocka_unit_test(who_lost_the_database_stores_nothing_and_says_so),
    };
    int failed = cmocka_run_group_tests(address, NULL, NULL);

    return test_database_is_files() ? failed : failed + ledger_run(tests);
}
