/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define JSON_TYPE "Content-Type: application/json\r\n"

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--header-timeout=1s", "--body-timeout=1s", "--keep-alive=1s",
                 "--waiting-workers=1", "--queue-limit=1", "--connections=60", NULL);
    atomic_store(&served_cancelled, 0);
    atomic_store(&served_done, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

static void a_connection_serves_many_requests(void **state)
{
    struct http_client client;
    TEXT_AUTO reply = { 0 };

    (void)state;
    http_open(&client, port());
    for (int i = 0; i < 20; i++) {
        assert_int_equal(http_exchange(&client, "GET", "/health", NULL, NULL, &reply), 200);
        assert_string_equal(text_string(&reply), "ok\n");
        assert_int_equal(http_exchange(&client, "POST", "/mcp", MCP_HEADERS, PING, &reply), 200);
    }
    http_close(&client);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    struct http_client client;
    TEXT_AUTO reply = { 0 };

    (void)state;
    http_open(&client, port());
    http_send(
        &client, "POST", "/mcp", MCP_HEADERS,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"block\","
        "\"arguments\":{\"steps\":2,\"step_ms\":10}}}");
    http_send(&client, "POST", "/mcp", MCP_HEADERS, PING);
    assert_int_equal(http_read_head(&client), 200);
    while (http_read_part(&client, &reply))
        continue;
    assert_non_null(strstr(text_string(&reply), "steps"));
    assert_int_equal(http_read_head(&client), 200);
    http_close(&client);
}

static void a_body_can_arrive_in_small_pieces(void **state)
{
    struct http_client client;
    TEXT_AUTO request = { 0 };

    (void)state;
    text_addf(&request, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" JSON_TYPE
                        "Transfer-Encoding: chunked\r\n\r\n");
    for (const char *c = PING; *c != '\0'; c++)
        text_addf(&request, "1\r\n%c\r\n", *c);
    text_add(&request, "0\r\n\r\n");
    http_open(&client, port());
    for (size_t i = 0; i < request.length; i += 7)
        http_send_bytes(&client, request.data + i, request.length - i < 7 ? request.length - i : 7);
    assert_int_equal(http_read_head(&client), 200);
    http_close(&client);
}

/* Sends a POST whose body is `length` spaces. Returns the status. */
static int post_bytes(size_t length)
{
    char *body = memset(malloc(length + 1), ' ', length);
    struct http_client client;
    int status;

    body[length] = '\0';
    http_open(&client, port());
    status = http_exchange(&client, "POST", "/mcp", MCP_HEADERS, body, NULL);
    if (status == 413) /* then the connection must still be open */
        assert_int_equal(http_exchange(&client, "GET", "/health", NULL, NULL, NULL), 200);
    http_close(&client);
    free(body);
    return status;
}

static void a_body_over_the_limit_is_read_to_its_end_and_refused(void **state)
{
    (void)state;
    assert_int_equal(post_bytes(1 << 20), 400); /* spaces are not JSON */
    assert_int_equal(post_bytes((1 << 20) + 1), 413);
    assert_int_equal(post_bytes(2 << 20), 413);
}

static void during_an_endless_body_the_connection_is_closed(void **state)
{
    static const char chunk[] = "4000\r\n";
    char bytes[0x4000 + 2];
    struct http_client client;

    (void)state;
    memset(bytes, ' ', sizeof bytes);
    bytes[0x4000] = '\r';
    bytes[0x4001] = '\n';
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS "Transfer-Encoding: chunked\r\n", NULL);
    for (int i = 0; i < 600; i++) { /* 9.4 MiB */
        http_send_bytes(&client, chunk, strlen(chunk));
        http_send_bytes(&client, bytes, sizeof bytes);
    }
    assert_true(http_is_closed(&client));
    http_close(&client);
}

static void a_client_that_expects_100_continue_gets_it_or_a_refusal(void **state)
{
    struct http_client client;
    TEXT_AUTO reply = { 0 };

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS "Expect: 100-continue\r\nContent-Length: 40\r\n",
              NULL);
    assert_true(http_line(&client, &reply));
    assert_string_equal(text_string(&reply), "HTTP/1.1 100 Continue");
    assert_true(http_line(&client, &reply));
    http_send_bytes(&client, PING, strlen(PING));
    assert_int_equal(http_read_head(&client), 200);
    http_close(&client);
    http_open(&client, port());
    http_send(&client, "POST", "/mcp",
              MCP_HEADERS "Expect: 100-continue\r\nContent-Length: 2000000\r\n", NULL);
    assert_int_equal(http_read_head(&client), 413);
    http_close(&client);
}

