/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/events.h"
#include "store/ledger/principals.h"
#include "tests/unit/support/ledger.h"

static void add(struct ledger *ledger, const char *stream, int64_t sequence)
{
    char frame[32];

    snprintf(frame, sizeof frame, "frame %d", (int)sequence);
    assert_ok(ledger, event_add(ledger->store, stream, sequence, frame, 1000, &ledger->error));
}

static void lists_the_events_after_a_number(void **state)
{
    struct ledger *ledger = *state;
    struct event_row *rows;
    size_t count;

    for (int64_t i = 1; i <= 5; i++)
        add(ledger, "a", i);
    add(ledger, "b", 4);
    assert_ok(ledger, event_list(ledger->store, "a", 3, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].sequence, 4);
    assert_string_equal(rows[1].frame, "frame 5");
    event_rows_free(rows, count);
    assert_ok(ledger, event_list(ledger->store, "a", 0, 2, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].sequence, 1);
    event_rows_free(rows, count);
}

static void keeps_only_the_newest_frames_of_a_stream(void **state)
{
    struct ledger *ledger = *state;
    struct event_row *rows;
    size_t count;

    for (int64_t i = 1; i <= EVENTS_PER_STREAM + 10; i++)
        add(ledger, "a", i);
    assert_ok(ledger, event_list(ledger->store, "a", 0, 1000, &rows, &count, &ledger->error));
    assert_int_equal(count, EVENTS_PER_STREAM);
    assert_int_equal(rows[0].sequence, 11);
    event_rows_free(rows, count);
}

/* After a restart, a session's stream continues with a much higher number. */
static void a_gap_in_the_numbers_loses_no_frame(void **state)
{
    struct ledger *ledger = *state;
    struct event_row *rows;
    size_t count;

    add(ledger, "a", 1);
    add(ledger, "a", 1000000);
    assert_ok(ledger, event_list(ledger->store, "a", 0, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].sequence, 1);
    event_rows_free(rows, count);
}

static void events_survive_a_restart(void **state)
{
    struct ledger *ledger = *state;
    struct event_row *rows;
    size_t count;

    add(ledger, "a", 1);
    ledger_reopen(ledger);
    assert_ok(ledger, event_list(ledger->store, "a", 0, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    event_rows_free(rows, count);
}

static size_t count_events(struct ledger *ledger, const char *stream)
{
    struct event_row *rows;
    size_t count;

    assert_ok(ledger, event_list(ledger->store, stream, 0, 10, &rows, &count, &ledger->error));
    event_rows_free(rows, count);
    return count;
}

static void forgets_what_is_older_than_ten_minutes(void **state)
{
    struct ledger *ledger = *state;
    struct event_row *rows;
    size_t count;

    add(ledger, "a", 1);
    assert_ok(ledger, event_add(ledger->store, "a", 2, "newer", 2000, &ledger->error));
    assert_int_equal(count_events(ledger, "a"), 2);
    assert_ok(ledger, events_expire(ledger->store, 1500 + EVENTS_KEPT_MS, &ledger->error));
    assert_ok(ledger, event_list(ledger->store, "a", 0, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].frame, "newer");
    event_rows_free(rows, count);
}

static void add_session(struct ledger *ledger)
{
    const struct session_row session = { .id = "ses_a",
                                         .principal = "alice",
                                         .protocol_version = "2025-11-25",
                                         .created_ms = 1000,
                                         .last_seen_ms = 1000 };

    assert_ok(ledger, session_add(ledger->store, &session, &ledger->error));
}

/* Returns whether session ses_a has a call with this stream. */
static bool find_call(struct ledger *ledger, const char *stream, struct event_call *out)
{
    bool found;

    *out = (struct event_call){ 0 };
    assert_ok(ledger, event_call_find(ledger->store, "ses_a", stream, out, &found, &ledger->error));
    free(out->message_id);
    return found;
}

static void begin_call(struct ledger *ledger, const char *session, const char *stream)
{
    assert_ok(ledger,
              event_call_begin(ledger->store, session, stream, "7", "req_1", 1000, &ledger->error));
}

static void knows_which_calls_ended_and_forgets_them_after_ten_minutes(void **state)
{
    struct ledger *ledger = *state;
    struct event_call call;

    add_session(ledger);
    begin_call(ledger, "ses_a", "aa");
    begin_call(ledger, "ses_a", "bb");
    begin_call(ledger, "ses_gone", "aa");
    add(ledger, "ses_a/aa", 3);
    assert_ok(ledger, event_call_end(ledger->store, "ses_a", "aa", 2000, &ledger->error));
    assert_true(find_call(ledger, "aa", &call));
    assert_int_equal(call.sequence, 3);
    assert_int_equal(call.ended_ms, 2000);
    assert_string_equal(call.request_id, "req_1");
    assert_true(find_call(ledger, "bb", &call));
    assert_int_equal(call.ended_ms, 0);
    assert_ok(ledger, events_expire(ledger->store, 2001 + EVENTS_KEPT_MS, &ledger->error));
    assert_false(find_call(ledger, "aa", &call));
    assert_true(find_call(ledger, "bb", &call));
}

static size_t count_subscriptions(struct ledger *ledger)
{
    struct session_subscription_row *rows;
    size_t count;

    assert_ok(ledger, session_subscription_load(ledger->store, &rows, &count, &ledger->error));
    session_subscription_rows_free(rows, count);
    return count;
}

static void calls_events_and_subscriptions_are_removed_with_their_session(void **state)
{
    struct ledger *ledger = *state;
    struct event_call call;

    add_session(ledger);
    begin_call(ledger, "ses_a", "aa");
    add(ledger, "ses_a/0", 1);
    add(ledger, "ses_ab/0", 1);
    assert_ok(ledger, session_subscription_add(ledger->store, "ses_a", "u:1", &ledger->error));
    assert_ok(ledger, session_subscription_add(ledger->store, "ses_a", "u:1", &ledger->error));
    assert_ok(ledger, session_subscription_add(ledger->store, "ses_gone", "u:1", &ledger->error));
    assert_int_equal(count_subscriptions(ledger), 1);
    assert_ok(ledger, session_remove(ledger->store, "ses_a", &ledger->error));
    assert_int_equal(count_subscriptions(ledger), 0);
    assert_false(find_call(ledger, "aa", &call));
    assert_int_equal(count_events(ledger, "ses_a/0"), 0);
    assert_int_equal(count_events(ledger, "ses_ab/0"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_the_events_after_a_number),
        cmocka_unit_test(keeps_only_the_newest_frames_of_a_stream),
        cmocka_unit_test(a_gap_in_the_numbers_loses_no_frame),
        cmocka_unit_test(events_survive_a_restart),
        cmocka_unit_test(forgets_what_is_older_than_ten_minutes),
        cmocka_unit_test(knows_which_calls_ended_and_forgets_them_after_ten_minutes),
        cmocka_unit_test(calls_events_and_subscriptions_are_removed_with_their_session),
    };

    return ledger_run(tests);
}
