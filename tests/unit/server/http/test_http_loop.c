/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define GET_HEALTH "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--header-timeout=1s", "--send-timeout=1s", NULL);
    return 0;
}

/* Starts a server whose timeouts are too long to end a connection during a test. */
static int start_patient(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

static void send_text(struct http_client *client, const char *text)
{
    http_send_bytes(client, text, strlen(text));
}

/* Sends a byte every 50 ms. Returns whether the server closes the connection within 5 s. */
static bool is_closed_while_bytes_trickle(struct http_client *client)
{
    for (int i = 0; i < 100; i++) {
        char byte;

        if (recv(client->fd, &byte, 1, MSG_DONTWAIT) == 0)
            return true;
        if (send(client->fd, "x", 1, MSG_NOSIGNAL) < 0)
            return true;
        served_sleep_ms(50);
    }
    return false;
}

static void a_kept_alive_connection_can_be_idle_longer_than_the_header_timeout(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    for (int i = 0; i < 2; i++) {
        assert_int_equal(http_exchange(&client, "GET", "/health", NULL, NULL, NULL), 200);
        served_sleep_ms(1500);
    }
    assert_int_equal(http_exchange(&client, "GET", "/health", NULL, NULL, NULL), 200);
    http_close(&client);
}

static void headers_of_a_later_request_must_also_arrive_in_time(void **state)
{
    static const char *const beginnings[] = { "G", "GET /health HTTP/1.1\r\nHost: localhost\r\nX: ",
                                              "\r\n" };

    (void)state;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        struct http_client client;
        int64_t begun_ns;

        http_open(&client, port());
        assert_int_equal(http_exchange(&client, "GET", "/health", NULL, NULL, NULL), 200);
        begun_ns = clock_monotonic_ns();
        send_text(&client, beginnings[i]);
        assert_true(is_closed_while_bytes_trickle(&client));
        assert_true(clock_monotonic_ns() - begun_ns > INT64_C(900000000));
        http_close(&client);
    }
}

static void unfinished_headers_after_a_complete_request_time_out(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    send_text(&client, GET_HEALTH "GET /health HTTP/1.1\r\nHost: loc");
    assert_int_equal(http_read_head(&client), 200);
    assert_true(http_is_closed(&client));
    http_close(&client);
}

static void unfinished_headers_sent_during_a_call_time_out(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
              "\"block\",\"arguments\":{\"steps\":1,\"step_ms\":200}}}");
    assert_true(served_reaches(&served_running, 1));
    send_text(&client, "GE");
    assert_int_equal(http_read_head(&client), 200);
    assert_true(http_is_closed(&client));
    http_close(&client);
}

/* The client leaves after the first event of its stream but before the stream waits for its next
 * event. The answer to a request from `probe`, on the same HTTP thread, shows that the first event
 * has been sent. */
static void a_client_that_leaves_before_its_stream_waits_is_noticed_soon(void **state)
{
    char *session = mcp_initialize(port(), NULL);
    int64_t begun_ns = clock_monotonic_ns();
    struct http_client probe;
    TEXT_AUTO headers = { 0 };

    (void)state;
    text_addf(&headers, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\n\r\n", session);
    http_open(&probe, port());
    for (int i = 0; i < 40; i++) {
        struct http_client client;

        http_open(&client, port());
        send_text(&client, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n");
        assert_int_equal(http_exchange(&probe, "GET", "/health", NULL, NULL, NULL), 200);
        send_text(&client, text_string(&headers));
        assert_int_equal(http_exchange(&probe, "GET", "/health", NULL, NULL, NULL), 200);
        shutdown(client.fd, SHUT_RDWR);
        http_close(&client);
    }
    /* sooner than the first keep-alive comment, which is sent after 15 s */
    assert_true(served_falls(&served.server->http->open_streams, 0));
    assert_true(clock_monotonic_ns() - begun_ns < INT64_C(10000000000));
    http_close(&probe);
    free(session);
}

/* The client's last bytes arrive together with its FIN. */
static void a_client_that_has_finished_sending_gets_its_answers_and_is_disconnected(void **state)
{
    static const char *const requests[] = { GET_HEALTH, GET_HEALTH "GET /hea",
                                            "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" MCP_HEADERS
                                            "Content-Length: 50\r\n\r\n{" };

    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        int64_t begun_ns = clock_monotonic_ns();
        struct http_client client;

        http_open(&client, port());
        send(client.fd, requests[i], strlen(requests[i]), MSG_MORE);
        shutdown(client.fd, SHUT_WR);
        assert_int_equal(http_read_head(&client), i < 2 ? 200 : 0);
        /* soon, although an idle connection can last 75 s and a body can take 30 s */
        assert_true(http_is_closed(&client));
        assert_true(clock_monotonic_ns() - begun_ns < INT64_C(10000000000));
        http_close(&client);
    }
}

static void a_client_that_does_not_read_its_answers_is_disconnected(void **state)
{
    TEXT_AUTO call = { 0 };
    struct http_client client;
    int small = 4096, sent = 0;

    (void)state;
    text_add(&call, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                    "\"echo\",\"arguments\":{\"text\":\"");
    for (int i = 0; i < 90000; i++)
        text_add_char(&call, 'x');
    text_add(&call, "\"}}}");
    http_open(&client, port());
    setsockopt(client.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    setsockopt(client.fd, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){ .tv_sec = 10 },
               sizeof(struct timeval));
    /* sends calls until the server disconnects */
    for (int64_t end_ns = clock_monotonic_ns() + INT64_C(10000000000);
         clock_monotonic_ns() < end_ns; sent++) {
        TEXT_AUTO head = { 0 };

        text_addf(&head,
                  "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" MCP_HEADERS
                  "Content-Length: %zu\r\n\r\n",
                  call.length);
        if (send(client.fd, head.data, head.length, MSG_NOSIGNAL) < 0
            || send(client.fd, call.data, call.length, MSG_NOSIGNAL) < 0)
            break;
    }
    assert_true(errno == EPIPE || errno == ECONNRESET);
    assert_true(sent > 0);
    http_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_kept_alive_connection_can_be_idle_longer_than_the_header_timeout, start, stop),
        cmocka_unit_test_setup_teardown(headers_of_a_later_request_must_also_arrive_in_time, start,
                                        stop),
        cmocka_unit_test_setup_teardown(unfinished_headers_after_a_complete_request_time_out, start,
                                        stop),
        cmocka_unit_test_setup_teardown(unfinished_headers_sent_during_a_call_time_out, start,
                                        stop),
        cmocka_unit_test_setup_teardown(
            a_client_that_leaves_before_its_stream_waits_is_noticed_soon, start_patient, stop),
        cmocka_unit_test_setup_teardown(
            a_client_that_has_finished_sending_gets_its_answers_and_is_disconnected, start_patient,
            stop),
        cmocka_unit_test_setup_teardown(a_client_that_does_not_read_its_answers_is_disconnected,
                                        start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
