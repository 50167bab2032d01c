/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/core/text.h"
#include "base/json/json.h"
#include "store/audit/audit_export.h"
#include "store/audit/audit_log.h"
#include "store/audit/audit_verify.h"
#include "tests/unit/support/ledger.h"

static struct audit_row *list(struct ledger *ledger, const struct audit_filter *filter,
                              size_t limit, size_t *count)
{
    struct audit_row *rows;

    assert_ok(ledger, audit_log_list(ledger->store, filter, limit, &rows, count, &ledger->error));
    return rows;
}

static void records_who_did_what_with_which_outcome(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("bob", "deployment_remove");
    struct audit_row *rows;
    size_t count;

    assert_ok(ledger, audit_log_add(ledger->store, &change, "forbidden", "needs operator", "a100",
                                    &ledger->error));
    rows = list(ledger, &(struct audit_filter){ 0 }, 10, &count);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].phase, "outcome");
    assert_string_equal(rows[0].outcome, "forbidden");
    assert_string_equal(rows[0].detail, "needs operator");
    assert_string_equal(rows[0].principal, "bob");
    assert_string_equal(rows[0].role, "operator");
    assert_string_equal(rows[0].client, "test/1");
    assert_string_equal(rows[0].request_id, "req_1");
    assert_string_equal(rows[0].arguments, "{\"a\":1}");
    assert_string_equal(rows[0].changed, "{}");
    assert_int_equal(rows[0].times, 1);
    assert_int_equal(rows[0].began_ms, 0);
    audit_log_rows_free(rows, count);
}

/* A User-Agent or a model server's error message can contain bytes that are not UTF-8. */
static void invalid_utf8_is_recorded_as_replacement_characters(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("bob", "deployment_remove");
    struct audit_verdict verdict;
    struct audit_row *rows;
    size_t count;

    change.actor.client = "agent\xff";
    assert_ok(ledger,
              audit_log_add(ledger->store, &change, "failed", "\xfc", "a100", &ledger->error));
    rows = list(ledger, &(struct audit_filter){ 0 }, 10, &count);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].client, "agent\xef\xbf\xbd");
    assert_string_equal(rows[0].detail, "\xef\xbf\xbd");
    audit_log_rows_free(rows, count);
    assert_ok(ledger, audit_verify(ledger->store, NULL, NULL, &verdict, &ledger->error));
    assert_true(verdict.intact);
}

static void an_intent_and_its_outcome_are_listed_as_one_row(void **state)
{
    struct ledger *ledger = *state;
    struct change done = ledger_change("bob", "deployment_remove");
    struct change open = ledger_change("bob", "sweep_start");
    struct audit_row *rows;
    size_t count;

    assert_ok(ledger, audit_log_announce(ledger->store, &done, &ledger->error));
    assert_ok(ledger, audit_log_announce(ledger->store, &open, &ledger->error));
    assert_ok(ledger, audit_log_add(ledger->store, &done, "ok", "", "a100", &ledger->error));
    rows = list(ledger, &(struct audit_filter){ 0 }, 10, &count);
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].tool, "deployment_remove");
    assert_string_equal(rows[0].phase, "outcome");
    assert_in_range(rows[0].began_ms, 1, rows[0].at_ms);
    assert_string_equal(rows[1].tool, "sweep_start");
    assert_string_equal(rows[1].phase, "intent"); /* its outcome has not been recorded */
    assert_string_equal(rows[1].outcome, "");
    audit_log_rows_free(rows, count);
}

