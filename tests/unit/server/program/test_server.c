/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/http_server.h"
#include "tests/unit/support/holding.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--http-threads=3", NULL);
    atomic_store(&served_cancelled, 0);
    atomic_store(&served_done, 0);
    return 0;
}

static const struct tool *const holding_tools[] = { &holding_tool, NULL };

/* Starts a server with one worker, which a test can keep busy. */
static int start_narrow(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = holding_tools;
    served_start(&served, "--workers=1", NULL);
    atomic_store(&holding_may_answer, false);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

#define SLOW(steps, step_ms)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"slow\","       \
    "\"arguments\":{\"steps\":" steps ",\"step_ms\":" step_ms "}}}"

static void stopping_lets_a_short_request_finish(void **state)
{
    struct http_client client;
    TEXT_AUTO reply = { 0 };

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS, SLOW("20", "10"));
    assert_true(served_reaches(&served_running, 1));
    server_stop(served.server, 3000);
    assert_int_equal(http_read_head(&client), 200);
    while (http_read_part(&client, &reply))
        continue;
    assert_true(client.ended);
    assert_non_null(strstr(text_string(&reply), "\"steps\":20"));
    http_close(&client);
}

static void stopping_cancels_calls_that_take_too_long(void **state)
{
    struct http_client client;
    TEXT_AUTO reply = { 0 };
    int64_t begun_ns;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS, SLOW("10000", "10"));
    assert_true(served_reaches(&served_running, 1));
    begun_ns = clock_monotonic_ns();
    server_stop(served.server, 300);
    assert_true(clock_monotonic_ns() - begun_ns < INT64_C(2500000000));
    assert_int_equal(atomic_load(&served_cancelled), 1);
    assert_int_equal(http_read_head(&client), 200);
    while (http_read_part(&client, &reply))
        continue;
    assert_true(client.ended);
    assert_non_null(strstr(text_string(&reply), "\"isError\":true"));
    http_close(&client);
}

static void stopping_ends_long_lived_streams_cleanly_and_closes_the_port(void **state)
{
    char *session = mcp_initialize(port(), NULL);
    TEXT_AUTO headers = { 0 };
    struct http_client client;
    TEXT_AUTO body = { 0 };
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port()),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    text_addf(&headers, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\n", session);
    http_open(&client, port());
    http_send(&client, "GET", "/mcp", text_string(&headers), NULL);
    assert_int_equal(http_read_head(&client), 200);
    assert_true(http_read_part(&client, &body));
    server_stop(served.server, 3000);
    while (http_read_part(&client, &body))
        continue;
    assert_true(client.ended);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), -1);
    close(fd);
    http_close(&client);
    free(session);
}

/* Waits until connections to the port are refused. Returns false if they are still accepted after
 * five seconds. */
static bool is_closed_within_five_seconds(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port()),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int64_t end_ns = clock_monotonic_ns() + INT64_C(5000000000);
    bool closed = false;

    while (!closed && clock_monotonic_ns() < end_ns) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        closed = connect(fd, (struct sockaddr *)&address, sizeof address) != 0;
        close(fd);
        served_sleep_ms(2);
    }
    return closed;
}

static void drain(void)
{
    http_server_drain(served.server->http);
    assert_true(is_closed_within_five_seconds());
}

#define LISTEN                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"subscriptions/listen\"," MODERN_PARAMS(        \
        "\"notifications\":{\"toolsListChanged\":true},") "}"

static void must_end_with_closing_message(struct http_client *client)
{
    TEXT_AUTO body = { 0 };

    assert_int_equal(http_read_head(client), 200);
    while (http_read_part(client, &body))
        continue;
    assert_true(client->ended);
    assert_non_null(strstr(text_string(&body), "subscriptions/acknowledged"));
    assert_non_null(strstr(text_string(&body), "\"id\":\"l\",\"result\":{"));
}

