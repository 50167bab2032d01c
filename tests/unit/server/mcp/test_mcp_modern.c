/* SPDX-License-Identifier: Apache-2.0 */
/* The modern era of MCP (revision 2026-07-28), over HTTP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

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
    served_start(&served, NULL);
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

static json_t *post(const char *headers, const char *body, int *status)
{
    return mcp_post_once(port(), headers, body, status);
}

#define REQUEST(method, members)                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":\"r1\",\"method\":\"" method "\"," MODERN_PARAMS(members) "}"
#define CALL_ECHO REQUEST("tools/call", "\"name\":\"echo\",\"arguments\":{\"text\":\"x\"},")
#define CALL_HEADERS(name) MODERN_HEADERS("tools/call") "Mcp-Name: " name "\r\n"

static void discover_introduces_the_server_and_its_versions(void **state)
{
    json_auto_t *reply = NULL;
    const json_t *meta;
    int status;

    (void)state;
    reply = post(MODERN_HEADERS("server/discover"), REQUEST("server/discover", ""), &status);
    assert_int_equal(status, 200);
    meta = json_object_get(json_at(reply, "result._meta"), "io.modelcontextprotocol/serverInfo");
    assert_string_equal(text_at(meta, "icons.0.mimeType"), "image/svg+xml");
    assert_string_equal(text_at(reply, "result.supportedVersions.0"), "2026-07-28");
    assert_string_equal(text_at(reply, "result.resultType"), "complete");
    assert_string_equal(text_at(reply, "result.cacheScope"), "private");
    assert_true(integer_at(reply, "result.ttlMs") > 0);
    assert_string_equal(text_at(reply, "result.instructions"), "Try echo.");
    assert_string_equal(text_at(reply, "id"), "r1");
}

static void results_state_their_type_and_the_server(void **state)
{
    json_auto_t *list = NULL, *call = NULL;
    const json_t *meta;
    int status;

    (void)state;
    list = post(MODERN_HEADERS("tools/list"), REQUEST("tools/list", ""), &status);
    assert_int_equal(status, 200);
    assert_int_equal(json_array_size(json_at(list, "result.tools")), 4);
    assert_true(json_is_integer(json_at(list, "result.ttlMs")));
    call = post(CALL_HEADERS("echo"), CALL_ECHO, &status);
    assert_string_equal(text_at(call, "result.resultType"), "complete");
    assert_string_equal(text_at(call, "result.structuredContent.client"), "unit/2");
    assert_null(json_at(call, "result.ttlMs"));
    meta = json_object_get(json_at(call, "result._meta"), "io.modelcontextprotocol/serverInfo");
    assert_string_equal(text_at(meta, "name"), "opsbrain");
}

static void wrong_requests_and_headers_get_the_right_status_and_code(void **state)
{
    static const struct {
        const char *headers, *body;
        int status, code;
    } cases[] = {
        /* the version is only in the header */
        { MODERN_HEADERS("tools/list"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
          400, -32602 },
        /* no version header */
        { MCP_HEADERS "Mcp-Method: tools/list\r\n", REQUEST("tools/list", ""), 400, -32020 },
        /* the header's version differs from the body's */
        { MCP_HEADERS "MCP-Protocol-Version: 2027-01-01\r\nMcp-Method: tools/list\r\n",
          REQUEST("tools/list", ""), 400, -32020 },
        /* a version that does not exist */
        { MCP_HEADERS "MCP-Protocol-Version: 2099-01-01\r\nMcp-Method: tools/list\r\n",
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
          "\"io.modelcontextprotocol/protocolVersion\":\"2099-01-01\","
          "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
          400, -32022 },
        /* no capabilities */
        { MODERN_HEADERS("tools/list"),
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
          "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
          400, -32602 },
        /* no method header; a wrong method; a method in the wrong case */
        { MCP_HEADERS "MCP-Protocol-Version: 2026-07-28\r\n", REQUEST("tools/list", ""), 400,
          -32020 },
        { MODERN_HEADERS("tools/call"), REQUEST("tools/list", ""), 400, -32020 },
        { MODERN_HEADERS("Tools/List"), REQUEST("tools/list", ""), 400, -32020 },
        /* no name header, a wrong one, bad base64 */
        { MODERN_HEADERS("tools/call"), CALL_ECHO, 400, -32020 },
        { CALL_HEADERS("slow"), CALL_ECHO, 400, -32020 },
        { CALL_HEADERS("=?base64?!!!?="), CALL_ECHO, 400, -32020 },
        /* methods that do not exist, or no longer exist */
        { MODERN_HEADERS("no/such"), REQUEST("no/such", ""), 404, -32601 },
        { MODERN_HEADERS("initialize"), REQUEST("initialize", ""), 404, -32601 },
        { MODERN_HEADERS("ping"), REQUEST("ping", ""), 404, -32601 },
        /* an unknown tool, and a bad cursor */
        { CALL_HEADERS("nope"), REQUEST("tools/call", "\"name\":\"nope\","), 200, -32602 },
        { MODERN_HEADERS("tools/list"), REQUEST("tools/list", "\"cursor\":\"x\","), 200, -32602 },
        /* incomplete JSON, a batch, a response */
        { MODERN_HEADERS("tools/list"), "{\"jsonrpc\":\"2.0\",", 400, -32700 },
        { MODERN_HEADERS("tools/list"), "[" REQUEST("tools/list", "") "]", 400, -32600 },
        { MODERN_HEADERS("tools/list"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 400,
          -32600 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        json_auto_t *reply = post(cases[i].headers, cases[i].body, &status);

        if (status != cases[i].status || integer_at(reply, "error.code") != cases[i].code)
            fail_msg("case %zu: got status %d, code %d (%s), expected %d, %d", i, status,
                     (int)integer_at(reply, "error.code"), text_at(reply, "error.message"),
                     cases[i].status, cases[i].code);
    }
}

static void the_refusal_of_an_unsupported_version_lists_the_supported_versions(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(MCP_HEADERS "MCP-Protocol-Version: 2030-01-01\r\nMcp-Method: tools/list\r\n",
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
                 "\"io.modelcontextprotocol/protocolVersion\":\"2030-01-01\","
                 "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
                 &status);
    assert_string_equal(text_at(reply, "error.data.supported.0"), "2026-07-28");
    assert_string_equal(text_at(reply, "error.data.requested"), "2030-01-01");
    assert_int_equal(integer_at(reply, "id"), 1);
}

static void the_name_header_can_be_in_base64(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(CALL_HEADERS("=?base64?ZWNobw==?="), CALL_ECHO, &status);
    assert_int_equal(status, 200);
    assert_string_equal(text_at(reply, "result.structuredContent.text"), "x");
}

static void spaces_and_tabs_around_header_values_are_ignored(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(MCP_HEADERS "MCP-Protocol-Version:   2026-07-28 \t\r\nMcp-Method: tools/call  \r\n"
                             "Mcp-Name:\techo \r\n",
                 CALL_ECHO, &status);
    assert_int_equal(status, 200);
    assert_string_equal(text_at(reply, "result.structuredContent.text"), "x");
}

static void a_session_header_is_ignored(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(MODERN_HEADERS("tools/list") "Mcp-Session-Id: ses_unknown\r\n",
                 REQUEST("tools/list", ""), &status);
    assert_int_equal(status, 200);
    assert_non_null(json_object_get(reply, "result"));
}

static void get_and_delete_are_not_allowed(void **state)
{
    TEXT_AUTO reply = { 0 };

    (void)state;
    assert_int_equal(http_request(port(), "GET", "/mcp",
                                  "MCP-Protocol-Version: 2026-07-28\r\nAccept: "
                                  "text/event-stream\r\n",
                                  NULL, &reply),
                     405);
    assert_int_equal(http_request(port(), "DELETE", "/mcp", "MCP-Protocol-Version: 2026-07-28\r\n",
                                  NULL, &reply),
                     405);
}

#define CALL_STEPS(tool, steps, extra)                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" tool         \
    "\",\"arguments\":{\"steps\":" steps ",\"step_ms\":5},\"_meta\":{" extra                       \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                                  \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}"

