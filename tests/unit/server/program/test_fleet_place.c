/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_place recognizes that a folder was copied, or that its database was restored. */
#include "server/program/fleet_place.h"
#include "tests/unit/support/test_database.h"

#include "tests/unit/support/ledger.h"

/* Checks the database's place (its folder) as each start of the server does. Returns whether the
 * database counts as moved. */
static bool is_moved(struct ledger *ledger, const char *folder)
{
    struct fleet_instance instance;

    assert_ok(ledger, fleet_place_read(ledger->store, folder, &instance, &ledger->error));
    assert_memory_equal(instance.id, "ins_", 4);
    return instance.moved;
}

static void copy(const char *folder, const char *name, const char *to)
{
    char command[300];

    snprintf(command, sizeof command, "cp '%s/%s' '%s/%s'", folder, name, to, name);
    assert_int_equal(system(command), 0);
}

static void a_restart_in_the_same_place_has_no_effect(void **state)
{
    struct ledger *ledger = *state;

    for (int i = 0; i < 3; i++) {
        assert_false(is_moved(ledger, ledger->folder));
        ledger_reopen(ledger);
    }
}

/* The copy is recognized although it contains the original's file fleet.place. */
static void a_copied_folder_counts_as_moved_until_the_fleet_is_resumed(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("local", "fleet resume");
    char other[FOLDER_SIZE];

    assert_false(is_moved(ledger, ledger->folder));
    folder_create(other);
    copy(ledger->folder, "fleet.place", other);
    assert_true(is_moved(ledger, other));
    assert_true(is_moved(ledger, other));
    assert_ok(ledger, fleet_place_resume(ledger->store, &change, &ledger->error));
    assert_false(is_moved(ledger, other));
    assert_false(is_moved(ledger, other));
    assert_true(is_moved(ledger, ledger->folder)); /* now the first folder counts as the copy */
    folder_remove(other);
}

/* A restored database does not know what was done after the backup was made. */
static void a_restored_database_counts_as_moved(void **state)
{
    struct ledger *ledger = *state;
    char backup[FOLDER_SIZE];

    if (!test_database_is_files())
        skip(); /* this test copies the database file, and PostgreSQL has none */
    assert_false(is_moved(ledger, ledger->folder));
    store_close(ledger->store);
    folder_create(backup);
    copy(ledger->folder, "opsbrain.db", backup);
    assert_ok(ledger, store_open(ledger->folder, test_database(ledger->folder), 2, &ledger->store,
                                 &ledger->error));
    assert_false(is_moved(ledger, ledger->folder));
    store_close(ledger->store);
    copy(backup, "opsbrain.db", ledger->folder);
    assert_ok(ledger, store_open(ledger->folder, test_database(ledger->folder), 2, &ledger->store,
                                 &ledger->error));
    assert_true(is_moved(ledger, ledger->folder));
    folder_remove(backup);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, ledger_set_up, ledger_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_restart_in_the_same_place_has_no_effect),
        TEST(a_copied_folder_counts_as_moved_until_the_fleet_is_resumed),
        TEST(a_restored_database_counts_as_moved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
