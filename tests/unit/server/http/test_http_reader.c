/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of http_reader.c in a real server. A request that two HTTP parsers could read differently
 * is refused, the connection ends, and nothing that follows is read as a request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define HEALTH "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define POST "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" MCP_HEADERS

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start(void **state)
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

/* How a request is sent: alone, either in one piece or byte by byte; or right after another request
 * on the same connection. */
enum delivery { AT_ONCE, BYTE_BY_BYTE, AFTER_A_PROBE, AFTER_A_CALL, DELIVERIES };

#define WORK                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"block\","      \
    "\"arguments\":{\"steps\":1,\"step_ms\":1}}}"

static void send_in_pieces(struct http_client *client, const struct text *bytes, size_t piece)
{
    for (size_t at = 0; at < bytes->length; at += piece)
        http_send_bytes(client, bytes->data + at,
                        bytes->length - at < piece ? bytes->length - at : piece);
}

static void send_request(struct http_client *client, const struct text *request,
                         enum delivery delivery)
{
    TEXT_AUTO bytes = { 0 };

    if (delivery == AFTER_A_PROBE)
        text_add(&bytes, HEALTH);
    if (delivery == AFTER_A_CALL)
        text_addf(&bytes, POST "Content-Length: %zu\r\n\r\n%s", strlen(WORK), WORK);
    text_add_bytes(&bytes, request->data, request->length);
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    send_in_pieces(client, &bytes, delivery == BYTE_BY_BYTE ? 1 : bytes.length);
}

/* Reads until the server closes the connection, and fails if it does not. Writes the statuses of
 * all answers, such as "200 400 ". */
static void read_statuses(struct http_client *client, struct text *out)
{
    const char *at;

    text_clear(out);
    assert_true(http_is_closed(client));
    for (at = text_string(&client->received); (at = strstr(at, "HTTP/1.1 ")) != NULL; at += 9)
        if (at[9] >= '0' && at[9] <= '9')
            text_addf(out, "%.3s ", at + 9);
}

/* Checks that the request is answered with this status however it is sent, and that nothing after
 * it is answered. */
static void must_be_refused(const struct text *request, const char *status)
{
    static const char *const before[DELIVERIES] = { "", "", "200 ", "200 " };

    for (enum delivery delivery = 0; delivery < DELIVERIES; delivery++) {
        struct http_client client;
        TEXT_AUTO statuses = { 0 };
        TEXT_AUTO wanted = { 0 };

        text_addf(&wanted, "%s%s ", before[delivery], status);
        http_open(&client, port());
        send_request(&client, request, delivery);
        read_statuses(&client, &statuses);
        if (strcmp(text_string(&statuses), text_string(&wanted)) != 0)
            fail_msg("delivery %d: got %s, expected %s:\n%s", delivery, text_string(&statuses),
                     text_string(&wanted), text_string(request));
        http_close(&client);
    }
}

/* The same for a request given as a string, which is sent with another request after it. */
static void must_be_refused_text(const char *request, const char *status)
{
    TEXT_AUTO bytes = { 0 };

    text_add(&bytes, request);
    text_add(&bytes, HEALTH);
    must_be_refused(&bytes, status);
}

static void requests_that_parsers_could_read_differently_are_refused(void **state)
{
    static const char *const requests[] = {
        POST "Content-Length : 44\r\n\r\n" HEALTH,
        POST "Content-Length\t: 44\r\n\r\n" HEALTH,
        POST "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        POST "Content-Length: 44\r\n Content-Length: 0\r\n\r\n" HEALTH,
        POST " Content-Length: 44\r\n\r\n" HEALTH,
        POST "Content-Length: 2\r\nContent-Length: 44\r\n\r\n{}",
        POST "Content-Length: 2, 44\r\n\r\n{}",
        POST "Content-Length: +2\r\n\r\n{}",
        POST "Content-Length: 0x2\r\n\r\n{}",
        POST "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST "Transfer-Encoding: identity, chunked, identity\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST "Transfer-Encoding:\x0b"
             "chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST "Transfer-Encoding: chunked\r\n\r\n2;\n{}\r\n0\r\n\r\n",
        POST "Transfer-Encoding: chunked\r\n\r\n02\r\n{}}\r\n0\r\n\r\n",
        POST "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nContent-Length: 44\r\n\r\n",
        "POST /mcp HTTP/1.0\r\nHost: localhost\r\n" MCP_HEADERS
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        POST "X: a\rContent-Length: 44\r\n\r\n" HEALTH,
        POST "X: a\nContent-Length: 44\r\n\r\n" HEALTH,
        POST "X y: a\r\n\r\n",
        POST ": a\r\n\r\n",
        POST "X\r\n\r\n",
        "POST /mcp  HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /mcp\tHTTP/1.1\r\nHost: localhost\r\n\r\n",
        "POST /mcp HTTP/1.1 \r\nHost: localhost\r\n\r\n",
        "POST /mcp HTTP/1.1\r Host: localhost\r\n\r\n",
        "POST /mcp\r\nHost: localhost\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        must_be_refused_text(requests[i], "400");
    /* a transfer coding and an HTTP version that the server does not support */
    must_be_refused_text(POST "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                         "501");
    must_be_refused_text("GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n", "505");
}

/* Tests some control characters at some places in the request line and the headers.
 * test_request_guard.c tests all control characters except the tab, at every place. */
static void control_characters_are_refused(void **state)
{
    static const char request[] =
        "GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: bc\r\n\r\n" HEALTH;
    static const char controls[] = { 0, 1, '\b', '\n', '\v', '\f', '\r', 27, 31, 127 };
    static const size_t places[] = { 1,  3,  4,  8,  11, 12, 16, 20, 22, 24, 26,
                                     27, 28, 32, 37, 40, 42, 43, 44, 46, 48 };

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (size_t j = 0; j < sizeof controls; j++) {
            TEXT_AUTO bytes = { 0 };

            text_add_bytes(&bytes, request, places[i]);
            text_add_char(&bytes, controls[j]);
            text_add_bytes(&bytes, request + places[i], sizeof request - 1 - places[i]);
            must_be_refused(&bytes, "400");
        }
}

static void a_refusal_by_the_request_guard_is_a_json_rpc_error(void **state)
{
    struct http_client client;
    TEXT_AUTO body = { 0 };
    json_auto_t *json = NULL;
    struct error error;

    (void)state;
    http_open(&client, port());
    assert_int_equal(
        http_exchange(&client, "POST", "/mcp", MCP_HEADERS "Content-Length : 2\r\n", NULL, &body),
        400);
    assert_true(json_parse(text_string(&body), body.length, &json, &error));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(json, "error"), "code")),
                     -32000);
    assert_true(http_is_closed(&client));
    http_close(&client);
}

