/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that a person answers on a page: which answer counts, and which questions are listed
 * and kept. */
#include "store/ledger/page_questions.h"

#include "store/ledger/store.h"
#include "tests/unit/support/ledger.h"

#define DAY_MS (24 * 60 * 60 * 1000LL)
#define YES "{\"action\":\"accept\",\"content\":{\"remove\":true}}"
#define NO "{\"action\":\"decline\"}"

static void ask(struct ledger *ledger, const char *id, const char *principal, int64_t asked_ms)
{
    char params[] = "{\"message\":\"Remove it?\"}";
    struct page_question row = { .tool = "deployment_remove",
                                 .params = params,
                                 .asked_ms = asked_ms,
                                 .expires_ms = asked_ms + 1000 };

    text_copy(row.id, sizeof row.id, id);
    text_copy(row.principal, sizeof row.principal, principal);
    assert_ok(ledger, page_question_add(ledger->store, &row, &ledger->error));
}

static bool answer(struct ledger *ledger, const char *id, const char *given, int64_t now_ms)
{
    struct change change = ledger_change("ada", "question_answer");

    return page_question_answer(ledger->store, id, given, now_ms, &change, &ledger->error);
}

static void the_first_answer_counts(void **state)
{
    struct ledger *ledger = *state;
    struct page_question found;

    ask(ledger, "ask_a", "ada", 5000);
    assert_ok(ledger, answer(ledger, "ask_a", YES, 5100));
    assert_refused(ledger, answer(ledger, "ask_a", NO, 5200), ERROR_CONFLICT,
                   "this question was answered at 1970-01-01T00:00:05.100Z");
    ask(ledger, "ask_a", "eve", 9000); /* the id exists already: nothing changes */
    assert_ok(ledger, page_question_find(ledger->store, "ask_a", &found, &ledger->error));
    assert_string_equal(found.answer, YES);
    assert_string_equal(found.principal, "ada");
    assert_int_equal(found.answered_ms, 5100);
    page_question_finish(&found);
}

static void an_answer_that_nobody_waits_for_is_refused(void **state)
{
    struct ledger *ledger = *state;
    struct page_question ended;

    ask(ledger, "ask_a", "ada", 5000);
    assert_refused(ledger, answer(ledger, "ask_a", YES, 6000), ERROR_CONFLICT,
                   "this question expired at 1970-01-01T00:00:06.000Z");
    assert_refused(ledger, answer(ledger, "ask_b", YES, 6000), ERROR_NOT_FOUND, "ask_b");
    ask(ledger, "ask_c", "ada", 5000);
    assert_ok(ledger, page_question_end(ledger->store, "ask_c", 5100, &ended, &ledger->error));
    assert_null(ended.answer);
    page_question_finish(&ended);
    assert_refused(ledger, answer(ledger, "ask_c", YES, 5100), ERROR_CONFLICT,
                   "this question expired");
}

static void ending_a_question_returns_an_earlier_answer(void **state)
{
    struct ledger *ledger = *state;
    struct page_question ended;

    ask(ledger, "ask_a", "ada", 5000);
    assert_ok(ledger, answer(ledger, "ask_a", YES, 5100));
    assert_ok(ledger, page_question_end(ledger->store, "ask_a", 5200, &ended, &ledger->error));
    assert_string_equal(ended.answer, YES);
    assert_int_equal(ended.expires_ms, 6000);
    page_question_finish(&ended);
}

static void lists_open_questions_only_to_their_principal(void **state)
{
    struct ledger *ledger = *state;
    struct page_question *rows;
    size_t count;

    ask(ledger, "ask_old", "ada", 1000);
    ask(ledger, "ask_a", "ada", 5000);
    ask(ledger, "ask_b", "ada", 5001);
    ask(ledger, "ask_c", "ada", 5002);
    ask(ledger, "ask_eve", "eve", 5000);
    assert_ok(ledger, answer(ledger, "ask_c", NO, 5100));
    assert_ok(ledger,
              page_question_list(ledger->store, "ada", 5200, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].id, "ask_b");
    assert_string_equal(rows[1].id, "ask_a");
    page_question_rows_free(rows, count);
}

static void questions_are_kept_for_a_day(void **state)
{
    struct ledger *ledger = *state;
    const struct retention retention = { 0 };
    struct page_question found;

    ask(ledger, "ask_a", "ada", DAY_MS);
    assert_ok(ledger, store_apply_retention(ledger->store, &retention, 2 * DAY_MS, &ledger->error));
    assert_ok(ledger, page_question_find(ledger->store, "ask_a", &found, &ledger->error));
    page_question_finish(&found);
    assert_ok(ledger,
              store_apply_retention(ledger->store, &retention, 2 * DAY_MS + 1, &ledger->error));
    assert_refused(ledger, page_question_find(ledger->store, "ask_a", &found, &ledger->error),
                   ERROR_NOT_FOUND, "no question has the id \"ask_a\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_answer_counts),
        cmocka_unit_test(an_answer_that_nobody_waits_for_is_refused),
        cmocka_unit_test(ending_a_question_returns_an_earlier_answer),
        cmocka_unit_test(lists_open_questions_only_to_their_principal),
        cmocka_unit_test(questions_are_kept_for_a_day),
    };

    return ledger_run(tests);
}