static void a_stream_that_begins_while_the_server_stops_is_ended_too(void **state)
{
    struct http_client holder, listener, reader;
    char *session = mcp_initialize(port(), NULL);
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO body = { 0 };

    (void)state;
    text_addf(&headers, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\n", session);
    text_add(&headers, "Last-Event-ID: " SESSION_STREAM_ID "_0\r\n");
    http_open(&holder, port()); /* keeps the only worker busy */
    http_open(&listener, port());
    http_open(&reader, port());
    http_send(&holder, "POST", "/mcp", MCP_HEADERS, HOLDING_CALL);
    assert_true(served_reaches(&served_running, 1));
    http_send(&listener, "POST", "/mcp", MODERN_HEADERS("subscriptions/listen"), LISTEN);
    http_send(&reader, "GET", "/mcp", text_string(&headers), NULL);
    assert_true(holding_queue_reaches(&served, 2));
    drain();
    atomic_store(&holding_may_answer, true);
    must_end_with_closing_message(&listener);
    assert_int_equal(http_read_head(&reader), 200);
    while (http_read_part(&reader, &body))
        continue;
    assert_true(reader.ended);
    assert_true(served_falls(&served.server->http->open_streams, 0));
    assert_true(served_falls(&served.server->http->in_flight, 0));
    http_close(&holder);
    http_close(&listener);
    http_close(&reader);
    free(session);
}

static void subscriptions_listen_is_refused_while_the_server_stops(void **state)
{
    struct http_client client;
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    http_open(&client, port());
    assert_int_equal(http_exchange(&client, "GET", "/health", NULL, NULL, NULL), 200);
    drain();
    reply = mcp_post_on(&client, MODERN_HEADERS("subscriptions/listen"), LISTEN, &status);
    assert_int_equal(status, 503);
    assert_non_null(strstr(text_at(reply, "error.message"), "the server is stopping"));
    http_close(&client);
}

static void starting_on_a_port_that_is_in_use_fails_with_an_error_message(void **state)
{
    struct served other;
    struct error error;

    (void)state;
    served_create(&other);
    other.settings = served.settings;
    snprintf(other.settings.listen, sizeof other.settings.listen, "127.0.0.1:%u", port());
    assert_false(served_try(&other, &error));
    assert_non_null(strstr(error.message, "is in use by another process"));
    served_destroy(&other);
}

static void three_threads_serve_48_clients_at_once(void **state)
{
    enum { CLIENTS = 48, ROUNDS = 10 };
    struct http_client clients[CLIENTS];
    TEXT_AUTO reply = { 0 };

    (void)state;
    for (int i = 0; i < CLIENTS; i++)
        http_open(&clients[i], port());
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CLIENTS; i++)
            http_send(&clients[i], "POST", "/mcp", MCP_HEADERS,
                      i % 4 == 0 ? SLOW("1", "1")
                                 : "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
        for (int i = 0; i < CLIENTS; i++) {
            text_clear(&reply);
            assert_int_equal(http_read_head(&clients[i]), 200);
            while (http_read_part(&clients[i], &reply))
                continue;
            assert_non_null(strstr(text_string(&reply), "\"result\""));
        }
    }
    for (int i = 0; i < CLIENTS; i++)
        http_close(&clients[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stopping_lets_a_short_request_finish, start, stop),
        cmocka_unit_test_setup_teardown(stopping_cancels_calls_that_take_too_long, start, stop),
        cmocka_unit_test_setup_teardown(
            stopping_ends_long_lived_streams_cleanly_and_closes_the_port, start, stop),
        cmocka_unit_test_setup_teardown(a_stream_that_begins_while_the_server_stops_is_ended_too,
                                        start_narrow, stop),
        cmocka_unit_test_setup_teardown(subscriptions_listen_is_refused_while_the_server_stops,
                                        start_narrow, stop),
        cmocka_unit_test_setup_teardown(
            starting_on_a_port_that_is_in_use_fails_with_an_error_message, start, stop),
        cmocka_unit_test_setup_teardown(three_threads_serve_48_clients_at_once, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
