#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "served.h"
#include "server/stream.h"

static struct served served; /* for its loop */
static struct stream *stream;

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, NULL);
    stream = stream_create(served.server->loops[0], NULL, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    stream_release(stream);
    served_destroy(&served);
    return 0;
}

static bool push(const char *json)
{
    return stream_push(stream, json, strlen(json));
}

static void check_read(const char *expected)
{
    char bytes[128] = "";
    size_t length = 0;

    assert_int_equal(stream_read(stream, bytes, sizeof bytes - 1, &length), STREAM_READ);
    assert_string_equal(bytes, expected);
}

static enum stream_state read_state(void)
{
    char bytes[64];
    size_t length;

    return stream_read(stream, bytes, sizeof bytes, &length);
}

static void events_are_read_in_order_and_together(void **state)
{
    (void)state;
    assert_int_equal(read_state(), STREAM_EMPTY);
    assert_true(push("{\"a\":1}"));
    assert_true(push("{}"));
    check_read("event: message\ndata: {\"a\":1}\n\nevent: message\ndata: {}\n\n");
    assert_int_equal(read_state(), STREAM_EMPTY);
}

static void an_event_is_read_in_parts_where_there_is_little_room(void **state)
{
    char all[64] = "", part[5];
    size_t length = 0;

    (void)state;
    assert_true(push("{\"a\":1}"));
    while (stream_read(stream, part, sizeof part - 1, &length) == STREAM_READ)
        strncat(all, part, length);
    assert_string_equal(all, "event: message\ndata: {\"a\":1}\n\n");
    assert_int_equal(stream_bytes_read(stream), strlen(all));
}

static void what_waits_is_read_before_the_end(void **state)
{
    (void)state;
    assert_true(push("{}"));
    stream_end(stream);
    assert_false(push("{}"));
    assert_false(stream_is_open(stream));
    check_read("event: message\ndata: {}\n\n");
    assert_int_equal(read_state(), STREAM_ENDED);
}

static void a_farewell_is_the_last_event(void **state)
{
    (void)state;
    stream_set_farewell_take(stream, strdup("{\"bye\":1}"));
    assert_true(push("{}"));
    stream_say_farewell(stream);
    stream_say_farewell(stream);
    check_read("event: message\ndata: {}\n\nevent: message\ndata: {\"bye\":1}\n\n");
    assert_int_equal(read_state(), STREAM_ENDED);
}

static void a_full_line_cuts_the_stream(void **state)
{
    (void)state;
    for (int i = 0; i < STREAM_FRAMES_LIMIT; i++) {
        assert_int_equal(stream_has_room(stream), i < STREAM_FRAMES_LIMIT / 2);
        assert_true(push("{}"));
    }
    assert_false(push("{}"));
    assert_int_equal(read_state(), STREAM_CUT);
    assert_false(push("{}"));
}

static void too_many_bytes_cut_the_stream(void **state)
{
    size_t length = STREAM_BYTES_LIMIT / 2;
    char *json = memset(malloc(length), ' ', length);

    (void)state;
    assert_true(stream_push(stream, json, length));
    assert_false(stream_push(stream, json, length));
    assert_int_equal(read_state(), STREAM_CUT);
    free(json);
}

static void comments_are_for_empty_lines_alone(void **state)
{
    (void)state;
    stream_push_comment(stream);
    stream_push_comment(stream);
    check_read(":\n\n");
    assert_true(push("{}"));
    stream_push_comment(stream);
    check_read("event: message\ndata: {}\n\n");
}

static void a_closed_stream_takes_nothing(void **state)
{
    (void)state;
    assert_true(push("{}"));
    stream_close(stream);
    assert_false(push("{}"));
    assert_false(stream_is_open(stream));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_are_read_in_order_and_together, start, stop),
        cmocka_unit_test_setup_teardown(an_event_is_read_in_parts_where_there_is_little_room, start,
                                        stop),
        cmocka_unit_test_setup_teardown(what_waits_is_read_before_the_end, start, stop),
        cmocka_unit_test_setup_teardown(a_farewell_is_the_last_event, start, stop),
        cmocka_unit_test_setup_teardown(a_full_line_cuts_the_stream, start, stop),
        cmocka_unit_test_setup_teardown(too_many_bytes_cut_the_stream, start, stop),
        cmocka_unit_test_setup_teardown(comments_are_for_empty_lines_alone, start, stop),
        cmocka_unit_test_setup_teardown(a_closed_stream_takes_nothing, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