/* Posts a call, waits until its tool is running, and disconnects. */
static void leave_during(const char *headers, const char *body)
{
    struct http_client client;

    http_open(&client, port());
    http_send(&client, "POST", "/mcp", headers, body);
    assert_true(served_reaches(&served_running, 1));
    http_close(&client);
}

static void must_be_cancelled_soon(void)
{
    int64_t begun_ns = clock_monotonic_ns();

    assert_true(served_reaches(&served_cancelled, 1));
    assert_true(clock_monotonic_ns() - begun_ns < INT64_C(3000000000));
}

static void disconnecting_cancels_a_call_whose_answer_is_a_stream(void **state)
{
    (void)state;
    leave_during(CALL_HEADERS("slow"), CALL_STEPS("slow", "2000", ""));
    must_be_cancelled_soon();
}

static void disconnecting_cancels_a_call_that_reports_progress(void **state)
{
    (void)state;
    leave_during(CALL_HEADERS("slow"), CALL_STEPS("slow", "2000", "\"progressToken\":7,"));
    must_be_cancelled_soon();
}

/* The client might have closed only its sending side, and might still be waiting for the answer:
 * see test_half_closed.c. */
static void disconnecting_does_not_cancel_a_call_answered_in_one_piece(void **state)
{
    (void)state;
    leave_during(CALL_HEADERS("block"), CALL_STEPS("block", "60", ""));
    assert_true(served_reaches(&served_done, 1));
}

