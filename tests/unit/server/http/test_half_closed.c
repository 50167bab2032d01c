/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of clients that close the sending side of their connection but might still be waiting for
 * an answer. To the server, a client that disconnected without a reset looks the same until the
 * server writes. "Modern" requests use protocol version 2026-07-28, and "legacy" ones an earlier
 * version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/streams/notifier.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define SECOND_NS INT64_C(1000000000)
#define CALL(tool, steps, step_ms)                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","                                     \
    "\"params\":{\"name\":\"" tool "\",\"arguments\":{\"steps\":" steps ",\"step_ms\":" step_ms    \
    "}}}"
#define MODERN_CALL(tool, steps, step_ms)                                                          \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," MODERN_PARAMS(                      \
        "\"name\":\"" tool "\",\"arguments\":{\"steps\":" steps ",\"step_ms\":" step_ms "},") "}"

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served_start(&served, "--keep-alive=60s", NULL);
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

/* Sends a request and closes the sending side of the connection. */
static void send_and_half_close(struct http_client *client, const char *headers, const char *body)
{
    http_open(client, port());
    http_send(client, "POST", "/mcp", headers, body);
    shutdown(client->fd, SHUT_WR);
}

/* The client must receive a complete answer that contains `part`. */
static void must_receive(struct http_client *client, const char *part)
{
    TEXT_AUTO body = { 0 };

    assert_int_equal(http_read_head(client), 200);
    while (http_read_part(client, &body))
        continue;
    if (strstr(text_string(&body), part) == NULL)
        fail_msg("\"%s\" is missing from \"%s\"", part, text_string(&body));
}

static void a_client_that_closed_its_sending_side_is_answered(void **state)
{
    static const char *const bodies[] = { PING, CALL("block", "3", "100"),
                                          CALL("block", "100", "20") };
    static const char *const parts[] = { "result", "3 steps", "100 steps" };

    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct http_client client;

        send_and_half_close(&client, MCP_HEADERS, bodies[i]);
        must_receive(&client, parts[i]);
        assert_true(http_is_closed(&client));
        http_close(&client);
    }
}

static void every_request_sent_before_the_sending_side_closed_is_answered(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    for (int i = 0; i < 3; i++)
        http_send(&client, "POST", "/mcp", MCP_HEADERS, CALL("block", "1", "50"));
    http_send(&client, "POST", "/mcp", MCP_HEADERS, PING);
    shutdown(client.fd, SHUT_WR);
    for (int i = 0; i < 3; i++)
        must_receive(&client, "1 steps");
    must_receive(&client, "result");
    assert_true(http_is_closed(&client));
    http_close(&client);
}

static void an_http_1_0_client_that_closed_its_sending_side_is_answered(void **state)
{
    struct http_client client;
    TEXT_AUTO request = { 0 };

    (void)state;
    text_addf(&request, "POST /mcp HTTP/1.0\r\n" MCP_HEADERS "Content-Length: %zu\r\n\r\n%s",
              strlen(CALL("block", "3", "50")), CALL("block", "3", "50"));
    http_open(&client, port());
    http_send_bytes(&client, request.data, request.length);
    shutdown(client.fd, SHUT_WR);
    assert_true(http_is_closed(&client));
    assert_non_null(strstr(text_string(&client.received), "3 steps"));
    http_close(&client);
}

/* The server probes the client with a comment, and the call goes on after that. */
static void after_a_probe_a_stream_continues_until_its_result(void **state)
{
    static const char *const headers[] = { MCP_HEADERS,
                                           MODERN_HEADERS("tools/call") "Mcp-Name: slow\r\n" };
    static const char *const bodies[] = { CALL("slow", "125", "20"),
                                          MODERN_CALL("slow", "125", "20") };

    (void)state;
    for (int i = 0; i < 2; i++) {
        int64_t begun_ns = clock_monotonic_ns();
        struct http_client client;
        TEXT_AUTO pending = { 0 };
        TEXT_AUTO event = { 0 };

        send_and_half_close(&client, headers[i], bodies[i]);
        assert_int_equal(http_read_head(&client), 200);
        assert_true(http_event(&client, &pending, &event));
        assert_string_equal(text_string(&event), ":");
        assert_true(clock_monotonic_ns() - begun_ns < 2 * SECOND_NS);
        assert_true(http_message(&client, &pending, &event));
        assert_non_null(strstr(text_string(&event), "125 steps"));
        http_close(&client);
    }
    assert_int_equal(atomic_load(&served_cancelled), 0);
}

/* Disconnects in both directions. Until the server writes, it cannot tell such a client from one
 * that closed only its sending side. */
static void leave(struct http_client *client)
{
    shutdown(client->fd, SHUT_RDWR);
    http_close(client);
}

