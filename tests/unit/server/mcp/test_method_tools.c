/* SPDX-License-Identifier: Apache-2.0 */
/* Over HTTP: overlong answers from tools and resources, JSON that cannot be parsed, and a
 * client that disconnects before its tools/list is answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/holding.h"
#include "tests/unit/support/mcp_client.h"
#include "tests/unit/support/served.h"

#define CALL(text)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\","       \
    "\"arguments\":{\"text\":\"" text "\"}}}"

static bool read_long(struct call *call, const char *value, struct text *out, struct error *error)
{
    (void)call, (void)value, (void)error;
    for (int i = 0; i < 70000; i++)
        text_add_char(out, 'x');
    return true;
}

static const struct resource long_resource = { .name = "long",
                                               .uri = "test://long",
                                               .title = "Long",
                                               .help = "A long text.",
                                               .mime_type = "text/plain",
                                               .role = ROLE_VIEWER,
                                               .placement = PLACE_WORKER,
                                               .read = read_long };
static const struct resource *const table[] = { &long_resource, NULL };

static const struct tool *const tools_here[] = { &served_echo_tool, &holding_tool, NULL };

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = tools_here;
    served.resources = table;
    atomic_store(&holding_may_answer, false);
    served_start(&served, "--answer-limit-bytes=65536", NULL);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

static json_t *post(const char *body, int *status)
{
    return mcp_post_once(port(), NULL, body, status);
}

static void an_answer_over_the_limit_becomes_an_error_that_says_to_ask_for_less(void **state)
{
    TEXT_AUTO call = { 0 };
    json_auto_t *reply = NULL;
    json_auto_t *small = NULL;
    int status;

    (void)state;
    text_add(&call, CALL("some"));
    small = post(text_string(&call), &status);
    assert_true(json_is_false(json_at(small, "result.isError")));
    text_clear(&call);
    text_addf(&call, CALL("%070000d"), 0);
    reply = post(text_string(&call), &status);
    assert_int_equal(status, 200);
    assert_true(json_is_true(json_at(reply, "result.isError")));
    assert_null(json_at(reply, "result.structuredContent"));
    assert_non_null(strstr(text_at(reply, "result.content.0.text"), "answer_limit_bytes"));
    assert_non_null(strstr(text_at(reply, "result.content.0.text"), "ask for less"));
}

static void the_error_for_an_overlong_resource_names_the_resource_and_the_limit(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
                 "\"test://long\"}}",
                 &status);
    assert_int_equal(integer_at(reply, "error.code"), -32603);
    assert_non_null(strstr(text_at(reply, "error.message"), "answer_limit_bytes"));
    assert_string_equal(text_at(reply, "error.data.uri"), "test://long");
    assert_null(json_at(reply, "result"));
}

static void json_that_cannot_be_parsed_is_refused_with_the_reason(void **state)
{
    static const struct {
        const char *body, *reason;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"ping\"}",
          "integer of more than 64 bits" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", "duplicate" },
        { "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "64 levels" },
        { "{\"jsonrpc\"", "line 1" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *reply = NULL;
        int status;

        reply = post(cases[i].body, &status);
        assert_int_equal(status, 400);
        assert_int_equal(integer_at(reply, "error.code"), -32700);
        assert_non_null(strstr(text_at(reply, "error.message"), cases[i].reason));
    }
}

/* In this batch, tools/list is answered only after the slow call before it. By then, the
 * connection's memory might have been freed. */
static void answering_tools_list_after_the_client_disconnected_does_no_harm(void **state)
{
    static const struct linger reset = { .l_onoff = 1 };
    atomic_int_fast64_t *connections = &served.server->http->open_connections;
    struct http_client client;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp?tools=measure", MCP_HEADERS,
              "[" HOLDING_CALL ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}]");
    assert_true(served_reaches(&served_running, 1));
    setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    http_close(&client);
    for (int i = 0; i < 2500 && atomic_load(connections) > 0; i++)
        served_sleep_ms(2);
    assert_int_equal(atomic_load(connections), 0);
    atomic_store(&holding_may_answer, true);
    assert_true(served_falls(&served.server->http->in_flight, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            an_answer_over_the_limit_becomes_an_error_that_says_to_ask_for_less, start, stop),
        cmocka_unit_test_setup_teardown(
            the_error_for_an_overlong_resource_names_the_resource_and_the_limit, start, stop),
        cmocka_unit_test_setup_teardown(
            answering_tools_list_after_the_client_disconnected_does_no_harm, start, stop),
        cmocka_unit_test_setup_teardown(json_that_cannot_be_parsed_is_refused_with_the_reason,
                                        start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
