/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/fleet/recipe_imports.h"
#include "store/ledger/store.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

struct fixture {
    char folder[FOLDER_SIZE];
    struct store *store;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;

    folder_create(fixture->folder);
    if (!store_open(fixture->folder, test_database(fixture->folder), 2, &fixture->store, &error))
        fail_msg("%s", error.message);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    store_close(fixture->store);
    folder_remove(fixture->folder);
    free(fixture);
    return 0;
}

static int64_t put(struct fixture *fixture, const char *name, const char *document, bool *existed)
{
    struct change change = { .actor = { .principal = "root", .role = "admin" },
                             .tool = "recipe_import" };
    struct recipe_import row;
    struct error error;
    int64_t revision;

    if (!recipe_import_put(fixture->store, name, document, 1000, &change, &row, existed, &error))
        fail_msg("%s", error.message);
    assert_string_equal(row.document, document);
    assert_string_equal(row.principal, "root");
    revision = row.revision;
    recipe_import_finish(&row);
    return revision;
}

static void a_document_that_differs_from_the_newest_revision_becomes_the_next_one(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_import row;
    struct error error;
    bool existed, found;

    assert_int_equal(put(fixture, "a", "{}", &existed), 1);
    assert_false(existed);
    assert_int_equal(put(fixture, "a", "{}", &existed), 1);
    assert_true(existed);
    assert_int_equal(put(fixture, "a", "{\"b\":1}", &existed), 2);
    assert_false(existed);
    assert_int_equal(put(fixture, "a", "{}", &existed), 3);
    assert_true(recipe_import_find(fixture->store, "a", &row, &found, &error) && found);
    assert_int_equal(row.revision, 3);
    recipe_import_finish(&row);
    assert_true(recipe_import_find(fixture->store, "b", &row, &found, &error));
    assert_false(found);
}

static void the_list_has_the_newest_revision_of_each_name(void **state)
{
    struct fixture *fixture = *state;
    struct recipe_import *rows;
    struct error error;
    size_t count;
    bool existed;

    put(fixture, "b", "{\"b\":1}", &existed);
    put(fixture, "a", "{}", &existed);
    put(fixture, "b", "{\"b\":2}", &existed);
    assert_true(recipe_import_list(fixture->store, &rows, &count, &error));
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].name, "a");
    assert_string_equal(rows[1].document, "{\"b\":2}");
    recipe_imports_free(rows, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_document_that_differs_from_the_newest_revision_becomes_the_next_one, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(the_list_has_the_newest_revision_of_each_name, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
