/* SPDX-License-Identifier: Apache-2.0 */
/* Which process holds a PostgreSQL database, and what happens if the server's answer to a COMMIT is
 * lost. Without OPSBRAIN_TEST_DATABASE, nothing is tested. */
#include <sys/socket.h>

#include "base/core/clock.h"
#include "store/audit/audit_log.h"
#include "store/engine/postgres.h"
#include "store/engine/postgres_private.h"
#include "store/ledger/store_private.h"
#include "tests/unit/support/settled_requests.h"

/* ---- Commits whose answer is lost ---- */

/* Closes the store, opens a writer, and adds a row in a transaction that stays open. */
static struct sql_connection *begin_writing(struct ledger *ledger)
{
    struct sql_connection *writer;

    store_close(ledger->store);
    ledger->store = NULL;
    assert_ok(ledger, postgres_engine.open(test_database(ledger->folder), SQL_CONNECTION_WRITER,
                                           &writer, &ledger->error));
    assert_ok(ledger,
              postgres_engine.prepare_schema(writer, &migrations_postgres_main, &ledger->error));
    assert_ok(ledger, postgres_engine.begin(writer, &ledger->error));
    assert_ok(ledger, settled_requests_add(writer, "one", &ledger->error));
    return writer;
}

static void break_connection(struct sql_connection *writer)
{
    assert_int_equal(shutdown(PQsocket(postgres_of(writer)->link), SHUT_RDWR), 0);
}

static void a_commit_that_took_place_is_reported_although_its_answer_is_lost(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *writer = begin_writing(ledger);

    PQclear(PQexec(postgres_of(writer)->link, "COMMIT"));
    break_connection(writer);
    assert_ok(ledger, postgres_engine.commit(writer, &ledger->error));
    assert_int_equal(settled_requests_count(ledger), 1);
    sql_connection_close(writer);
}

static void a_commit_that_did_not_take_place_is_reported_and_can_be_repeated(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *writer = begin_writing(ledger);

    break_connection(writer);
    assert_false(postgres_engine.commit(writer, &ledger->error));
    assert_int_equal(ledger->error.kind, ERROR_BUSY);
    assert_true(postgres_engine.may_repeat(writer));
    assert_int_equal(settled_requests_count(ledger), 0);
    assert_ok(ledger, postgres_engine.begin(writer, &ledger->error));
    assert_ok(ledger, settled_requests_add(writer, "one", &ledger->error));
    assert_ok(ledger, postgres_engine.commit(writer, &ledger->error));
    assert_int_equal(settled_requests_count(ledger), 1);
    sql_connection_close(writer);
}

static void after_two_other_holders_it_is_unknown_whether_a_commit_took_place(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *writer = begin_writing(ledger);

    break_connection(writer);
    backdoor_run(ledger->folder, "UPDATE opsbrain_holder SET fence = fence + 2");
    assert_refused(ledger, postgres_engine.commit(writer, &ledger->error), ERROR_CONFLICT,
                   "may or may not have been stored");
    sql_connection_close(writer);
}

static bool count_and_add(struct sql_connection *connection, void *context, struct error *error)
{
    ++*(int *)context;
    return settled_requests_add(connection, "one", error);
}

/* The trigger ends the session at the first commit only, because the sequence also counts
 * transactions that are rolled back. */
static void an_uncommitted_transaction_is_run_again(void **state)
{
    struct ledger *ledger = *state;
    int runs = 0, runs_per_attempt = getenv("OPSBRAIN_REHEARSE_WRITES") == NULL ? 1 : 2;

    backdoor_run(ledger->folder,
                 "CREATE SEQUENCE commits; "
                 "CREATE FUNCTION end_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                 "IF nextval('commits') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); "
                 "PERFORM pg_sleep(10); END IF; RETURN NULL; END $$; "
                 "CREATE CONSTRAINT TRIGGER end_first AFTER INSERT ON settled_requests "
                 "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION end_first()");
    assert_ok(ledger, database_write(ledger->store->main, count_and_add, &runs, &ledger->error));
    assert_int_equal(runs, 2 * runs_per_attempt);
    assert_int_equal(settled_requests_count(ledger), 1);
}

