/* SPDX-License-Identifier: Apache-2.0 */
#include "store/audit/audit_log.h"
#include "store/series/scrapes.h"
#include "tests/unit/support/ledger.h"

static void keeps_what_was_registered(void **state)
{
    struct ledger *ledger = *state;
    struct deployment found, stored = ledger_deployment(ledger, "a100");

    assert_ok(ledger, deployment_find(ledger->store, "a100", &found, &ledger->error));
    assert_memory_equal(&found, &stored, sizeof found);
    assert_int_equal(found.revision, 1);
    assert_string_equal(found.url, "http://127.0.0.1:8000");
    assert_string_equal(found.provider, "endpoint");
    assert_string_equal(found.labels, "{}");
    assert_string_equal(found.created_by, "alice");
    assert_int_equal(found.created_ms, 1000);
}

static void refuses_a_name_in_use_and_leaves_no_trace(void **state)
{
    struct ledger *ledger = *state;
    struct deployment wanted = ledger_deployment(ledger, "a100"), out = { .id = 77 };
    struct change change = ledger_change("bob", "deployment_register");
    struct audit_row *rows;
    size_t count;

    assert_refused(ledger,
                   deployment_add(ledger->store, &wanted, 2000, &change, &out, &ledger->error),
                   ERROR_CONFLICT, "already registered");
    assert_int_equal(out.id, 77);
    assert_false(change.written);
    assert_ok(ledger, audit_log_list(ledger->store, &(struct audit_filter){ 0 }, 10, &rows, &count,
                                     &ledger->error));
    assert_int_equal(count, 1);
    audit_log_rows_free(rows, count);
}

/* Checks the member `changed` of the newest audit row. */
static void assert_changed(struct ledger *ledger, const char *expected)
{
    struct audit_row *rows;
    size_t count;

    assert_ok(ledger, audit_log_list(ledger->store, &(struct audit_filter){ 0 }, 1, &rows, &count,
                                     &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].changed, expected);
    audit_log_rows_free(rows, count);
}

static void audits_the_values_before_and_after(void **state)
{
    struct ledger *ledger = *state;
    struct deployment row = ledger_deployment(ledger, "a100");
    struct change change = ledger_change("bob", "deployment_update");

    strcpy(row.model, "gemma-27b");
    strcpy(row.labels, "{\"team\":\"a\"}");
    row.chips = 8;
    assert_ok(ledger, deployment_change(ledger->store, &row, 3000, &change, &row, &ledger->error));
    assert_changed(ledger, "{\"model\":[\"gemma\",\"gemma-27b\"],\"chips\":[4,8],"
                           "\"labels\":[{},{\"team\":\"a\"}]}");
    assert_ok(ledger, scrape_target_set(ledger->store, row.id, 15000, &change, &ledger->error));
    assert_changed(ledger, "{\"interval_ms\":[0,15000]}");
    assert_ok(ledger, deployment_retire(ledger->store, "a100", 4000, &change, &ledger->error));
    assert_changed(ledger, "{\"state\":[\"registered\",\"removed\"]}");
}

static void counts_revisions_and_refuses_a_change_to_an_old_one(void **state)
{
    struct ledger *ledger = *state;
    struct deployment first = ledger_deployment(ledger, "a100"), second, old;
    struct change change = ledger_change("bob", "deployment_update");

    strcpy(first.model, "gemma-27b");
    assert_ok(ledger,
              deployment_change(ledger->store, &first, 3000, &change, &second, &ledger->error));
    assert_int_equal(second.revision, 2);
    assert_int_equal(second.changed_ms, 3000);
    assert_int_equal(second.created_ms, 1000);
    assert_refused(ledger,
                   deployment_change(ledger->store, &first, 4000, &change, &second, &ledger->error),
                   ERROR_CONFLICT, "revision is now 2");
    assert_ok(ledger, deployment_find_revision(ledger->store, first.id, 1, &old, &ledger->error));
    assert_string_equal(old.model, "gemma");
    assert_refused(ledger,
                   deployment_find_revision(ledger->store, first.id, 9, &old, &ledger->error),
                   ERROR_NOT_FOUND, "revision 9");
}

static void brings_a_retired_name_back_as_a_new_revision(void **state)
{
    struct ledger *ledger = *state;
    struct deployment out, first = ledger_deployment(ledger, "a100");
    struct change change = ledger_change("bob", "deployment_remove");

    assert_ok(ledger, deployment_retire(ledger->store, "a100", 5000, &change, &ledger->error));
    assert_false(deployment_find(ledger->store, "a100", &out, &ledger->error));
    assert_false(deployment_retire(ledger->store, "a100", 5000, &change, &ledger->error));
    out = ledger_deployment(ledger, "a100");
    assert_int_equal(out.id, first.id);
    assert_int_equal(out.revision, 2);
    assert_int_equal(out.retired_ms, 0);
}

static void the_error_names_the_existing_deployments(void **state)
{
    struct ledger *ledger = *state;
    struct deployment out;

    assert_refused(ledger, deployment_find(ledger->store, "x", &out, &ledger->error),
                   ERROR_NOT_FOUND, "none is registered; deployment_register adds");
    ledger_deployment(ledger, "l4");
    ledger_deployment(ledger, "a100");
    assert_refused(ledger, deployment_find(ledger->store, "x", &out, &ledger->error),
                   ERROR_NOT_FOUND, "no deployment is named \"x\"; existing deployments: a100, l4");
}

static void lists_by_name_in_pages(void **state)
{
    struct ledger *ledger = *state;
    struct deployment *rows;
    size_t count;

    ledger_deployment(ledger, "c");
    ledger_deployment(ledger, "a");
    ledger_deployment(ledger, "b");
    assert_ok(ledger, deployment_list(ledger->store, "", 2, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(rows[1].name, "b");
    free(rows);
    assert_ok(ledger, deployment_list(ledger->store, "b", 2, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].name, "c");
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_was_registered),
        cmocka_unit_test(refuses_a_name_in_use_and_leaves_no_trace),
        cmocka_unit_test(audits_the_values_before_and_after),
        cmocka_unit_test(counts_revisions_and_refuses_a_change_to_an_old_one),
        cmocka_unit_test(brings_a_retired_name_back_as_a_new_revision),
        cmocka_unit_test(the_error_names_the_existing_deployments),
        cmocka_unit_test(lists_by_name_in_pages),
    };

    return ledger_run(tests);
}