static void a_length_far_over_the_limit_is_refused_at_once(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS "Content-Length: 99999999999\r\n", NULL);
    assert_int_equal(http_read_head(&client), 413);
    assert_true(http_is_closed(&client));
    http_close(&client);
}

static void headers_sent_byte_by_byte_time_out(void **state)
{
    static const char request[] = "GET /health HTTP/1.1\r\nHost: localhost\r\nX: ";
    struct http_client client;
    int64_t begun_ns = clock_monotonic_ns();

    (void)state;
    http_open(&client, port());
    http_send_bytes(&client, request, strlen(request));
    for (int i = 0; i < 100; i++) {
        served_sleep_ms(20);
        if (send(client.fd, "x", 1, MSG_NOSIGNAL) < 0)
            break;
    }
    assert_true(http_is_closed(&client));
    assert_true(clock_monotonic_ns() - begun_ns > INT64_C(900000000));
    http_close(&client);
}

static void a_body_has_to_arrive_in_time(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS "Content-Length: 100\r\n", NULL);
    http_send_bytes(&client, "{\"json", 6);
    assert_true(http_is_closed(&client));
    http_close(&client);
}

static void idle_streams_are_kept_alive_with_comments(void **state)
{
    struct http_client client;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };
    TEXT_AUTO headers = { 0 };
    char *session = mcp_initialize(port(), NULL), *buffering;

    (void)state;
    text_addf(&headers, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\n", session);
    http_open(&client, port());
    http_send(&client, "GET", "/mcp", text_string(&headers), NULL);
    assert_int_equal(http_read_head(&client), 200);
    free(session);
    buffering = http_header(&client, "X-Accel-Buffering");
    assert_string_equal(buffering, "no");
    free(buffering);
    assert_true(http_event(&client, &pending, &event));
    assert_string_equal(text_string(&event), ""); /* the priming event, which has no data */
    for (int i = 0; i < 3; i++) {
        assert_true(http_event(&client, &pending, &event));
        assert_string_equal(text_string(&event), ":");
    }
    http_close(&client);
}

#define SLOW(steps, step_ms, meta)                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"slow\","       \
    "\"arguments\":{\"steps\":" steps ",\"step_ms\":" step_ms "},\"_meta\":{" meta "}}}"

static void a_call_over_the_queue_limit_is_refused_with_retry_after(void **state)
{
    struct http_client running, queued, refused;
    TEXT_AUTO reply = { 0 };
    char *retry;

    (void)state;
    http_open(&running, port());
    http_open(&queued, port());
    http_open(&refused, port());
    http_send(&running, "POST", "/mcp", MCP_HEADERS, SLOW("50", "10", ""));
    assert_true(served_reaches(&served_running, 1));
    http_send(&queued, "POST", "/mcp", MCP_HEADERS, SLOW("1", "1", ""));
    assert_int_equal(http_read_head(&queued), 200);
    assert_int_equal(
        http_exchange(&refused, "POST", "/mcp", MCP_HEADERS, SLOW("1", "1", ""), &reply), 200);
    assert_non_null(strstr(text_string(&reply), "\"isError\":true"));
    assert_non_null(strstr(text_string(&reply), "\"opsbrain/errorKind\":\"busy\""));
    retry = http_header(&refused, "Retry-After");
    assert_string_equal(retry, "2");
    assert_true(served_reaches(&served_done, 2));
    free(retry);
    http_close(&running);
    http_close(&queued);
    http_close(&refused);
}

static void a_client_that_does_not_read_does_not_delay_the_tool_and_is_disconnected(void **state)
{
    struct http_client client;
    int small = 4096;

    (void)state;
    http_open(&client, port());
    setsockopt(client.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    http_send(&client, "POST", "/mcp", MCP_HEADERS, SLOW("20000", "0", "\"progressToken\":1"));
    assert_true(served_reaches(&served_done, 1));
    for (int i = 0; i < 800 && atomic_load(&served.server->http->open_streams) > 0; i++)
        served_sleep_ms(10);
    assert_int_equal(atomic_load(&served.server->http->open_streams), 0);
    http_close(&client);
}

static void a_result_after_a_burst_of_progress_is_not_lost(void **state)
{
    struct http_client client;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };
    bool result = false;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS, SLOW("5000", "0", "\"progressToken\":1"));
    assert_int_equal(http_read_head(&client), 200);
    while (http_event(&client, &pending, &event))
        result |= strstr(text_string(&event), "\"steps\":5000") != NULL;
    assert_true(client.ended);
    assert_true(result);
    http_close(&client);
}

