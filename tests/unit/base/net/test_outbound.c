/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are answered: tests what is sent, and what the caller gets from the answer. */
#include "tests/unit/support/outbound_trial.h"

static void receives_a_complete_answer(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/ok");
    assert_true(call.worked);
    assert_int_equal(call.response.status, 200);
    assert_int_equal(call.response.failure, FAILURE_NONE);
    assert_string_equal(call.response.body.data, "{\"ok\":true}");
    assert_string_equal(call.response.content_type, "application/json; charset=utf-8");
    assert_string_equal(call.response.server, "uvicorn?[2J");
    assert_int_equal(call.response.retry_after_s, -1);
    assert_true(call.response.sent_ns > 0);
    assert_true(call.response.first_byte_ns >= call.response.sent_ns);
    assert_true(call.response.end_ns >= call.response.first_byte_ns);
    outbound_response_finish(&call.response);
}

static void a_plain_call_sends_neither_authorization_nor_content_type(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/ok");
    assert_true(call.worked);
    assert_asked(*state, "GET /ok HTTP/1.1\r\n");
    assert_asked(*state, "\r\nAccept: application/json\r\n");
    assert_asked(*state, "\r\nUser-Agent: opsbrain/" OPSBRAIN_VERSION "\r\n");
    assert_not_asked(*state, "Authorization");
    assert_asked(*state, "\r\nAccept-Encoding: identity\r\n");
    assert_not_asked(*state, "Content-Type");
    outbound_response_finish(&call.response);
}

static void an_answer_is_read_even_if_it_is_compressed(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/compressed");
    assert_true(call.worked);
    assert_string_equal(text_string(&call.response.body), "four");
    outbound_response_finish(&call.response);
}

static void posts_a_body_with_the_bearer_token(void **state)
{
    static const char body[] = "{\"model\":\"a\"} and the rest is not sent";
    struct call call = { .request = { .bearer = "s3cret",
                                      .accept = "text/event-stream",
                                      .body = body,
                                      .body_length = 13 } };

    perform(&call, *state, "/ok");
    assert_true(call.worked);
    assert_asked(*state, "POST /ok HTTP/1.1\r\n");
    assert_asked(*state, "\r\nAuthorization: Bearer s3cret\r\n");
    assert_asked(*state, "\r\nAccept: text/event-stream\r\n");
    assert_asked(*state, "\r\nContent-Type: application/json\r\n");
    assert_asked(*state, "\r\n\r\n{\"model\":\"a\"}");
    assert_not_asked(*state, "the rest");
    assert_not_asked(*state, "Expect:");
    outbound_response_finish(&call.response);
}

static void uses_the_given_method(void **state)
{
    struct call deletion = { .request = { .method = "DELETE" } };
    struct call head = { .request = { .method = "HEAD" } };

    perform(&deletion, *state, "/ok");
    assert_asked(*state, "DELETE /ok HTTP/1.1\r\n");
    assert_true(deletion.worked);
    perform(&head, *state, "/ok");
    assert_asked(*state, "HEAD /ok HTTP/1.1\r\n");
    assert_true(head.worked);
    outbound_response_finish(&deletion.response);
    outbound_response_finish(&head.response);
}

static bool collect(void *context, const char *bytes, size_t length)
{
    text_add_bytes(context, bytes, length);
    return true;
}

static void streams_a_body_instead_of_keeping_it(void **state)
{
    TEXT_AUTO collected = { 0 };
    struct call call = { .request = { .on_bytes = collect, .context = &collected } };

    perform(&call, *state, "/stream");
    assert_true(call.worked);
    assert_string_equal(text_string(&collected), "hellohello");
    assert_int_equal(call.response.body.length, 0);
    outbound_response_finish(&call.response);
}

static bool refuse_bytes(void *context, const char *bytes, size_t length)
{
    (void)bytes;
    (void)length;
    ++*(int *)context;
    return false;
}