/* ---- Holders ---- */

static void a_second_store_is_refused(void **state)
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

static void a_second_store_is_refused_even_if_the_schema_is_outdated(void **state)
{
    struct ledger *ledger = *state;

    backdoor_run(ledger->folder,
                 "UPDATE opsbrain_schema SET version = version - 1 WHERE name = 'main'");
    a_second_store_is_refused(state);
}

/* The hold has expired, but the holder's open transaction has locked its row in opsbrain_holder. */
static void a_holder_in_a_transaction_is_not_replaced(void **state)
{
    struct ledger *ledger = *state;
    struct sql_connection *other, *holder = begin_writing(ledger);
    bool prepared;

    /* A pooler does not keep lock_timeout from one transaction to the next. */
    if (test_database_is_pooled()) {
        sql_connection_close(holder);
        skip();
    }
    assert_ok(ledger, sql_connection_run(holder, "ROLLBACK", &ledger->error));
    backdoor_run(ledger->folder, "UPDATE opsbrain_holder SET until = clock_timestamp()");
    assert_ok(ledger, sql_connection_run(holder, "BEGIN", &ledger->error));
    assert_ok(ledger, sql_connection_run(holder, "UPDATE opsbrain_holder SET batch = batch + 1",
                                         &ledger->error));
    assert_ok(ledger, postgres_engine.open(test_database(ledger->folder), SQL_CONNECTION_WRITER,
                                           &other, &ledger->error));
    assert_ok(ledger, sql_connection_run(other, "SET lock_timeout = '300ms'", &ledger->error));
    prepared = postgres_engine.prepare_schema(other, &migrations_postgres_main, &ledger->error);
    sql_connection_close(other);
    sql_connection_close(holder);
    assert_refused(ledger, prepared, ERROR_CONFLICT, "belongs to another opsbrain");
}

static void a_server_whose_database_was_taken_over_stores_nothing_and_says_so(void **state)
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

static void a_holder_whose_process_is_gone_is_replaced_before_its_hold_expires(void **state)
{
    struct ledger *ledger = *state;
    int64_t begun_ns = clock_monotonic_ns();

    backdoor_run(ledger->folder, "UPDATE opsbrain_holder SET process = "
                                 "regexp_replace(process, '[0-9]+$', '1')");
    reopen_elsewhere(ledger);
    assert_true(clock_monotonic_ns() - begun_ns < 10000000000);
}

/* According to the clock, the hold expires only after hours, but nobody renews it. */
static void a_dead_holder_is_replaced_although_the_clock_was_set_back(void **state)
{
    struct ledger *ledger = *state;

    store_close(ledger->store);
    backdoor_run(ledger->folder, "UPDATE opsbrain_holder SET until = clock_timestamp() + "
                                 "interval '5 hours' WHERE name = 'main'");
    ledger->store = NULL;
    assert_ok(ledger, store_open(ledger->folder, test_database(ledger->folder), 1, &ledger->store,
                                 &ledger->error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_that_took_place_is_reported_although_its_answer_is_lost),
        cmocka_unit_test(a_commit_that_did_not_take_place_is_reported_and_can_be_repeated),
        cmocka_unit_test(after_two_other_holders_it_is_unknown_whether_a_commit_took_place),
        cmocka_unit_test(an_uncommitted_transaction_is_run_again),
        cmocka_unit_test(a_second_store_is_refused),
        cmocka_unit_test(a_second_store_is_refused_even_if_the_schema_is_outdated),
        cmocka_unit_test(a_holder_whose_process_is_gone_is_replaced_before_its_hold_expires),
        cmocka_unit_test(a_dead_holder_is_replaced_although_the_clock_was_set_back),
        cmocka_unit_test(a_holder_in_a_transaction_is_not_replaced),
        cmocka_unit_test(a_server_whose_database_was_taken_over_stores_nothing_and_says_so),
    };

    return test_database_is_files() ? 0 : ledger_run(tests);
}
