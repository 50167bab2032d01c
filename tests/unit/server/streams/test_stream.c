/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/rate_limit.h"
#include "server/http/sse_queue.h"
#include "server/streams/stream.h"
#include "store/ledger/events.h"
#include "tests/unit/support/served.h"

static struct served served; /* needed for its event loop and its store */
static struct sse_queue *sse_queue;
static struct stream *stream;

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, NULL);
    sse_queue = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    stream = stream_create(sse_queue);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    stream_release(stream);
    sse_queue_release(sse_queue);
    served_destroy(&served);
    return 0;
}

static bool push(const char *json)
{
    return stream_push(stream, json, strlen(json));
}

static void store_stream(void)
{
    stream_keep(stream, served.services.store, "ses_a", "abc", 0);
}

static void check_read(struct sse_queue *from, const char *expected)
{
    char bytes[256] = "";
    size_t length = 0;

    assert_int_equal(sse_queue_read(from, bytes, sizeof bytes - 1, &length), SSE_QUEUE_READ);
    assert_string_equal(bytes, expected);
}

static enum sse_queue_state read_state(void)
{
    char bytes[64];
    size_t length;

    return sse_queue_read(sse_queue, bytes, sizeof bytes, &length);
}

static void the_closing_message_is_the_last_event(void **state)
{
    (void)state;
    stream_set_closing_message_take(stream, strdup("{\"bye\":1}"));
    assert_true(push("{}"));
    stream_send_closing_message(stream);
    stream_send_closing_message(stream);
    check_read(sse_queue, "event: message\ndata: {}\n\nevent: message\ndata: {\"bye\":1}\n\n");
    assert_int_equal(read_state(), SSE_QUEUE_ENDED);
    assert_false(push("{}"));
    assert_false(stream_is_open(stream));
}

static void a_stream_that_is_not_stored_ends_with_its_connection(void **state)
{
    (void)state;
    assert_true(stream_is_open(stream));
    sse_queue_close(sse_queue);
    assert_false(push("{}"));
    assert_false(stream_is_open(stream));
}

static void a_stored_stream_numbers_its_events_and_the_priming_event_is_the_first(void **state)
{
    (void)state;
    store_stream();
    stream_prime(stream);
    assert_true(push("{\"a\":1}"));
    check_read(sse_queue, "id: abc_1\nretry: 1000\ndata: \n\n"
                          "id: abc_2\nevent: message\ndata: {\"a\":1}\n\n");
}

static void a_stored_stream_outlives_its_connection(void **state)
{
    struct event_row *rows;
    struct error error;
    size_t count;

    (void)state;
    store_stream();
    sse_queue_close(sse_queue);
    assert_true(push("{\"a\":1}"));
    assert_true(stream_is_open(stream));
    assert_true(event_list(served.services.store, "ses_a/abc", 0, 10, &rows, &count, &error));
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].sequence, 1);
    assert_string_equal(rows[0].frame, "{\"a\":1}");
    event_rows_free(rows, count);
}

static void a_new_connection_replaces_the_old_one(void **state)
{
    struct sse_queue *second = sse_queue_create(served.server->http->loops[0], NULL, NULL);

    (void)state;
    assert_true(stream_is_read(stream));
    assert_true(stream_attach(stream, 0, second));
    assert_int_equal(read_state(), SSE_QUEUE_ENDED);
    assert_true(push("{}"));
    check_read(second, "event: message\ndata: {}\n\n");
    sse_queue_close(second);
    assert_false(stream_is_read(stream));
    sse_queue_release(second);
}

static void attaching_a_connection_to_an_ended_stream_ends_the_connection(void **state)
{
    struct sse_queue *second = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    char bytes[8];
    size_t length;

    (void)state;
    stream_end(stream);
    assert_true(stream_attach(stream, 0, second));
    assert_int_equal(sse_queue_read(second, bytes, sizeof bytes, &length), SSE_QUEUE_ENDED);
    sse_queue_release(second);
}

/* An event arrives after the number of the newest received event was read, and before the new
 * connection is attached. */
static void a_connection_that_would_miss_an_event_is_not_attached(void **state)
{
    struct sse_queue *second = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    struct error error;
    int64_t received;

    (void)state;
    store_stream();
    sse_queue_close(sse_queue);
    received = stream_received(stream);
    assert_true(push("{\"a\":1}"));
    assert_false(stream_attach(stream, received, second));
    assert_false(stream_is_read(stream));
    assert_true(stream_resume(stream, received, second, &error));
    check_read(second, "id: abc_1\nevent: message\ndata: {\"a\":1}\n\n");
    assert_true(stream_attach(stream, stream_sequence(stream), second));
    sse_queue_release(second);
}