static void malformed_requests_get_an_error_or_a_closed_connection(void **state)
{
    static const char *const requests[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: zzz\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    };

    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct http_client client;
        int status;

        http_open(&client, port());
        http_send_bytes(&client, requests[i], strlen(requests[i]));
        shutdown(client.fd, SHUT_WR);
        status = http_read_head(&client);
        assert_true(status == 0 || (status >= 400 && status < 500) || status == 505);
        http_close(&client);
    }
    assert_int_equal(http_request(port(), "GET", "/health", NULL, NULL, NULL), 200);
}

/* An access token with many claims takes thousands of bytes. */
static void headers_of_up_to_8000_bytes_are_accepted_and_those_over_16000_are_refused(void **state)
{
    char filler[20000];

    (void)state;
    for (size_t length = 100; length < sizeof filler; length += 100) {
        TEXT_AUTO headers = { 0 };
        int status;

        memset(filler, 'x', length);
        filler[length] = '\0';
        text_addf(&headers, MCP_HEADERS "X-Filler: %s\r\n", filler);
        status = http_request(port(), "POST", "/mcp", headers.data,
                              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", NULL);
        if (length <= 8000)
            assert_int_equal(status, 200);
        else if (length > 16000)
            assert_true(status == 431 || status == 413 || status == 0);
    }
}

static void a_connection_over_the_limit_is_served_once_others_close(void **state)
{
    enum { COUNT = 70 }; /* more than --connections=60 */
    struct http_client clients[COUNT];

    (void)state;
    for (int i = 0; i < COUNT; i++)
        http_open(&clients[i], port());
    http_send(&clients[COUNT - 1], "GET", "/health", NULL, NULL);
    served_sleep_ms(50);
    for (int i = 0; i < COUNT - 1; i++)
        http_close(&clients[i]);
    assert_int_equal(http_read_head(&clients[COUNT - 1]), 200);
    http_close(&clients[COUNT - 1]);
}

static void clients_that_disconnect_without_reading_leave_no_request_or_stream_behind(void **state)
{
    int64_t end_ns;

    (void)state;
    for (int i = 0; i < 60; i++) {
        struct http_client client;

        http_open(&client, port());
        http_send(&client, "POST", "/mcp", MCP_HEADERS,
                  i % 2 ? SLOW("2", "1", "\"progressToken\":1") : PING);
        if (i % 3 == 0)
            served_sleep_ms(1);
        http_close(&client);
    }
    end_ns = clock_monotonic_ns() + INT64_C(5000000000);
    while (atomic_load(&served.server->http->in_flight)
                   + atomic_load(&served.server->http->open_streams)
               > 0
           && clock_monotonic_ns() < end_ns)
        served_sleep_ms(5);
    assert_int_equal(atomic_load(&served.server->http->in_flight), 0);
    assert_int_equal(atomic_load(&served.server->http->open_streams), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_connection_serves_many_requests, start, stop),
        cmocka_unit_test_setup_teardown(pipelined_requests_are_answered_in_order, start, stop),
        cmocka_unit_test_setup_teardown(a_body_can_arrive_in_small_pieces, start, stop),
        cmocka_unit_test_setup_teardown(a_body_over_the_limit_is_read_to_its_end_and_refused, start,
                                        stop),
        cmocka_unit_test_setup_teardown(during_an_endless_body_the_connection_is_closed, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_client_that_expects_100_continue_gets_it_or_a_refusal,
                                        start, stop),
        cmocka_unit_test_setup_teardown(a_length_far_over_the_limit_is_refused_at_once, start,
                                        stop),
        cmocka_unit_test_setup_teardown(headers_sent_byte_by_byte_time_out, start, stop),
        cmocka_unit_test_setup_teardown(a_body_has_to_arrive_in_time, start, stop),
        cmocka_unit_test_setup_teardown(idle_streams_are_kept_alive_with_comments, start, stop),
        cmocka_unit_test_setup_teardown(a_call_over_the_queue_limit_is_refused_with_retry_after,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            a_client_that_does_not_read_does_not_delay_the_tool_and_is_disconnected, start, stop),
        cmocka_unit_test_setup_teardown(a_result_after_a_burst_of_progress_is_not_lost, start,
                                        stop),
        cmocka_unit_test_setup_teardown(malformed_requests_get_an_error_or_a_closed_connection,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            headers_of_up_to_8000_bytes_are_accepted_and_those_over_16000_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(a_connection_over_the_limit_is_served_once_others_close,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            clients_that_disconnect_without_reading_leave_no_request_or_stream_behind, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
