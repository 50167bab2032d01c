/* SPDX-License-Identifier: Apache-2.0 */
/* What is special about a store in PostgreSQL: lost sessions, limits and refusals. Without
 * OPSBRAIN_TEST_DATABASE, nothing is tested. */
#include <sys/socket.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "store/audit/audit_log.h"
#include "store/engine/postgres.h"
#include "store/engine/postgres_private.h"
#include "store/ledger/store_private.h"
#include "tests/unit/support/settled_requests.h"

/* ---- Sessions ---- */

/* Ends only this test's sessions, because other tests use the same server. */
static void end_sessions(const struct ledger *ledger)
{
    backdoor_run(ledger->folder,
                 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                 "pg_backend_pid() AND application_name = current_setting('application_name')");
}

static void lost_sessions_are_reconnected(void **state)
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

struct losing {
    const struct ledger *ledger;
    int runs, stored_outside;
};

/* The first run ends its own session and ignores the errors that follow. Every later run fails. */
static bool lose_session(struct sql_connection *connection, void *context, struct error *error)
{
    struct losing *losing = context;
    struct error ignored;

    if (++losing->runs > 1)
        return error_set(error, ERROR_CONFLICT, "changed its mind");
    if (!settled_requests_add(connection, "first", error))
        return false;
    end_sessions(losing->ledger);
    for (int i = 0; i < 2; i++) /* the first insert detects the loss */
        losing->stored_outside += settled_requests_add(connection, "second", &ignored);
    return true;
}

static void nothing_is_stored_outside_a_lost_transaction(void **state)
{
    struct ledger *ledger = *state;
    struct losing losing = { .ledger = ledger };

    assert_refused(ledger,
                   database_write(ledger->store->main, lose_session, &losing, &ledger->error),
                   ERROR_CONFLICT, "changed its mind");
    assert_in_range(losing.runs, 2, 3); /* one more if writes are rehearsed */
    assert_int_equal(losing.stored_outside, 0);
    assert_int_equal(settled_requests_count(ledger), 0);
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

static void a_writers_transaction_has_time_limits(void **state)
{
    struct ledger *ledger = *state;
    char limits[40];

    assert_ok(ledger, database_write(ledger->store->main, read_limits, limits, &ledger->error));
    assert_string_equal(limits, "10s 5min");
}

/* The first query in a new session calls pg_backend_pid. Here that query fails: pg_catalog is last
 * in the search path, so that the query calls the test's own function of this name. */
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

static void a_snapshot_can_be_idle_for_any_length_of_time(void **state)
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

static int64_t count_in(struct ledger *ledger, struct sql_connection *reader)
{
    SQL_AUTO sql = sql_begin(reader, "SELECT count(*) FROM settled_requests");

    return sql_step(&sql, &ledger->error) == SQL_ROW ? sql_integer(&sql, 0) : -1;
}

static bool add_request(struct sql_connection *connection, void *context, struct error *error)
{
    return settled_requests_add(connection, context, error);
}

static void a_snapshot_does_not_change_and_ends_with_its_session(void **state)
{
    struct ledger *ledger = *state;
    READER_AUTO reader = database_reader(ledger->store->main);
    char nonce[] = "one";

    assert_ok(ledger, sql_connection_snapshot(reader.connection, &ledger->error));
    assert_int_equal(count_in(ledger, reader.connection), 0);
    assert_ok(ledger, database_write(ledger->store->main, add_request, nonce, &ledger->error));
    assert_int_equal(count_in(ledger, reader.connection), 0);
    assert_int_equal(shutdown(PQsocket(postgres_of(reader.connection)->link), SHUT_RDWR), 0);
    assert_int_equal(count_in(ledger, reader.connection), -1);
    assert_int_equal(count_in(ledger, reader.connection), 1);
}

/* ---- Refusals ---- */

static void a_wrong_parameter_and_too_many_parameters_are_reported(void **state)
{
    struct ledger *ledger = *state;
    READER_AUTO reader = database_reader(ledger->store->main);
    SQL_AUTO unbindable = sql_begin(reader.connection, "SELECT ?1");
    SQL_AUTO too_many = sql_begin(reader.connection, "SELECT ?65");

    sql_bind_integer(&unbindable, 2, 1);
    assert_int_equal(sql_step(&unbindable, &ledger->error), SQL_FAILED);
    assert_non_null(strstr(ledger->error.message, "there is no parameter $2"));
    assert_int_equal(sql_step(&too_many, &ledger->error), SQL_FAILED);
    assert_non_null(strstr(ledger->error.message, "65 parameters, but at most 64 are allowed"));
}

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

/* Opens a store as a new role that owns the store's schema. The test can alter this role. */
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

/* Waits until the store is ready or, if `is_ready` is false, until it is not ready. Returns false
 * if that takes longer than 5 s. */
static bool wait_for_readiness(struct ledger *ledger, struct guest *guest, bool is_ready)
{
    int64_t until_ns = clock_monotonic_ns() + 5000000000;

    while (store_check(guest->store, &ledger->error) != is_ready) {
        if (clock_monotonic_ns() > until_ns)
            return false;
        usleep(50000);
    }
    return true;
}

/* Alters the role with `refuse`, and checks that the store is no longer ready, with an error
 * message that contains `expected`. Then alters the role with `allow`, and checks that the store is
 * ready again. */
static void refuse_and_allow(struct ledger *ledger, const char *refuse, const char *expected,
                             const char *allow)
{
    struct guest guest;

    if (test_database_is_pooled()) /* a pooler uses one role for all sessions */
        skip();
    open_as_guest(ledger, &guest);
    run_for(&guest, "ALTER ROLE %s %s", guest.role, refuse);
    run_for(&guest, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '%s'",
            guest.role);
    assert_true(wait_for_readiness(ledger, &guest, false));
    assert_string_equal(error_kind_name(ledger->error.kind), error_kind_name(ERROR_BUSY));
    if (strstr(ledger->error.message, expected) == NULL)
        fail_msg("%s", ledger->error.message);
    run_for(&guest, "ALTER ROLE %s %s", guest.role, allow);
    if (!wait_for_readiness(ledger, &guest, true))
        fail_msg("%s", ledger->error.message);
    close_guest(&guest);
}

#define SETTINGS_SIZE 80

static bool read_settings(struct sql_connection *connection, char out[SETTINGS_SIZE],
                          struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "SELECT current_setting('synchronous_commit') || ' ' "
                                         "|| current_setting('transaction_isolation') || ' ' "
                                         "|| current_setting('idle_session_timeout')");

    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    sql_text(&sql, 0, out, SETTINGS_SIZE);
    return true;
}

