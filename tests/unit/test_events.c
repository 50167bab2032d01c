#include "store/events.h"
#include "tests/unit/ledger.h"

static void add(struct ledger *ledger, const char *stream, int64_t sequence)
{
    char frame[32];

    snprintf(frame, sizeof frame, "frame %d", (int)sequence);
    assert_ok(ledger, event_add(ledger->store, stream, sequence, frame, 1000, &ledger->error));
}

static void lists_what_came_after_the_cursor(void **state)
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

static void are_there_after_a_restart(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_what_came_after_the_cursor),
        cmocka_unit_test(keeps_only_the_newest_frames_of_a_stream),
        cmocka_unit_test(are_there_after_a_restart),
    };

    return ledger_run(tests);
}
