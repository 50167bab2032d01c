/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that a file is stored as an import, which can be read back as evidence. */
#include <math.h>

#include "analysis/evidence/evidence.h"
#include "handlers/runs/import_keep.h"
#include "tests/unit/support/ledger.h"

static const char table[] = "concurrency,req_per_sec,colour\n1,2,red\n1,2,red\n";

/* If `earlier` is NULL, imports `table` with the facts in `stated`. Otherwise `earlier` is the id
 * of an import: states the facts about it, which makes a new import with the same cells. */
static struct import_row keep_import(struct ledger *ledger, const char *name, const char *stated,
                                     const char *earlier, bool expect_existing)
{
    struct change change = ledger_change("alice", "run_import");
    json_auto_t *facts = json_loads(stated, 0, NULL);
    const struct import_offer offer = {
        .bytes = table, .length = strlen(table), .name = name, .stated = facts
    };
    struct import_row row;
    bool existed;

    assert_ok(ledger, earlier == NULL
                          ? import_offer_keep(ledger->store, &offer, 1000, &change, &row, &existed,
                                              &ledger->error)
                          : import_keep_restate(ledger->store, earlier, &offer, 1000, &change, &row,
                                                &existed, &ledger->error));
    assert_int_equal(existed, expect_existing);
    return row;
}

static void an_import_is_read_back_as_it_was_stored(void **state)
{
    struct ledger *ledger = *state;
    struct import_row row = keep_import(
        ledger, "grid.csv", "{\"hardware\":\"L4\",\"chips\":2,\"notes\":\"by hand\"}", NULL, false);
    EVIDENCE_AUTO evidence;

    assert_ok(ledger, evidence_find(ledger->store, row.id, &evidence, &ledger->error));
    assert_true(evidence.imported);
    assert_string_equal(evidence.id, row.id);
    assert_string_equal(evidence.name, "grid.csv");
    assert_string_equal(evidence.format, "csv");
    assert_string_equal(evidence.digest, row.digest);
    assert_string_equal(evidence.principal, "alice");
    assert_string_equal(evidence.notes, "by hand");
    assert_string_equal(evidence.facts.hardware, "L4");
    assert_true(evidence.facts.chips == 2);
    assert_string_equal(evidence.facts.model, "");
    assert_int_equal(evidence.cell_count, 2);
    assert_int_equal(evidence.cells[1].row, 3);
    assert_true(evidence.cells[1].request_throughput == 2);
    assert_true(isnan(evidence.cells[1].output_throughput));
    assert_int_equal(evidence.cells[1].state, EVIDENCE_MEASURED);
    assert_string_equal(json_string_value(json_object_get(evidence.cells[1].original, "colour")),
                        "red");
    assert_int_equal(json_array_size(evidence.remarks), 1);
    import_row_finish(&row);
}

static void an_import_lists_the_other_names_of_its_file(void **state)
{
    struct ledger *ledger = *state;
    struct import_row row = keep_import(ledger, "grid.csv", "{}", NULL, false);
    struct import_row again = keep_import(ledger, "renamed.csv", "{}", NULL, true);
    EVIDENCE_AUTO evidence;

    assert_string_equal(again.id, row.id);
    assert_ok(ledger, evidence_find(ledger->store, row.id, &evidence, &ledger->error));
    assert_string_equal(json_string_value(json_array_get(evidence.other_names, 0)), "renamed.csv");
    import_row_finish(&row);
    import_row_finish(&again);
}

static void facts_are_added_by_a_new_import_with_the_same_cells(void **state)
{
    struct ledger *ledger = *state;
    struct import_row row = keep_import(ledger, "grid.csv", "{\"hardware\":\"L4\"}", NULL, false);
    struct import_row better = keep_import(ledger, "", "{\"model\":\"toy\"}", row.id, false);
    EVIDENCE_AUTO evidence;

    assert_ok(ledger, evidence_find(ledger->store, better.id, &evidence, &ledger->error));
    assert_string_equal(evidence.corrects, row.id);
    assert_string_equal(evidence.name, "grid.csv");
    assert_string_equal(evidence.facts.hardware, "L4");
    assert_string_equal(evidence.facts.model, "toy");
    assert_int_equal(evidence.cell_count, 2);
    import_row_finish(&row);
    import_row_finish(&better);
}

static void the_error_names_the_unknown_run(void **state)
{
    struct ledger *ledger = *state;
    EVIDENCE_AUTO evidence, other;

    assert_refused(ledger, evidence_find(ledger->store, "imp_x", &evidence, &ledger->error),
                   ERROR_NOT_FOUND, "imp_x");
    assert_refused(ledger, evidence_find(ledger->store, "run_x", &other, &ledger->error),
                   ERROR_NOT_FOUND, "run_x");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ledger_set_up, ledger_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_import_is_read_back_as_it_was_stored),
        TEST(an_import_lists_the_other_names_of_its_file),
        TEST(facts_are_added_by_a_new_import_with_the_same_cells),
        TEST(the_error_names_the_unknown_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
