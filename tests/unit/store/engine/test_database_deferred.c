/* SPDX-License-Identifier: Apache-2.0 */
/* Deferred updates: the caller does not wait until the update is stored. */
#include "tests/unit/support/small_database.h"

struct note {
    struct fixture *fixture;
    int64_t who;
};

static bool insert_note(struct sql_connection *connection, void *context, struct error *error)
{
    struct note *note = context;

    return insert(connection, &note->who, error);
}

static void release(void *context)
{
    struct note *note = context;

    note->fixture->released++;
    free(note);
}

static bool defer(struct fixture *fixture, int64_t who)
{
    struct note *note = calloc(1, sizeof *note);

    *note = (struct note){ fixture, who };
    return database_defer_take(fixture->database, insert_note, note, release, &fixture->error);
}

static void deferred_updates_are_stored_soon_without_another_write(void **state)
{
    struct fixture *fixture = *state;
    int64_t begun_ns = clock_monotonic_ns();

    assert_true(defer(fixture, 5));
    assert_int_equal(count_where(fixture, 5), 0);
    while (count_where(fixture, 5) == 0)
        assert_in_range(clock_monotonic_ns() - begun_ns, 0, PATIENCE_MS * 1000000LL);
    assert_in_range(clock_monotonic_ns() - begun_ns, 900000000, PATIENCE_MS * 1000000LL);
    assert_true(database_flush(fixture->database, &fixture->error));
    assert_int_equal(fixture->released, 1);
}

static void a_flush_stores_deferred_updates(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 10; i++)
        assert_true(defer(fixture, 5));
    assert_true(database_flush(fixture->database, &fixture->error));
    assert_int_equal(count_where(fixture, 5), 10);
}

static bool rename_fives(struct sql_connection *connection, void *context, struct error *error)
{
    (void)context;
    return sql_connection_run(connection, "UPDATE t SET who = 6 WHERE who = 5", error);
}

static void deferred_updates_are_stored_before_later_writes(void **state)
{
    struct fixture *fixture = *state;

    assert_true(defer(fixture, 5));
    assert_true(database_write(fixture->database, rename_fives, NULL, &fixture->error));
    assert_int_equal(count_where(fixture, 5), 0);
    assert_int_equal(count_where(fixture, 6), 1);
}

static void deferred_updates_survive_a_failed_commit(void **state)
{
    struct fixture *fixture = *state;
    int64_t who = 1;

    assert_true(defer(fixture, 5));
    assert_false(database_write(fixture->database, refuse_commits, &who, &fixture->error));
    assert_int_equal(fixture->released, 0);
    assert_true(database_write(fixture->database, allow_commits, NULL, &fixture->error));
    assert_true(database_flush(fixture->database, &fixture->error));
    assert_int_equal(count_where(fixture, 5), 1);
}

static void refuses_more_deferred_updates_than_it_can_hold(void **state)
{
    struct fixture *fixture = *state;
    struct writing first;
    struct gate gate;
    int accepted = 0;

    gate_shut(&gate, &first, fixture);
    while (accepted < 100000 && defer(fixture, 5))
        accepted++;
    assert_in_range(accepted, 1000, 99999);
    assert_int_equal(fixture->error.kind, ERROR_BUSY);
    assert_int_equal(fixture->released, 1);
    gate_open(&gate, &first);
    assert_true(database_flush(fixture->database, &fixture->error));
    assert_int_equal(count_where(fixture, 5), accepted);
}

static void closing_stores_deferred_updates_and_removes_the_wal(void **state)
{
    struct fixture *fixture = *state;
    char wal[FOLDER_SIZE + 16];

    assert_true(defer(fixture, 5));
    database_close(fixture->database);
    snprintf(wal, sizeof wal, "%s-wal", fixture->path);
    assert_int_equal(access(wal, F_OK), -1);
    assert_true(database_open(&sqlite_engine, fixture->path, &small_database_migrations, 2,
                              &fixture->database, &fixture->error));
    assert_int_equal(count_where(fixture, 5), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, small_database_set_up, small_database_tear_down)
        TEST(deferred_updates_are_stored_soon_without_another_write),
        TEST(a_flush_stores_deferred_updates),
        TEST(deferred_updates_are_stored_before_later_writes),
        TEST(deferred_updates_survive_a_failed_commit),
        TEST(refuses_more_deferred_updates_than_it_can_hold),
        TEST(closing_stores_deferred_updates_and_removes_the_wal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
