/* SPDX-License-Identifier: Apache-2.0 */
/* Imported runs in the store: they are stored unchanged. A file that is imported again with the
 * same facts is not stored again. */
#include "store/audit/audit_log.h"
#include "store/ledger/imports.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

static const char *const equal_cells[] = { "{\"row\":2}", "{\"row\":2}" };

static struct import_order order_of(const char *digest, const char *name, const char *stated)
{
    return (struct import_order){ .digest = digest,
                                  .format = "csv",
                                  .name = name,
                                  .file_bytes = 99,
                                  .stated = stated,
                                  .deployment = "",
                                  .document = "{\"a\":1}",
                                  .cells = equal_cells,
                                  .cell_count = 2 };
}

static struct import_row created(struct ledger *ledger, const struct import_order *order,
                                 int64_t now_ms, bool expect_existing)
{
    struct change change = ledger_change("alice", "run_import");
    struct import_row row;
    bool existed;

    assert_ok(ledger,
              import_create(ledger->store, order, now_ms, &change, &row, &existed, &ledger->error));
    assert_int_equal(existed, expect_existing);
    return row;
}

static bool count_cell(void *context, const char *json, struct error *error)
{
    (void)error;
    assert_string_equal(json, "{\"row\":2}");
    ++*(int *)context;
    return true;
}

static void keeps_both_of_two_equal_cells(void **state)
{
    struct ledger *ledger = *state;
    struct import_order order = order_of("d1", "grid.csv", "{}");
    struct import_row row = created(ledger, &order, 1000, false), found;
    struct audit_filter filter = { .tool = "run_import" };
    struct audit_row *rows;
    size_t count;
    int cells = 0;

    assert_memory_equal(row.id, "imp_", 4);
    assert_ok(ledger, import_find(ledger->store, row.id, &found, &ledger->error));
    assert_string_equal(found.name, "grid.csv");
    assert_string_equal(found.principal, "alice");
    assert_string_equal(found.document, "{\"a\":1}");
    assert_string_equal(found.other_names, "[]");
    assert_int_equal(found.cell_count, 2);
    assert_int_equal(found.file_bytes, 99);
    assert_ok(ledger, import_each_cell(ledger->store, row.id, count_cell, &cells, &ledger->error));
    assert_int_equal(cells, 2);
    assert_ok(ledger, audit_log_list(ledger->store, &filter, 5, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].subject, row.id);
    assert_string_equal(rows[0].detail, "csv grid.csv, 2 cells");
    audit_log_rows_free(rows, count);
    import_row_finish(&row);
    import_row_finish(&found);
}

static void importing_a_file_again_returns_the_earlier_import_and_notes_a_new_name(void **state)
{
    struct ledger *ledger = *state;
    struct import_order first = order_of("d1", "grid.csv", "{}");
    struct import_order other = order_of("d1", "copy.csv", "{}");
    struct import_row row = created(ledger, &first, 1000, false);
    struct import_row again = created(ledger, &first, 2000, true);
    struct import_row copy = created(ledger, &other, 3000, true);

    assert_string_equal(again.id, row.id);
    assert_string_equal(copy.id, row.id);
    assert_string_equal(again.other_names, "[]");
    assert_string_equal(copy.other_names, "[\"copy.csv\"]");
    import_row_finish(&row);
    import_row_finish(&again);
    import_row_finish(&copy);
}

static void different_facts_make_a_new_import_that_corrects_the_earlier_one(void **state)
{
    struct ledger *ledger = *state;
    struct import_order bare = order_of("d1", "grid.csv", "{}");
    struct import_order stated = order_of("d1", "grid.csv", "{\"hardware\":\"L4\"}");
    struct import_order format = order_of("d1", "grid.csv", "{}");
    struct import_row row = created(ledger, &bare, 1000, false);
    struct import_row better = created(ledger, &stated, 2000, false);
    struct import_row same = created(ledger, &stated, 3000, true);
    struct import_row newest = created(ledger, &bare, 4000, true);
    struct import_row other;

    format.format = "vllm";
    other = created(ledger, &format, 5000, false);
    assert_string_equal(better.corrects, row.id);
    assert_string_equal(same.id, better.id);
    assert_string_equal(newest.id, better.id);
    assert_string_equal(other.corrects, "");
    import_row_finish(&row);
    import_row_finish(&better);
    import_row_finish(&same);
    import_row_finish(&newest);
    import_row_finish(&other);
}

static void lists_the_newest_first(void **state)
{
    struct ledger *ledger = *state;
    struct import_order a = order_of("d1", "a.csv", "{}"), b = order_of("d2", "b.csv", "{}");
    struct import_row *rows, row;
    size_t count;

    b.deployment = "llama";
    row = created(ledger, &a, 1000, false);
    import_row_finish(&row);
    row = created(ledger, &b, 2000, false);
    import_row_finish(&row);
    assert_ok(ledger, import_list(ledger->store, NULL, 0, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].name, "b.csv");
    import_rows_free(rows, count);
    assert_ok(ledger, import_list(ledger->store, NULL, 2000, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    import_rows_free(rows, count);
    assert_ok(ledger, import_list(ledger->store, "llama", 0, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    import_rows_free(rows, count);
}

static void names_the_id_of_an_unknown_import(void **state)
{
    struct ledger *ledger = *state;
    struct import_row row;

    assert_refused(ledger, import_find(ledger->store, "imp_x", &row, &ledger->error),
                   ERROR_NOT_FOUND, "no imported run has the id \"imp_x\"");
}

static void an_import_is_returned_completely_or_not_at_all(void **state)
{
    struct ledger *ledger = *state;
    struct import_order order = order_of("d1", "grid.csv", "{}");
    struct import_row row = created(ledger, &order, 1000, false), found = { .cell_count = 7 };

    backdoor_run(ledger->folder, "ALTER TABLE import_names RENAME TO gone");
    assert_refused(ledger, import_find(ledger->store, row.id, &found, &ledger->error),
                   ERROR_INTERNAL, "import_names");
    assert_int_equal(found.cell_count, 7);
    assert_null(found.document);
    import_row_finish(&row);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ledger_set_up, ledger_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(keeps_both_of_two_equal_cells),
        TEST(importing_a_file_again_returns_the_earlier_import_and_notes_a_new_name),
        TEST(different_facts_make_a_new_import_that_corrects_the_earlier_one),
        TEST(lists_the_newest_first),
        TEST(names_the_id_of_an_unknown_import),
        TEST(an_import_is_returned_completely_or_not_at_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