static void events_that_the_old_connection_did_not_read_are_sent_only_on_the_new_one(void **state)
{
    struct sse_queue *second = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    char bytes[sizeof "id: abc_1\nevent: message\ndata: {}\n\n" - 1];
    size_t length;
    struct error error;

    (void)state;
    store_stream();
    assert_true(push("{}"));
    assert_true(push("{}"));
    assert_int_equal(sse_queue_read(sse_queue, bytes, sizeof bytes, &length), SSE_QUEUE_READ);
    assert_int_equal(stream_received(stream), 1);
    assert_true(stream_resume(stream, 1, second, &error));
    assert_int_equal(read_state(), SSE_QUEUE_ENDED);
    assert_true(push("{\"a\":1}"));
    check_read(second, "id: abc_2\nevent: message\ndata: {}\n\n"
                       "id: abc_3\nevent: message\ndata: {\"a\":1}\n\n");
    assert_int_equal(stream_received(stream), 3);
    sse_queue_release(second);
}

static void stored_events_can_be_sent_again_while_new_ones_arrive(void **state)
{
    struct sse_queue *second = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    struct error error;
    char bytes[64];
    size_t length;

    (void)state;
    store_stream();
    for (int i = 0; i < EVENTS_PER_STREAM; i++)
        assert_true(push("{}"));
    assert_true(stream_resume(stream, 0, second, &error));
    for (int i = 0; i < 10; i++)
        assert_true(push("{}"));
    assert_int_equal(sse_queue_read(second, bytes, sizeof bytes, &length), SSE_QUEUE_READ);
    sse_queue_release(second);
}

static void an_ended_stream_can_be_resumed_up_to_its_end(void **state)
{
    struct sse_queue *second = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    char bytes[64];
    size_t length;
    struct error error;

    (void)state;
    store_stream();
    assert_true(push("{}"));
    stream_end(stream);
    assert_false(stream_resume(stream, 2, second, &error));
    assert_int_equal(error.kind, ERROR_NOT_FOUND);
    assert_true(stream_resume(stream, 0, second, &error));
    check_read(second, "id: abc_1\nevent: message\ndata: {}\n\n");
    assert_int_equal(sse_queue_read(second, bytes, sizeof bytes, &length), SSE_QUEUE_ENDED);
    sse_queue_release(second);
}

/* The first connection gets every event in full. When the stream is resumed, a message that was too
 * large to store is omitted, and an answer that was too large is replaced. */
static void an_event_too_large_to_store_is_omitted_or_replaced_on_resuming(void **state)
{
    struct rate_limit *bytes =
        rate_limit_create((struct rate_limit_limits){ .per_second = 1, .burst = 10 });
    struct sse_queue *second = sse_queue_create(served.server->http->loops[0], NULL, NULL);
    struct error error;

    (void)state;
    store_stream();
    stream_limit(stream, bytes, "alice");
    assert_true(push("{\"long\":\"0123456789\"}"));
    assert_true(push("{}"));
    assert_true(stream_push_answer(stream, "{\"answer\":1}", 12, "{\"gone\":1}"));
    stream_end(stream);
    check_read(sse_queue, "id: abc_1\nevent: message\ndata: {\"long\":\"0123456789\"}\n\n"
                          "id: abc_2\nevent: message\ndata: {}\n\n"
                          "id: abc_3\nevent: message\ndata: {\"answer\":1}\n\n");
    assert_true(stream_resume(stream, 0, second, &error));
    check_read(second, "id: abc_2\nevent: message\ndata: {}\n\n"
                       "id: abc_3\nevent: message\ndata: {\"gone\":1}\n\n");
    sse_queue_release(second);
    rate_limit_destroy(bytes);
}

static void hanging_up_ends_the_connection_only_if_the_stream_is_primed(void **state)
{
    (void)state;
    stream_hang_up(stream);
    assert_int_equal(read_state(), SSE_QUEUE_EMPTY);
    store_stream();
    stream_prime(stream);
    stream_hang_up(stream);
    assert_int_equal(read_state(), SSE_QUEUE_READ);
    assert_int_equal(read_state(), SSE_QUEUE_ENDED);
    assert_true(push("{}"));
    assert_true(stream_is_open(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_closing_message_is_the_last_event, start, stop),
        cmocka_unit_test_setup_teardown(a_stream_that_is_not_stored_ends_with_its_connection, start,
                                        stop),
        cmocka_unit_test_setup_teardown(
            a_stored_stream_numbers_its_events_and_the_priming_event_is_the_first, start, stop),
        cmocka_unit_test_setup_teardown(a_stored_stream_outlives_its_connection, start, stop),
        cmocka_unit_test_setup_teardown(a_new_connection_replaces_the_old_one, start, stop),
        cmocka_unit_test_setup_teardown(
            attaching_a_connection_to_an_ended_stream_ends_the_connection, start, stop),
        cmocka_unit_test_setup_teardown(a_connection_that_would_miss_an_event_is_not_attached,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            events_that_the_old_connection_did_not_read_are_sent_only_on_the_new_one, start, stop),
        cmocka_unit_test_setup_teardown(stored_events_can_be_sent_again_while_new_ones_arrive,
                                        start, stop),
        cmocka_unit_test_setup_teardown(an_ended_stream_can_be_resumed_up_to_its_end, start, stop),
        cmocka_unit_test_setup_teardown(
            an_event_too_large_to_store_is_omitted_or_replaced_on_resuming, start, stop),
        cmocka_unit_test_setup_teardown(hanging_up_ends_the_connection_only_if_the_stream_is_primed,
                                        start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