static void listening_is_acknowledged_and_ends_with_a_result_when_the_server_stops(void **state)
{
    struct http_client client;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };
    struct error error;
    json_t *json;

    (void)state;
    http_open(&client, port());
    http_send(&client, "POST", "/mcp", MODERN_HEADERS("subscriptions/listen"),
              REQUEST("subscriptions/listen",
                      "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":false,"
                      "\"resourceSubscriptions\":[\"opsbrain://nothing\",1],\"other\":true},"));
    assert_int_equal(http_read_head(&client), 200);
    assert_true(http_event(&client, &pending, &event));
    assert_true(json_parse(text_string(&event), event.length, &json, &error));
    assert_string_equal(text_at(json, "method"), "notifications/subscriptions/acknowledged");
    assert_true(json_is_true(json_at(json, "params.notifications.toolsListChanged")));
    assert_int_equal(json_object_size(json_at(json, "params.notifications")), 1);
    assert_string_equal(
        json_string_value(json_object_get(json_at(json, "params._meta"),
                                          "io.modelcontextprotocol/subscriptionId")),
        "r1");
    json_decref(json);
    server_stop(served.server, 2000);
    assert_true(http_event(&client, &pending, &event));
    assert_true(json_parse(text_string(&event), event.length, &json, &error));
    assert_string_equal(text_at(json, "id"), "r1");
    assert_string_equal(text_at(json, "result.resultType"), "complete");
    json_decref(json);
    assert_false(http_event(&client, &pending, &event));
    assert_true(client.ended);
    http_close(&client);
}

static void two_clients_can_use_the_same_request_id_and_progress_token(void **state)
{
    struct http_client first, second;
    TEXT_AUTO reply = { 0 };
    TEXT_AUTO event = { 0 };
    TEXT_AUTO pending = { 0 };

    (void)state;
    http_open(&first, port());
    http_open(&second, port());
    http_send(&first, "POST", "/mcp", CALL_HEADERS("slow"),
              CALL_STEPS("slow", "2000", "\"progressToken\":\"t\","));
    http_send(&second, "POST", "/mcp", CALL_HEADERS("echo"),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
              "\"echo\",\"arguments\":{\"text\":\"mine\"},\"_meta\":{\"progressToken\":\"t\","
              "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
              "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
    assert_int_equal(http_read_head(&second), 200);
    while (http_read_part(&second, &reply))
        continue;
    assert_non_null(strstr(text_string(&reply), "mine"));
    assert_null(strstr(text_string(&reply), "progress"));
    assert_int_equal(http_read_head(&first), 200);
    assert_true(http_event(&first, &pending, &event));
    assert_non_null(strstr(text_string(&event), "notifications/progress"));
    http_close(&first);
    http_close(&second);
    assert_true(served_reaches(&served_cancelled, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(discover_introduces_the_server_and_its_versions, start,
                                        stop),
        cmocka_unit_test_setup_teardown(results_state_their_type_and_the_server, start, stop),
        cmocka_unit_test_setup_teardown(wrong_requests_and_headers_get_the_right_status_and_code,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            the_refusal_of_an_unsupported_version_lists_the_supported_versions, start, stop),
        cmocka_unit_test_setup_teardown(the_name_header_can_be_in_base64, start, stop),
        cmocka_unit_test_setup_teardown(spaces_and_tabs_around_header_values_are_ignored, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_session_header_is_ignored, start, stop),
        cmocka_unit_test_setup_teardown(get_and_delete_are_not_allowed, start, stop),
        cmocka_unit_test_setup_teardown(disconnecting_cancels_a_call_whose_answer_is_a_stream,
                                        start, stop),
        cmocka_unit_test_setup_teardown(disconnecting_cancels_a_call_that_reports_progress, start,
                                        stop),
        cmocka_unit_test_setup_teardown(disconnecting_does_not_cancel_a_call_answered_in_one_piece,
                                        start, stop),
        cmocka_unit_test_setup_teardown(
            listening_is_acknowledged_and_ends_with_a_result_when_the_server_stops, start, stop),
        cmocka_unit_test_setup_teardown(two_clients_can_use_the_same_request_id_and_progress_token,
                                        start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
