/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/sse_queue.h"
#include "tests/unit/support/served.h"

static struct served served; /* needed for its event loop */
static struct sse_queue *sse_queue;

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, NULL);
    sse_queue = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    sse_queue_release(sse_queue);
    served_destroy(&served);
    return 0;
}

static bool push(const char *json)
{
    return sse_queue_put(sse_queue, 0, "event: message\n", json, strlen(json));
}

static void check_read(const char *expected)
{
    char bytes[128] = "";
    size_t length = 0;

    assert_int_equal(sse_queue_read(sse_queue, bytes, sizeof bytes - 1, &length), SSE_QUEUE_READ);
    assert_string_equal(bytes, expected);
}

static enum sse_queue_state read_state(void)
{
    char bytes[64];
    size_t length;

    return sse_queue_read(sse_queue, bytes, sizeof bytes, &length);
}

static void events_are_read_in_order_and_together(void **state)
{
    (void)state;
    assert_int_equal(read_state(), SSE_QUEUE_EMPTY);
    assert_true(push("{\"a\":1}"));
    assert_true(push("{}"));
    check_read("event: message\ndata: {\"a\":1}\n\nevent: message\ndata: {}\n\n");
    assert_int_equal(read_state(), SSE_QUEUE_EMPTY);
}

static void an_event_larger_than_the_buffer_is_read_in_parts(void **state)
{
    char all[64] = "", part[5];
    size_t length = 0;

    (void)state;
    assert_true(push("{\"a\":1}"));
    while (sse_queue_read(sse_queue, part, sizeof part - 1, &length) == SSE_QUEUE_READ)
        strncat(all, part, length);
    assert_string_equal(all, "event: message\ndata: {\"a\":1}\n\n");
    assert_int_equal(sse_queue_bytes_read(sse_queue), strlen(all));
}

static void waiting_events_are_read_before_the_end(void **state)
{
    (void)state;
    assert_true(push("{}"));
    sse_queue_end(sse_queue);
    assert_false(push("{}"));
    assert_false(sse_queue_is_open(sse_queue));
    check_read("event: message\ndata: {}\n\n");
    assert_int_equal(read_state(), SSE_QUEUE_ENDED);
}

static void reports_the_number_of_the_newest_event_that_was_read_completely(void **state)
{
    char part[12];
    size_t length;

    (void)state;
    assert_true(sse_queue_put(sse_queue, 7, "id: 7\n", "{}", 2));
    assert_true(sse_queue_put(sse_queue, 8, "id: 8\n", "{}", 2));
    assert_int_equal(sse_queue_read(sse_queue, part, sizeof part, &length), SSE_QUEUE_READ);
    assert_int_equal(sse_queue_sequence(sse_queue), 0);
    assert_int_equal(sse_queue_read(sse_queue, part, sizeof part, &length), SSE_QUEUE_READ);
    assert_int_equal(sse_queue_sequence(sse_queue), 7);
}

static void a_full_queue_cuts_the_stream(void **state)
{
    (void)state;
    for (int i = 0; i < SSE_QUEUE_FRAMES_LIMIT; i++) {
        assert_int_equal(sse_queue_has_room(sse_queue), i < SSE_QUEUE_FRAMES_LIMIT / 2);
        assert_true(push("{}"));
    }
    assert_false(push("{}"));
    assert_int_equal(read_state(), SSE_QUEUE_CUT);
    assert_false(push("{}"));
}

static void too_many_bytes_cut_the_stream(void **state)
{
    size_t length = SSE_QUEUE_BYTES_LIMIT / 2;
    char *json = memset(malloc(length), ' ', length);

    (void)state;
    assert_true(sse_queue_put(sse_queue, 0, "", json, length));
    assert_false(sse_queue_put(sse_queue, 0, "", json, length));
    assert_int_equal(read_state(), SSE_QUEUE_CUT);
    free(json);
}

static void comments_are_only_put_into_an_empty_queue(void **state)
{
    (void)state;
    sse_queue_put_comment(sse_queue);
    sse_queue_put_comment(sse_queue);
    check_read(":\n\n");
    assert_true(push("{}"));
    sse_queue_put_comment(sse_queue);
    check_read("event: message\ndata: {}\n\n");
}

static void a_closed_queue_accepts_nothing(void **state)
{
    (void)state;
    assert_true(push("{}"));
    sse_queue_close(sse_queue);
    assert_false(push("{}"));
    assert_false(sse_queue_is_open(sse_queue));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_are_read_in_order_and_together, start, stop),
        cmocka_unit_test_setup_teardown(an_event_larger_than_the_buffer_is_read_in_parts, start,
                                        stop),
        cmocka_unit_test_setup_teardown(waiting_events_are_read_before_the_end, start, stop),
        cmocka_unit_test_setup_teardown(
            reports_the_number_of_the_newest_event_that_was_read_completely, start, stop),
        cmocka_unit_test_setup_teardown(a_full_queue_cuts_the_stream, start, stop),
        cmocka_unit_test_setup_teardown(too_many_bytes_cut_the_stream, start, stop),
        cmocka_unit_test_setup_teardown(comments_are_only_put_into_an_empty_queue, start, stop),
        cmocka_unit_test_setup_teardown(a_closed_queue_accepts_nothing, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
