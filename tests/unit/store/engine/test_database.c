/* SPDX-License-Identifier: Apache-2.0 */
/* Writes that share a transaction, reads, and an upgrade that fails. */
#include "tests/unit/support/small_database.h"

static bool insert_and_fail(struct sql_connection *connection, void *context, struct error *error)
{
    return insert(connection, context, error)
           && error_set(error, ERROR_CONFLICT, "changed its mind");
}

static int count_commit(void *context)
{
    struct fixture *fixture = context;

    fixture->commits++;
    return 0;
}

static bool watch_commits(struct sql_connection *connection, void *context, struct error *error)
{
    (void)error;
    sqlite3_commit_hook(sqlite_handle(connection), count_commit, context);
    return true;
}

/* Runs all the writes in one batch: they queue up while a gate keeps the writer busy. */
static void write_together(struct fixture *fixture, struct writing *writings, size_t count,
                           database_apply *const *applies, int64_t *whos)
{
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_MS * 1000000LL;
    struct writing first;
    struct gate gate;

    gate_shut(&gate, &first, fixture);
    for (size_t i = 0; i < count; i++)
        begin_write(&writings[i], fixture, applies[i], &whos[i]);
    while (database_queued(fixture->database) < count + 1 && clock_monotonic_ns() < until_ns)
        usleep(1000);
    assert_int_equal(database_queued(fixture->database), count + 1);
    gate_open(&gate, &first);
    for (size_t i = 0; i < count; i++)
        pthread_join(writings[i].thread, NULL);
}

static void commits_all_queued_writes_in_one_transaction(void **state)
{
    enum { COUNT = 8 };
    struct fixture *fixture = *state;
    struct writing writings[COUNT];
    database_apply *applies[COUNT];
    int64_t whos[COUNT];

    assert_true(database_write(fixture->database, watch_commits, fixture, &fixture->error));
    for (int i = 0; i < COUNT; i++) {
        applies[i] = insert;
        whos[i] = i;
    }
    fixture->commits = 0;
    write_together(fixture, writings, COUNT, applies, whos);
    assert_int_equal(fixture->commits, 2); /* one for the gate, and one for the other writes */
    for (int i = 0; i < COUNT; i++) {
        assert_true(writings[i].ok);
        assert_int_equal(count_where(fixture, i), 1);
    }
}

static void a_failed_write_is_undone_and_its_neighbours_are_stored(void **state)
{
    struct fixture *fixture = *state;
    struct writing writings[3];
    database_apply *applies[] = { insert, insert_and_fail, insert };
    int64_t whos[] = { 1, 2, 3 };

    write_together(fixture, writings, 3, applies, whos);
    assert_true(writings[0].ok && writings[2].ok);
    assert_false(writings[1].ok);
    assert_string_equal(writings[1].error.message, "changed its mind");
    assert_int_equal(count_where(fixture, 1), 1);
    assert_int_equal(count_where(fixture, 2), 0);
    assert_int_equal(count_where(fixture, 3), 1);
}

static void all_writes_fail_if_their_commit_fails(void **state)
{
    struct fixture *fixture = *state;
    struct writing writings[3];
    database_apply *applies[] = { insert, refuse_commits, insert_and_fail };
    int64_t whos[] = { 1, 2, 3 };

    write_together(fixture, writings, 3, applies, whos);
    assert_false(writings[0].ok || writings[1].ok || writings[2].ok);
    assert_int_equal(writings[0].error.kind, ERROR_INTERNAL);
    assert_int_equal(writings[2].error.kind, ERROR_CONFLICT); /* it keeps its own error */
    assert_int_equal(count_where(fixture, 1), 0);
    assert_true(database_write(fixture->database, allow_commits, NULL, &fixture->error));
    assert_true(database_write(fixture->database, insert, &whos[0], &fixture->error));
    assert_int_equal(count_where(fixture, 1), 1);
}

