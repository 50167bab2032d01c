#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/streams/sse_queue.h"
#include "tests/unit/support/served.h"

static struct served served; /* for its loop */
static struct outlet *outlet;

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, NULL);
    outlet = outlet_create(served.server->loops[0], NULL, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    outlet_release(outlet);
    served_destroy(&served);
    return 0;
}

static bool push(const char *json)
{
    return outlet_put(outlet, 0, "event: message\n", json, strlen(json));
}

static void check_read(const char *expected)
{
    char bytes[128] = "";
    size_t length = 0;

    assert_int_equal(outlet_read(outlet, bytes, sizeof bytes - 1, &length), OUTLET_READ);
    assert_string_equal(bytes, expected);
}

static enum outlet_state read_state(void)
{
    char bytes[64];
    size_t length;

    return outlet_read(outlet, bytes, sizeof bytes, &length);
}

static void events_are_read_in_order_and_together(void **state)
{
    (void)state;
    assert_int_equal(read_state(), OUTLET_EMPTY);
    assert_true(push("{\"a\":1}"));
    assert_true(push("{}"));
    check_read("event: message\ndata: {\"a\":1}\n\nevent: message\ndata: {}\n\n");
    assert_int_equal(read_state(), OUTLET_EMPTY);
}

static void an_event_is_read_in_parts_where_there_is_little_room(void **state)
{
    char all[64] = "", part[5];
    size_t length = 0;

    (void)state;
    assert_true(push("{\"a\":1}"));
    while (outlet_read(outlet, part, sizeof part - 1, &length) == OUTLET_READ)
        strncat(all, part, length);
    assert_string_equal(all, "event: message\ndata: {\"a\":1}\n\n");
    assert_int_equal(outlet_bytes_read(outlet), strlen(all));
}

static void what_waits_is_read_before_the_end(void **state)
{
    (void)state;
    assert_true(push("{}"));
    outlet_end(outlet);
    assert_false(push("{}"));
    assert_false(outlet_is_open(outlet));
    check_read("event: message\ndata: {}\n\n");
    assert_int_equal(read_state(), OUTLET_ENDED);
}

static void the_number_of_the_newest_event_that_was_read_whole_is_told(void **state)
{
    char part[12];
    size_t length;

    (void)state;
    assert_true(outlet_put(outlet, 7, "id: 7\n", "{}", 2));
    assert_true(outlet_put(outlet, 8, "id: 8\n", "{}", 2));
    assert_int_equal(outlet_read(outlet, part, sizeof part, &length), OUTLET_READ);
    assert_int_equal(outlet_sequence(outlet), 0);
    assert_int_equal(outlet_read(outlet, part, sizeof part, &length), OUTLET_READ);
    assert_int_equal(outlet_sequence(outlet), 7);
}

static void a_full_line_cuts_the_stream(void **state)
{
    (void)state;
    for (int i = 0; i < OUTLET_FRAMES_LIMIT; i++) {
        assert_int_equal(outlet_has_room(outlet), i < OUTLET_FRAMES_LIMIT / 2);
        assert_true(push("{}"));
    }
    assert_false(push("{}"));
    assert_int_equal(read_state(), OUTLET_CUT);
    assert_false(push("{}"));
}

static void too_many_bytes_cut_the_stream(void **state)
{
    size_t length = OUTLET_BYTES_LIMIT / 2;
    char *json = memset(malloc(length), ' ', length);

    (void)state;
    assert_true(outlet_put(outlet, 0, "", json, length));
    assert_false(outlet_put(outlet, 0, "", json, length));
    assert_int_equal(read_state(), OUTLET_CUT);
    free(json);
}

static void comments_are_for_empty_lines_alone(void **state)
{
    (void)state;
    outlet_put_comment(outlet);
    outlet_put_comment(outlet);
    check_read(":\n\n");
    assert_true(push("{}"));
    outlet_put_comment(outlet);
    check_read("event: message\ndata: {}\n\n");
}

static void a_closed_stream_takes_nothing(void **state)
{
    (void)state;
    assert_true(push("{}"));
    outlet_close(outlet);
    assert_false(push("{}"));
    assert_false(outlet_is_open(outlet));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(events_are_read_in_order_and_together, start, stop),
        cmocka_unit_test_setup_teardown(an_event_is_read_in_parts_where_there_is_little_room, start,
                                        stop),
        cmocka_unit_test_setup_teardown(what_waits_is_read_before_the_end, start, stop),
        cmocka_unit_test_setup_teardown(the_number_of_the_newest_event_that_was_read_whole_is_told,
                                        start, stop),
        cmocka_unit_test_setup_teardown(a_full_line_cuts_the_stream, start, stop),
        cmocka_unit_test_setup_teardown(too_many_bytes_cut_the_stream, start, stop),
        cmocka_unit_test_setup_teardown(comments_are_for_empty_lines_alone, start, stop),
        cmocka_unit_test_setup_teardown(a_closed_stream_takes_nothing, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
