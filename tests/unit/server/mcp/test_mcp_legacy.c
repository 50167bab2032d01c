/* SPDX-License-Identifier: Apache-2.0 */
/* The legacy era of MCP (the revisions before 2026-07-28), over HTTP. */
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

/* Returns MCP_HEADERS and a header with the session's id; the caller frees the string. */
static char *session_headers(const char *session)
{
    struct text headers = { 0 };

    text_addf(&headers, MCP_HEADERS "Mcp-Session-Id: %s\r\n", session);
    return text_take(&headers);
}

static json_t *post(const char *headers, const char *body, int *status)
{
    return mcp_post_once(port(), headers, body, status);
}

static void initialize_introduces_the_server(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(NULL, LEGACY_INITIALIZE, &status);
    assert_int_equal(status, 200);
    assert_string_equal(text_at(reply, "result.protocolVersion"), "2025-11-25");
    assert_string_equal(text_at(reply, "result.serverInfo.name"), "opsbrain");
    assert_string_equal(text_at(reply, "result.serverInfo.icons.0.mimeType"), "image/svg+xml");
    assert_non_null(json_at(reply, "result.serverInfo.description"));
    assert_string_equal(text_at(reply, "result.instructions"), "Try echo.");
    assert_non_null(json_at(reply, "result.capabilities.tools"));
    assert_int_equal(integer_at(reply, "id"), 1);
}