/* Rolls back, as SQLite itself does when the disk is full. */
static bool lose_transaction(struct sql_connection *connection, void *context, struct error *error)
{
    (void)context;
    return sql_connection_run(connection, "ROLLBACK", error)
           && error_set(error, ERROR_BUSY, "the disk is full");
}

static void all_writes_of_a_lost_transaction_fail(void **state)
{
    struct fixture *fixture = *state;
    struct writing writings[3];
    database_apply *applies[] = { insert, lose_transaction, insert };
    int64_t whos[] = { 1, 2, 3 };

    write_together(fixture, writings, 3, applies, whos);
    for (int i = 0; i < 3; i++) {
        assert_false(writings[i].ok);
        assert_string_equal(writings[i].error.message, "the disk is full");
        assert_int_equal(count_where(fixture, whos[i]), 0);
    }
    assert_true(database_write(fixture->database, insert, &whos[2], &fixture->error));
}

/* Releases its own savepoint, so that this write cannot be undone alone. */
static bool lose_savepoint(struct sql_connection *connection, void *context, struct error *error)
{
    return insert(connection, context, error)
           && sql_connection_run(connection, "RELEASE one", error)
           && error_set(error, ERROR_CONFLICT, "changed its mind");
}

static void a_write_that_cannot_be_undone_alone_is_undone_with_its_neighbours(void **state)
{
    struct fixture *fixture = *state;
    struct writing writings[3];
    database_apply *applies[] = { insert, lose_savepoint, insert };
    int64_t whos[] = { 1, 2, 3 };

    write_together(fixture, writings, 3, applies, whos);
    for (int i = 0; i < 3; i++) {
        assert_false(writings[i].ok);
        assert_int_equal(count_where(fixture, whos[i]), 0);
    }
    assert_string_equal(writings[1].error.message, "changed its mind");
    assert_non_null(strstr(writings[2].error.message, "no such savepoint"));
    assert_true(database_write(fixture->database, insert, &whos[2], &fixture->error));
}

struct counting {
    int runs;
    int64_t who;
};

static bool count_and_insert(struct sql_connection *connection, void *context, struct error *error)
{
    struct counting *counting = context;

    counting->runs++;
    return insert(connection, &counting->who, error);
}

/* With OPSBRAIN_REHEARSE_WRITES, each transaction is run, rolled back and run again. */
static void a_rehearsed_write_runs_twice_and_is_stored_once(void **state)
{
    struct fixture *fixture = *state;
    struct counting counting = { .who = 7 };
    bool rehearsed = getenv("OPSBRAIN_REHEARSE_WRITES") != NULL;

    database_close(fixture->database);
    setenv("OPSBRAIN_REHEARSE_WRITES", "1", 1);
    assert_true(database_open(&sqlite_engine, fixture->path, &small_database_migrations, 2,
                              &fixture->database, &fixture->error));
    if (!rehearsed)
        unsetenv("OPSBRAIN_REHEARSE_WRITES");
    assert_true(database_write(fixture->database, count_and_insert, &counting, &fixture->error));
    assert_int_equal(counting.runs, 2);
    assert_int_equal(count_where(fixture, 7), 1);
}

static void *write_many(void *context)
{
    struct writing *writing = context;

    writing->ok = true;
    for (int i = 0; i < 50 && writing->ok; i++) {
        writing->ok =
            database_write(writing->fixture->database, insert, &writing->who, &writing->error)
            && count_where(writing->fixture, writing->who) == i + 1;
    }
    return NULL;
}