static void a_stream_ends_when_its_reader_wants_no_more(void **state)
{
    int calls = 0;
    struct call call = { .request = { .on_bytes = refuse_bytes, .context = &calls } };

    perform(&call, *state, "/half");
    assert_int_equal(calls, 1);
    assert_failed(&call, FAILURE_CANCELLED, ERROR_CANCELLED);
}

static void an_errors_body_is_kept_even_when_streaming(void **state)
{
    TEXT_AUTO collected = { 0 };
    struct call call = { .request = { .on_bytes = collect, .context = &collected } };

    perform(&call, *state, "/too-long");
    assert_int_equal(collected.length, 0);
    assert_int_equal(call.response.status, 400);
    assert_non_null(strstr(call.response.body.data, "maximum context length"));
    assert_says(&call, "the server answered 400: This model's maximum context length is 8192 "
                       "tokens. (too_long)");
    assert_failed(&call, FAILURE_TOO_LONG, ERROR_UPSTREAM);
}

static void keeps_64_kib_of_an_errors_body(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/large-error");
    assert_int_equal(call.response.status, 500);
    assert_int_equal(call.response.body.length, 65536);
    assert_failed(&call, FAILURE_SERVER_ERROR, ERROR_UPSTREAM);
}

static void refuses_an_answer_larger_than_the_limit(void **state)
{
    struct call call = { .request = { .response_limit_bytes = 1 << 20 } };

    perform(&call, *state, "/large");
    assert_in_range(call.response.body.length, 1, 1 << 20);
    assert_says(&call, "larger than the limit of 1048576 bytes");
    assert_failed(&call, FAILURE_PROTOCOL, ERROR_UPSTREAM);
}

static void reads_when_to_retry(void **state)
{
    struct call seconds = { 0 }, date = { 0 };

    perform(&seconds, *state, "/429");
    assert_int_equal(seconds.response.retry_after_s, 7);
    assert_says(&seconds, "answered 429: slow down (rate_limited)");
    assert_failed(&seconds, FAILURE_RATE_LIMITED, ERROR_UPSTREAM);
    perform(&date, *state, "/429-date");
    assert_in_range(date.response.retry_after_s, 90, 100);
    assert_failed(&date, FAILURE_RATE_LIMITED, ERROR_UPSTREAM);
}

static void does_not_follow_redirects(void **state)
{
    struct call call = { 0 };

    perform(&call, *state, "/redirect");
    assert_int_equal(call.response.status, 302);
    assert_asked(*state, "GET /redirect ");
    assert_says(&call, "redirects are not followed");
    assert_failed(&call, FAILURE_PROTOCOL, ERROR_UPSTREAM);
}

static void *call_many_times(void *context)
{
    struct server *server = context;

    for (int i = 0; i < 10; i++) {
        struct call call = { 0 };

        perform(&call, server, i % 2 == 0 ? "/ok" : "/too-long");
        if (call.worked != (i % 2 == 0))
            return server;
        outbound_response_finish(&call.response);
    }
    return NULL;
}

static void several_threads_can_call_at_once(void **state)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_many_times, *state), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_a_complete_answer),
        cmocka_unit_test(a_plain_call_sends_neither_authorization_nor_content_type),
        cmocka_unit_test(an_answer_is_read_even_if_it_is_compressed),
        cmocka_unit_test(posts_a_body_with_the_bearer_token),
        cmocka_unit_test(uses_the_given_method),
        cmocka_unit_test(streams_a_body_instead_of_keeping_it),
        cmocka_unit_test(a_stream_ends_when_its_reader_wants_no_more),
        cmocka_unit_test(an_errors_body_is_kept_even_when_streaming),
        cmocka_unit_test(keeps_64_kib_of_an_errors_body),
        cmocka_unit_test(refuses_an_answer_larger_than_the_limit),
        cmocka_unit_test(reads_when_to_retry),
        cmocka_unit_test(does_not_follow_redirects),
        cmocka_unit_test(several_threads_can_call_at_once),
    };

    return cmocka_run_group_tests(tests, start_server, stop_server);
}