/* The server sends the refusal long before the client begins to read, and must not reset the
 * connection. */
static void a_client_that_sends_8_mib_after_a_faulty_header_can_read_the_refusal(void **state)
{
    static char bytes[1 << 20];
    struct http_client client;

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS "Content-Length : 8388608\r\n", NULL);
    for (int i = 0; i < 8; i++)
        http_send_bytes(&client, bytes, sizeof bytes);
    assert_int_equal(http_read_head(&client), 400);
    while (http_read_part(&client, &client.head))
        continue;
    assert_int_equal(recv(client.fd, bytes, 1, 0), 0);
    http_close(&client);
}

/* The client sends all 10 MB of the body, in chunks, before it reads the answer. */
static void the_refusal_of_a_body_far_over_the_limit_can_be_read(void **state)
{
    static char chunk[8 + 10000 + 2] = "2710\r\n";
    struct http_client client;
    TEXT_AUTO body = { 0 };

    (void)state;
    memset(chunk + 6, 'x', 10000);
    memcpy(chunk + 6 + 10000, "\r\n", 2);
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MCP_HEADERS "Transfer-Encoding: chunked\r\n", NULL);
    for (int i = 0; i < 1000; i++)
        http_send_bytes(&client, chunk, 6 + 10000 + 2);
    http_send_bytes(&client, "0\r\n\r\n", 5);
    assert_int_equal(http_read_head(&client), 413);
    while (http_read_part(&client, &body))
        continue;
    assert_non_null(strstr(text_string(&body), "1048576 bytes"));
    assert_int_equal(recv(client.fd, chunk, 1, 0), 0);
    http_close(&client);
}

static void a_client_that_keeps_sending_after_a_refusal_is_disconnected(void **state)
{
    int64_t begun_ns = clock_monotonic_ns();
    struct http_client client;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", "X : a\r\n", NULL);
    while (send(client.fd, "x", 1, MSG_NOSIGNAL) == 1
           && clock_monotonic_ns() - begun_ns < INT64_C(5000000000))
        served_sleep_ms(10);
    assert_true(clock_monotonic_ns() - begun_ns < INT64_C(4000000000));
    http_close(&client);
}

static void bytes_after_a_request_with_connection_close_are_not_examined(void **state)
{
    struct http_client client;
    TEXT_AUTO statuses = { 0 };

    (void)state;
    http_open(&client, port());
    http_send(&client, "GET", "/health", "Connection: close\r\n", NULL);
    http_send_bytes(&client, "X : a\r\n", 7);
    read_statuses(&client, &statuses);
    assert_string_equal(text_string(&statuses), "200 ");
    http_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_that_parsers_could_read_differently_are_refused),
        cmocka_unit_test(control_characters_are_refused),
        cmocka_unit_test(a_refusal_by_the_request_guard_is_a_json_rpc_error),
        cmocka_unit_test(a_client_that_sends_8_mib_after_a_faulty_header_can_read_the_refusal),
        cmocka_unit_test(the_refusal_of_a_body_far_over_the_limit_can_be_read),
        cmocka_unit_test(a_client_that_keeps_sending_after_a_refusal_is_disconnected),
        cmocka_unit_test(bytes_after_a_request_with_connection_close_are_not_examined),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