static void each_thread_reads_what_it_wrote(void **state)
{
    enum { THREADS = 8 };
    struct fixture *fixture = *state;
    struct writing writings[THREADS];

    for (int i = 0; i < THREADS; i++) {
        writings[i] = (struct writing){ .fixture = fixture, .who = i };
        assert_int_equal(pthread_create(&writings[i].thread, NULL, write_many, &writings[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(writings[i].thread, NULL);
        assert_true(writings[i].ok);
        assert_int_equal(count_where(fixture, i), 50);
    }
}

static void readers_cannot_write(void **state)
{
    struct fixture *fixture = *state;
    READER_AUTO reader = database_reader(fixture->database);
    SQL_AUTO sql = sql_begin(reader.connection, "INSERT INTO t (who) VALUES (1)");

    assert_int_equal(sql_step(&sql, &fixture->error), SQL_FAILED);
    assert_non_null(strstr(fixture->error.message, "cannot be written"));
}

static void the_error_of_a_statement_that_cannot_begin_is_reported_at_its_first_step(void **state)
{
    struct fixture *fixture = *state;
    READER_AUTO reader = database_reader(fixture->database);
    SQL_AUTO bad = sql_begin(reader.connection, "SELECT 1 FROM nowhere");
    SQL_AUTO unbindable = sql_begin(reader.connection, "SELECT ?1");
    SQL_AUTO good = sql_begin(reader.connection, "SELECT 1");

    sql_bind_integer(&unbindable, 2, 1);
    assert_int_equal(sql_step(&good, &fixture->error), SQL_ROW);
    assert_int_equal(sql_step(&bad, &fixture->error), SQL_FAILED);
    assert_non_null(strstr(fixture->error.message, "no such table: nowhere"));
    assert_int_equal(sql_step(&unbindable, &fixture->error), SQL_FAILED);
    assert_non_null(strstr(fixture->error.message, "column index out of range"));
}

static void a_connection_without_a_kind_cannot_write(void **state)
{
    struct fixture *fixture = *state;
    struct sql_connection *connection;
    int64_t who = 5;

    assert_true(
        sql_connection_open(&sqlite_engine, fixture->path, 0, &connection, &fixture->error));
    assert_false(insert(connection, &who, &fixture->error));
    sql_connection_close(connection);
}

/* The third migration fails, so the second one is not kept either, and the previous version of the
 * program can still serve the file. */
static void a_failed_upgrade_keeps_the_previous_version(void **state)
{
    static const struct migration upgrade[] = {
        { "0001_test.sql", "" },
        { "0002_more.sql", "ALTER TABLE t ADD COLUMN why TEXT;" },
        { "0003_wrong.sql", "ALTER TABLE nothing ADD COLUMN why TEXT;" },
    };
    static const struct migration_set upgraded = { upgrade, 3 };
    struct fixture *fixture = *state;
    struct database *refused = NULL;
    int64_t who = 5;

    assert_true(database_write(fixture->database, insert, &who, &fixture->error));
    database_close(fixture->database);
    assert_false(
        database_open(&sqlite_engine, fixture->path, &upgraded, 2, &refused, &fixture->error));
    assert_non_null(strstr(fixture->error.message, "migration 0003_wrong.sql: "));
    assert_true(database_open(&sqlite_engine, fixture->path, &small_database_migrations, 2,
                              &fixture->database, &fixture->error));
    assert_int_equal(count_where(fixture, 5), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, small_database_set_up, small_database_tear_down)
        TEST(commits_all_queued_writes_in_one_transaction),
        TEST(a_failed_write_is_undone_and_its_neighbours_are_stored),
        TEST(all_writes_fail_if_their_commit_fails),
        TEST(all_writes_of_a_lost_transaction_fail),
        TEST(a_write_that_cannot_be_undone_alone_is_undone_with_its_neighbours),
        TEST(a_rehearsed_write_runs_twice_and_is_stored_once),
        TEST(each_thread_reads_what_it_wrote),
        TEST(readers_cannot_write),
        TEST(the_error_of_a_statement_that_cannot_begin_is_reported_at_its_first_step),
        TEST(a_connection_without_a_kind_cannot_write),
        TEST(a_failed_upgrade_keeps_the_previous_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