static void initialize_answers_with_the_requested_version_or_the_latest_legacy_one(void **state)
{
    static const char *const cases[][2] = {
        { "2024-11-05", "2024-11-05" }, { "2025-03-26", "2025-03-26" },
        { "2025-06-18", "2025-06-18" }, { "2025-11-25", "2025-11-25" },
        { "2026-07-28", "2025-11-25" }, { "1999-01-01", "2025-11-25" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEXT_AUTO body = { 0 };
        json_auto_t *reply = NULL;
        int status;

        text_addf(
            &body,
            "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{"
            "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"u\"}}}",
            cases[i][0]);
        reply = post(NULL, text_string(&body), &status);
        assert_string_equal(text_at(reply, "result.protocolVersion"), cases[i][1]);
        /* 2025-11-25 added icons */
        assert_int_equal(json_at(reply, "result.serverInfo.icons") != NULL,
                         strcmp(cases[i][1], "2025-11-25") == 0);
        assert_string_equal(text_at(reply, "id"), "i");
    }
}

static void requests_in_a_session_get_404_after_it_was_deleted(void **state)
{
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
    char *session, *headers;
    int status;

    (void)state;
    session = mcp_initialize(port(), NULL);
    assert_non_null(session);
    headers = session_headers(session);
    json_decref(post(headers, ping, &status));
    assert_int_equal(status, 200);
    assert_int_equal(http_request(port(), "DELETE", "/mcp", headers, NULL, NULL), 200);
    json_decref(post(headers, ping, &status));
    assert_int_equal(status, 404);
    assert_int_equal(http_request(port(), "DELETE", "/mcp", headers, NULL, NULL), 404);
    assert_int_equal(http_request(port(), "GET", "/mcp", headers, NULL, NULL), 404);
    free(session);
    free(headers);
}

static void requests_and_notifications_in_an_unknown_session_get_404(void **state)
{
    char *headers = session_headers("ses_unknown");
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(headers, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}", &status);
    assert_int_equal(status, 404);
    assert_int_equal(integer_at(reply, "error.code"), -32001);
    json_decref(
        post(headers, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", &status));
    assert_int_equal(status, 404);
    free(headers);
}

static void a_session_survives_a_restart_of_the_server(void **state)
{
    char *session, *headers;
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    session = mcp_initialize(port(), NULL);
    headers = session_headers(session);
    served_stop(&served);
    served_start(&served, NULL);
    reply = post(headers,
                 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"echo\",\"arguments\":{\"text\":\"x\"}}}",
                 &status);
    assert_int_equal(status, 200);
    assert_string_equal(text_at(reply, "result.structuredContent.client"), "unit/1");
    free(session);
    free(headers);
}

static void requests_without_a_session_are_served_too(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(NULL, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}", &status);
    assert_int_equal(status, 200);
    assert_int_equal(json_array_size(json_at(reply, "result.tools")), 4);
    assert_string_equal(text_at(reply, "result.tools.1.name"), "echo");
}

static void notifications_and_responses_are_accepted_and_answered_without_a_body(void **state)
{
    TEXT_AUTO reply = { 0 };

    (void)state;
    assert_int_equal(http_request(port(), "POST", "/mcp", MCP_HEADERS,
                                  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
                                  &reply),
                     202);
    assert_int_equal(reply.length, 0);
    assert_int_equal(http_request(port(), "POST", "/mcp", MCP_HEADERS,
                                  "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}", &reply),
                     202);
    assert_int_equal(http_request(port(), "POST", "/mcp", MCP_HEADERS,
                                  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/other\"}",
                                  &reply),
                     202);
}

static void initialize_without_an_id_creates_no_session(void **state)
{
    struct http_client client;
    int status;

    (void)state;
    http_open(&client, port());
    json_decref(mcp_post_on(&client, MCP_HEADERS,
                            "{\"jsonrpc\":\"2.0\",\"method\":\"initialize\",\"params\":{"
                            "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                            "\"clientInfo\":{\"name\":\"unit\",\"version\":\"1\"}}}",
                            &status));
    assert_int_equal(status, 202);
    assert_null(http_header(&client, "Mcp-Session-Id"));
    http_close(&client);
}

static void the_refusal_of_an_unknown_method_has_the_id_of_the_request(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(NULL, "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u00e9\",\"method\":\"no/such\"}", &status);
    assert_int_equal(status, 200);
    assert_int_equal(integer_at(reply, "error.code"), -32601);
    assert_string_equal(text_at(reply, "id"), "a\xc3\xa9");
}

static void an_unsupported_version_header_is_refused(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post(MCP_HEADERS "MCP-Protocol-Version: 1999-01-01\r\n",
                 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}", &status);
    assert_int_equal(status, 400);
    assert_int_equal(integer_at(reply, "error.code"), -32000);
}

static void an_unknown_tool_is_a_protocol_error_but_a_failed_call_has_a_result(void **state)
{
    json_auto_t *unknown = NULL, *failed = NULL, *broken = NULL;
    int status;

    (void)state;
    unknown = post(NULL,
                   "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"nope\"}}",
                   &status);
    assert_int_equal(status, 200);
    assert_int_equal(integer_at(unknown, "error.code"), -32602);
    failed = post(NULL,
                  "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
                  "\"echo\",\"arguments\":{\"text\":\"fail\"}}}",
                  &status);
    assert_int_equal(status, 200);
    assert_true(json_is_true(json_at(failed, "result.isError")));
    assert_string_equal(text_at(failed, "result.content.0.text"), "there is no such echo");
    assert_null(json_at(failed, "result.structuredContent"));
    broken = post(NULL,
                  "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":"
                  "\"echo\",\"arguments\":{\"text\":\"break\"}}}",
                  &status);
    assert_true(json_is_true(json_at(broken, "result.isError")));
    assert_null(strstr(text_at(broken, "result.content.0.text"), "internal secret"));
    assert_non_null(strstr(text_at(broken, "result.content.0.text"), "req_"));
}

static void progress_is_sent_before_the_result_on_the_same_stream_and_always_increases(void **state)
{
    struct http_client client;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };
    double last = -1;
    int received = 0;

    (void)state;
    http_open(&client, port());
    http_send(
        &client, "POST", "/mcp", MCP_HEADERS,
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"slow\","
        "\"arguments\":{\"steps\":5,\"step_ms\":5},\"_meta\":{\"progressToken\":\"p\"}}}");
    assert_int_equal(http_read_head(&client), 200);
    while (http_event(&client, &pending, &event)) {
        struct error error;
        json_auto_t *json = NULL;

        assert_true(json_parse(text_string(&event), event.length, &json, &error));
        if (json_at(json, "result") != NULL) {
            assert_int_equal(integer_at(json, "id"), 9);
            assert_int_equal(integer_at(json, "result.structuredContent.steps"), 5);
            break;
        }
        assert_string_equal(text_at(json, "method"), "notifications/progress");
        assert_string_equal(text_at(json, "params.progressToken"), "p");
        assert_true(json_number_value(json_at(json, "params.progress")) > last);
        last = json_number_value(json_at(json, "params.progress"));
        received++;
    }
    assert_int_equal(received, 6);
    assert_false(http_event(&client, &pending, &event));
    http_close(&client);
}

/* Begins a session with this revision of MCP, and returns its id, which the caller frees. */
static char *initialize_as(const char *version)
{
    struct http_client client;
    TEXT_AUTO body = { 0 };
    char *session;
    int status;

    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
              "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"u\"}}}",
              version);
    http_open(&client, port());
    json_decref(mcp_post_on(&client, NULL, text_string(&body), &status));
    session = http_header(&client, "Mcp-Session-Id");
    http_close(&client);
    return session;
}

/* Returns how many lines of the text begin with `prefix`. */
static int count_lines(const char *text, const char *prefix)
{
    int count = strncmp(text, prefix, strlen(prefix)) == 0;

    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        count += strncmp(at + 1, prefix, strlen(prefix)) == 0;
    return count;
}

/* A priming event has an id but no message: a client that lost its connection can resume the stream
 * after this event. */
static void event_ids_and_priming_events_are_sent_only_in_revisions_that_have_them(void **state)
{
    static const struct {
        const char *version;
        int has_ids, has_priming_event; /* 0 or 1 */
    } cases[] = {
        { "2025-11-25", 1, 1 },
        { "2025-06-18", 1, 0 },
        { "2025-03-26", 1, 0 },
        { "2024-11-05", 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *session = initialize_as(cases[i].version), *headers = session_headers(session);
        TEXT_AUTO reply = { 0 };
        int messages;

        assert_int_equal(http_request(port(), "POST", "/mcp", headers,
                                      "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\","
                                      "\"params\":{\"name\":\"slow\",\"arguments\":{\"steps\":2,"
                                      "\"step_ms\":2},\"_meta\":{\"progressToken\":1}}}",
                                      &reply),
                         200);
        messages = count_lines(text_string(&reply), "data: {");
        assert_true(messages >= 3);
        assert_int_equal(count_lines(text_string(&reply), "id: "),
                         cases[i].has_ids * messages + cases[i].has_priming_event);
        assert_int_equal(count_lines(text_string(&reply), "retry: 1000"),
                         cases[i].has_priming_event);
        assert_int_equal(count_lines(text_string(&reply), "data: \n"), cases[i].has_priming_event);
        free(session);
        free(headers);
    }
}

static void without_a_progress_token_no_progress_is_reported(void **state)
{
    TEXT_AUTO reply = { 0 };

    (void)state;
    assert_int_equal(
        http_request(port(), "POST", "/mcp", MCP_HEADERS,
                     "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":"
                     "\"slow\",\"arguments\":{\"steps\":2,\"step_ms\":2}}}",
                     &reply),
        200);
    assert_null(strstr(text_string(&reply), "notifications/progress"));
    assert_non_null(strstr(text_string(&reply), "\"steps\":2"));
}

static void a_client_that_accepts_no_streams_gets_json(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = post("Content-Type: application/json\r\nAccept: application/json\r\n",
                 "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":"
                 "\"slow\",\"arguments\":{\"steps\":2,\"step_ms\":2},\"_meta\":{"
                 "\"progressToken\":1}}}",
                 &status);
    assert_int_equal(status, 200);
    assert_int_equal(integer_at(reply, "result.structuredContent.steps"), 2);
}

static void a_client_that_accepts_only_streams_gets_one(void **state)
{
    TEXT_AUTO reply = { 0 };

    (void)state;
    assert_int_equal(http_request(port(), "POST", "/mcp",
                                  "Content-Type: application/json\r\nAccept: text/event-stream\r\n",
                                  "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}", &reply),
                     200);
    assert_string_equal(text_string(&reply),
                        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n\n");
}

#define LONG_CALL(id)                                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"slow\","  \
    "\"arguments\":{\"steps\":2000,\"step_ms\":5}}}"
#define CANCEL(id)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"

/* Starts a long call in a session and waits until it is running. */
static void begin_long_call(struct http_client *client, const char *headers)
{
    http_open(client, port());
    http_send(client, "POST", "/mcp", headers, LONG_CALL("5"));
    assert_true(served_reaches(&served_running, 1));
}

static void cancelling_stops_the_call_and_ends_its_stream_without_an_answer(void **state)
{
    char *session = mcp_initialize(port(), NULL), *headers = session_headers(session);
    struct http_client client;
    TEXT_AUTO body = { 0 };
    int status;

    (void)state;
    begin_long_call(&client, headers);
    json_decref(post(headers, CANCEL("5"), &status));
    assert_int_equal(status, 202);
    assert_true(served_reaches(&served_cancelled, 1));
    assert_int_equal(http_read_head(&client), 200);
    while (http_read_part(&client, &body))
        continue;
    assert_true(client.ended);
    assert_null(strstr(text_string(&body), "data: {"));
    http_close(&client);
    free(session);
    free(headers);
}

static void cancelling_does_not_affect_calls_in_another_session_or_with_another_id(void **state)
{
    char *mine = mcp_initialize(port(), NULL), *other = mcp_initialize(port(), NULL);
    char *my_headers = session_headers(mine), *other_headers = session_headers(other);
    struct http_client client;
    int status;

    (void)state;
    begin_long_call(&client, my_headers);
    json_decref(post(other_headers, CANCEL("5"), &status));
    assert_int_equal(status, 202);
    json_decref(post(my_headers, CANCEL("\"5\""), &status));
    json_decref(post(my_headers, CANCEL("6"), &status));
    json_decref(post(NULL, CANCEL("5"), &status));
    served_sleep_ms(50);
    assert_int_equal(atomic_load(&served_cancelled), 0);
    assert_int_equal(atomic_load(&served_running), 1);
    json_decref(post(my_headers, CANCEL("5"), &status));
    assert_true(served_reaches(&served_cancelled, 1));
    http_close(&client);
    free(mine);
    free(other);
    free(my_headers);
    free(other_headers);
}

static void disconnecting_does_not_cancel_a_call(void **state)
{
    struct http_client client;

    (void)state;
    http_open(&client, port());
    http_send(
        &client, "POST", "/mcp", MCP_HEADERS,
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"slow\","
        "\"arguments\":{\"steps\":40,\"step_ms\":5}}}");
    assert_true(served_reaches(&served_running, 1));
    http_close(&client);
    assert_true(served_reaches(&served_done, 1));
    assert_int_equal(atomic_load(&served_cancelled), 0);
}

static void ending_a_session_cancels_its_calls(void **state)
{
    char *session = mcp_initialize(port(), NULL), *headers = session_headers(session);
    struct http_client client;

    (void)state;
    begin_long_call(&client, headers);
    assert_int_equal(http_request(port(), "DELETE", "/mcp", headers, NULL, NULL), 200);
    assert_true(served_reaches(&served_cancelled, 1));
    http_close(&client);
    free(session);
    free(headers);
}

static void a_new_long_lived_stream_replaces_the_sessions_old_one(void **state)
{
    char *session = mcp_initialize(port(), NULL), *headers = session_headers(session);
    struct http_client first, second;
    TEXT_AUTO pending = { 0 };
    TEXT_AUTO event = { 0 };

    (void)state;
    http_open(&first, port());
    http_send(&first, "GET", "/mcp", headers, NULL);
    assert_int_equal(http_read_head(&first), 200);
    assert_true(http_event(&first, &pending, &event));
    assert_string_equal(text_string(&event), "");
    http_open(&second, port());
    http_send(&second, "GET", "/mcp", headers, NULL);
    assert_int_equal(http_read_head(&second), 200);
    assert_false(http_event(&first, &pending, &event));
    assert_true(first.ended);
    http_close(&first);
    http_close(&second);
    free(session);
    free(headers);
}

static void a_long_lived_stream_needs_a_session(void **state)
{
    (void)state;
    assert_int_equal(
        http_request(port(), "GET", "/mcp", "Accept: text/event-stream\r\n", NULL, NULL), 400);
}

static void batches_are_accepted_in_2025_03_26_and_refused_in_2025_11_25(void **state)
{
    static const char batch[] =
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
        "{\"name\":\"block\",\"arguments\":{\"steps\":1,\"step_ms\":1}}},"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"no/such\"}]";
    json_auto_t *reply = NULL, *refused = NULL;
    char *session, *headers;
    int status;

    (void)state;
    reply = post(MCP_HEADERS "MCP-Protocol-Version: 2025-03-26\r\n", batch, &status);
    assert_int_equal(status, 200);
    assert_int_equal(json_array_size(reply), 3);
    assert_int_equal(integer_at(reply, "0.id"), 1);
    assert_int_equal(integer_at(reply, "1.result.structuredContent.steps"), 1);
    assert_int_equal(integer_at(reply, "2.error.code"), -32601);
    session = mcp_initialize(port(), NULL);
    headers = session_headers(session);
    refused = post(headers, batch, &status);
    assert_int_equal(status, 400);
    assert_int_equal(integer_at(refused, "error.code"), -32600);
    free(session);
    free(headers);
}

static void logging_levels_are_checked(void **state)
{
    json_auto_t *good = NULL, *bad = NULL;
    int status;

    (void)state;
    good =
        post(NULL,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":"
             "\"debug\"}}",
             &status);
    assert_non_null(json_at(good, "result"));
    bad =
        post(NULL,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":"
             "\"loud\"}}",
             &status);
    assert_int_equal(integer_at(bad, "error.code"), -32602);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(initialize_introduces_the_server, start, stop),
        cmocka_unit_test_setup_teardown(
            initialize_answers_with_the_requested_version_or_the_latest_legacy_one, start, stop),
        cmocka_unit_test_setup_teardown(requests_in_a_session_get_404_after_it_was_deleted, start,
                                        stop),
        cmocka_unit_test_setup_teardown(requests_and_notifications_in_an_unknown_session_get_404,
                                        start, stop),
        cmocka_unit_test_setup_teardown(a_session_survives_a_restart_of_the_server, start, stop),
        cmocka_unit_test_setup_teardown(requests_without_a_session_are_served_too, start, stop),
        cmocka_unit_test_setup_teardown(
            notifications_and_responses_are_accepted_and_answered_without_a_body, start, stop),
        cmocka_unit_test_setup_teardown(initialize_without_an_id_creates_no_session, start, stop),
        cmocka_unit_test_setup_teardown(the_refusal_of_an_unknown_method_has_the_id_of_the_request,
                                        start, stop),
        cmocka_unit_test_setup_teardown(an_unsupported_version_header_is_refused, start, stop),
        cmocka_unit_test_setup_teardown(
            an_unknown_tool_is_a_protocol_error_but_a_failed_call_has_a_result, start, stop),
        cmocka_unit_test_setup_teardown(
            progress_is_sent_before_the_result_on_the_same_stream_and_always_increases, start,
            stop),
        cmocka_unit_test_setup_teardown(
            event_ids_and_priming_events_are_sent_only_in_revisions_that_have_them, start, stop),
        cmocka_unit_test_setup_teardown(without_a_progress_token_no_progress_is_reported, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_client_that_accepts_no_streams_gets_json, start, stop),
        cmocka_unit_test_setup_teardown(a_client_that_accepts_only_streams_gets_one, start, stop),
        cmocka_unit_test_setup_teardown(
            cancelling_stops_the_call_and_ends_its_stream_without_an_answer, start, stop),
        cmocka_unit_test_setup_teardown(
            cancelling_does_not_affect_calls_in_another_session_or_with_another_id, start, stop),
        cmocka_unit_test_setup_teardown(disconnecting_does_not_cancel_a_call, start, stop),
        cmocka_unit_test_setup_teardown(ending_a_session_cancels_its_calls, start, stop),
        cmocka_unit_test_setup_teardown(a_new_long_lived_stream_replaces_the_sessions_old_one,
                                        start, stop),
        cmocka_unit_test_setup_teardown(a_long_lived_stream_needs_a_session, start, stop),
        cmocka_unit_test_setup_teardown(
            batches_are_accepted_in_2025_03_26_and_refused_in_2025_11_25, start, stop),
        cmocka_unit_test_setup_teardown(logging_levels_are_checked, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