static void filters_and_pages(void **state)
{
    struct ledger *ledger = *state;
    struct change bob = ledger_change("bob", "x"), alice = ledger_change("alice", "y");
    struct audit_row *rows;
    size_t count;
    int64_t oldest;

    for (int i = 0; i < 3; i++) {
        assert_ok(ledger, audit_log_add(ledger->store, &bob, "ok", "", "s1", &ledger->error));
        assert_ok(ledger, audit_log_add(ledger->store, &alice, "ok", "", "s2", &ledger->error));
    }
    rows = list(ledger, &(struct audit_filter){ .principal = "bob" }, 2, &count);
    assert_int_equal(count, 2);
    oldest = rows[1].id;
    audit_log_rows_free(rows, count);
    rows =
        list(ledger, &(struct audit_filter){ .principal = "bob", .before_id = oldest }, 2, &count);
    assert_int_equal(count, 1);
    audit_log_rows_free(rows, count);
    rows = list(ledger, &(struct audit_filter){ .tool = "y", .subject = "s2" }, 10, &count);
    assert_int_equal(count, 3);
    audit_log_rows_free(rows, count);
    rows = list(ledger, &(struct audit_filter){ .tool = "y", .subject = "s1" }, 10, &count);
    assert_int_equal(count, 0);
    audit_log_rows_free(rows, count);
}

static void arguments_that_are_too_long_are_still_recorded_as_json(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("bob", "x");
    TEXT_AUTO arguments = { 0 };
    struct audit_row *rows;
    json_auto_t *json = NULL;
    size_t count;

    text_add(&arguments, "{\"a\":\"");
    while (arguments.length < 99998)
        text_add_char(&arguments, '\\');
    text_add(&arguments, "\"}");
    change.arguments = arguments.data;
    assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error));
    rows = list(ledger, &(struct audit_filter){ 0 }, 1, &count);
    assert_in_range(strlen(rows[0].arguments), 1, 4096);
    assert_ok(ledger,
              json_parse(rows[0].arguments, strlen(rows[0].arguments), &json, &ledger->error));
    assert_true(json_get_boolean(json, "truncated", false));
    assert_int_equal(json_get_integer(json, "bytes", 0), 100000);
    audit_log_rows_free(rows, count);
}

/* ---- Concurrent writes ---- */

struct adding {
    struct ledger ledger;
    atomic_bool over;
};

static void *add_until_over(void *context)
{
    struct adding *adding = context;
    struct change change = ledger_change("alice", "x");

    while (!atomic_load(&adding->over))
        assert_ok(&adding->ledger, audit_log_add(adding->ledger.store, &change, "ok", "", "",
                                                 &adding->ledger.error));
    return NULL;
}

static void the_log_is_found_intact_while_rows_are_being_added(void **state)
{
    struct ledger *ledger = *state;
    struct adding adding = { .ledger.store = ledger->store };
    struct audit_verdict verdict = { .intact = true };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, add_until_over, &adding), 0);
    for (int i = 0; i < 50 && verdict.intact; i++)
        assert_ok(ledger, audit_verify(ledger->store, NULL, NULL, &verdict, &ledger->error));
    atomic_store(&adding.over, true);
    pthread_join(thread, NULL);
    TEXT_AUTO words = { 0 };
    audit_verdict_describe(&verdict, &words);
    if (!verdict.intact)
        fail_msg("%s", text_string(&words));
}

/* ---- Export ---- */

static void each_page_of_an_export_continues_the_previous_one(void **state)
{
    enum { ROWS = 1200 };
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "x");
    int64_t last = 0, exported = 0;
    size_t count;

    for (int i = 0; i < ROWS; i++)
        assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error));
    do {
        json_auto_t *rows = NULL;

        assert_ok(ledger, audit_export(ledger->store, last, &rows, &ledger->error));
        count = json_array_size(rows);
        for (size_t i = 0; i < count; i++) {
            int64_t id = json_get_integer(json_array_get(rows, i), "id", 0);

            assert_true(id > last);
            last = id;
        }
        exported += (int64_t)count;
    } while (count > 0);
    assert_int_equal(exported, ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_who_did_what_with_which_outcome),
        cmocka_unit_test(invalid_utf8_is_recorded_as_replacement_characters),
        cmocka_unit_test(an_intent_and_its_outcome_are_listed_as_one_row),
        cmocka_unit_test(filters_and_pages),
        cmocka_unit_test(arguments_that_are_too_long_are_still_recorded_as_json),
        cmocka_unit_test(the_log_is_found_intact_while_rows_are_being_added),
        cmocka_unit_test(each_page_of_an_export_continues_the_previous_one),
    };

    return ledger_run(tests);
}