static void settings_of(struct ledger *ledger, const struct guest *guest,
                        enum sql_connection_kind kind, char out[SETTINGS_SIZE])
{
    struct sql_connection *connection;

    assert_ok(ledger, postgres_engine.open(guest->place, kind, &connection, &ledger->error));
    assert_ok(ledger, read_settings(connection, out, &ledger->error));
    sql_connection_close(connection);
}

static void sessions_override_harmful_settings_of_the_role(void **state)
{
    static const char *const settings[] = { "synchronous_commit = off",
                                            "default_transaction_isolation = serializable",
                                            "idle_session_timeout = '1h'" };
    struct ledger *ledger = *state;
    char of_writer[SETTINGS_SIZE], of_reader[SETTINGS_SIZE];
    struct guest guest;

    if (test_database_is_pooled())
        skip();
    open_as_guest(ledger, &guest);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        run_for(&guest, "ALTER ROLE %s SET %s", guest.role, settings[i]);
    settings_of(ledger, &guest, SQL_CONNECTION_WRITER, of_writer);
    settings_of(ledger, &guest, SQL_CONNECTION_READER, of_reader);
    close_guest(&guest);
    assert_string_equal(of_writer, "on read committed 0");
    assert_string_equal(of_reader, "off read committed 0");
}

static void a_database_in_latin1_is_refused(void **state)
{
    struct ledger *ledger = *state;
    unsigned long long digest = test_database_digest(ledger->folder);
    struct sql_connection *connection;
    char place[1100], script[200];

    snprintf(place, sizeof place, "%s&dbname=l%016llx", test_database(ledger->folder), digest);
    snprintf(script, sizeof script,
             "CREATE DATABASE l%016llx ENCODING LATIN1 LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE "
             "template0",
             digest);
    backdoor_run(ledger->folder, script);
    bool opened = postgres_engine.open(place, SQL_CONNECTION_READER, &connection, &ledger->error);
    if (opened)
        sql_connection_close(connection);
    snprintf(script, sizeof script, "DROP DATABASE l%016llx WITH (FORCE)", digest);
    backdoor_run(ledger->folder, script);
    assert_refused(ledger, opened, ERROR_INVALID,
                   "has the encoding LATIN1, and opsbrain needs UTF8");
}

static void a_read_only_database_is_not_ready_until_it_can_be_written(void **state)
{
    refuse_and_allow(*state, "SET default_transaction_read_only = on", "the database is read-only",
                     "RESET ALL");
}

static void a_server_without_a_free_connection_is_not_ready_until_it_has_one(void **state)
{
    refuse_and_allow(*state, "CONNECTION LIMIT 0", "the database server has no connections left",
                     "CONNECTION LIMIT -1");
}

static bool read_is_full(struct sql_connection *connection, void *context, struct error *error)
{
    bool *is_full = context;

    (void)error;
    *is_full = postgres_of(connection)->is_full;
    return true;
}

static void a_full_disk_is_checked_again_before_the_next_transaction(void **state)
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
    assert_ok(ledger, database_write(ledger->store->main, read_is_full, &is_full, &ledger->error));
    assert_false(is_full);
    backdoor_run(ledger->folder, "DROP TRIGGER fill ON audit");
    assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error));
}

static void the_size_of_the_database_is_known(void **state)
{
    struct ledger *ledger = *state;

    assert_in_range(store_size_bytes(ledger->store), 100000, 100000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_sessions_are_reconnected),
        cmocka_unit_test(nothing_is_stored_outside_a_lost_transaction),
        cmocka_unit_test(a_writers_transaction_has_time_limits),
        cmocka_unit_test(a_session_that_could_not_begin_is_not_used),
        cmocka_unit_test(a_snapshot_can_be_idle_for_any_length_of_time),
        cmocka_unit_test(a_snapshot_does_not_change_and_ends_with_its_session),
        cmocka_unit_test(a_wrong_parameter_and_too_many_parameters_are_reported),
        cmocka_unit_test(sessions_override_harmful_settings_of_the_role),
        cmocka_unit_test(a_database_in_latin1_is_refused),
        cmocka_unit_test(a_read_only_database_is_not_ready_until_it_can_be_written),
        cmocka_unit_test(a_server_without_a_free_connection_is_not_ready_until_it_has_one),
        cmocka_unit_test(a_full_disk_is_checked_again_before_the_next_transaction),
        cmocka_unit_test(the_size_of_the_database_is_known),
    };

    return test_database_is_files() ? 0 : ledger_run(tests);
}