static void disconnecting_from_a_modern_stream_cancels_its_call(void **state)
{
    struct http_client client;
    int64_t begun_ns = clock_monotonic_ns();

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MODERN_HEADERS("tools/call") "Mcp-Name: slow\r\n",
              MODERN_CALL("slow", "1000", "20"));
    assert_true(served_reaches(&served_running, 1));
    leave(&client);
    assert_true(served_reaches(&served_cancelled, 1));
    assert_true(clock_monotonic_ns() - begun_ns < 3 * SECOND_NS);
}

static void disconnecting_from_a_legacy_stream_does_not_cancel_its_call(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS, CALL("slow", "100", "20"));
    assert_true(served_reaches(&served_running, 1));
    leave(&client);
    assert_true(served_reaches(&served_done, 1));
    assert_int_equal(atomic_load(&served_cancelled), 0);
}

static void a_reset_cancels_the_call_at_once(void **state)
{
    struct linger reset = { .l_onoff = 1 };
    struct http_client client;
    int64_t begun_ns;

    (void)state;
    http_open(&client, port());
    setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    http_send(&client, "POST", "/mcp", MODERN_HEADERS("tools/call") "Mcp-Name: block\r\n",
              MODERN_CALL("block", "1000", "20"));
    assert_true(served_reaches(&served_running, 1));
    begun_ns = clock_monotonic_ns();
    http_close(&client);
    assert_true(served_reaches(&served_cancelled, 1));
    assert_true(clock_monotonic_ns() - begun_ns < SECOND_NS);
}

static void a_long_lived_stream_stays_open_for_a_client_that_still_reads(void **state)
{
    char *session = mcp_initialize(port(), NULL);
    struct http_client client;
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };

    (void)state;
    text_addf(&headers, "Accept: text/event-stream\r\nMcp-Session-Id: %s\r\n", session);
    http_open(&client, port());
    http_send(&client, "GET", "/mcp", text_string(&headers), NULL);
    assert_int_equal(http_read_head(&client), 200);
    assert_true(http_event(&client, &pending, &event));
    shutdown(client.fd, SHUT_WR);
    assert_true(http_event(&client, &pending, &event));
    assert_string_equal(text_string(&event), ":");
    served_sleep_ms(300);
    assert_int_equal(atomic_load(&served.server->http->open_streams), 1);
    http_close(&client);
    free(session);
}

/* Waits until at most `count` connections are open. Returns false after five seconds. */
static bool connections_fall_to(int64_t count)
{
    int64_t end_ns = clock_monotonic_ns() + 5 * SECOND_NS;

    while (atomic_load(&served.server->http->open_connections) > count
           && clock_monotonic_ns() < end_ns)
        served_sleep_ms(5);
    return atomic_load(&served.server->http->open_connections) <= count;
}

/* By itself, libmicrohttpd would keep the connection open after the client has left, for as long as
 * an older connection is idle. */
static void the_connection_of_a_client_that_left_is_closed(void **state)
{
    struct http_client idle, clients[8];

    (void)state;
    http_open(&idle, port());
    assert_int_equal(http_exchange(&idle, "GET", "/health", NULL, NULL, NULL), 200);
    for (int i = 0; i < 8; i++) {
        http_open(&clients[i], port());
        http_send(
            &clients[i], "POST", "/mcp", MODERN_HEADERS("subscriptions/listen"),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\"," MODERN_PARAMS(
                "\"notifications\":{\"toolsListChanged\":true},") "}");
        assert_int_equal(http_read_head(&clients[i]), 200);
        shutdown(clients[i].fd, SHUT_WR);
    }
    for (int i = 0; i < 8; i++) {
        TEXT_AUTO pending = { 0 };
        TEXT_AUTO event = { 0 };

        assert_true(http_event(&clients[i], &pending, &event));
        assert_true(
            http_event(&clients[i], &pending, &event)); /* the comment that probes the client */
        leave(&clients[i]);
    }
    notifier_list_changed(served.server->notifier, NOTIFIER_TOOLS);
    assert_true(connections_fall_to(1));
    http_close(&idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_client_that_closed_its_sending_side_is_answered, start,
                                        stop),
        cmocka_unit_test_setup_teardown(
            every_request_sent_before_the_sending_side_closed_is_answered, start, stop),
        cmocka_unit_test_setup_teardown(an_http_1_0_client_that_closed_its_sending_side_is_answered,
                                        start, stop),
        cmocka_unit_test_setup_teardown(after_a_probe_a_stream_continues_until_its_result, start,
                                        stop),
        cmocka_unit_test_setup_teardown(disconnecting_from_a_modern_stream_cancels_its_call, start,
                                        stop),
        cmocka_unit_test_setup_teardown(disconnecting_from_a_legacy_stream_does_not_cancel_its_call,
                                        start, stop),
        cmocka_unit_test_setup_teardown(the_connection_of_a_client_that_left_is_closed, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_reset_cancels_the_call_at_once, start, stop),
        cmocka_unit_test_setup_teardown(
            a_long_lived_stream_stays_open_for_a_client_that_still_reads, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
