/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what a tool call sends to the client of its session: questions and log messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/memory.h"
#include "tests/unit/support/asking_tools.h"
#include "tests/unit/support/mcp_client.h"

static struct served served;

static unsigned port(void)
{
    return server_port(served.server);
}

static int start_with_short_ask_timeout(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = asking_tools;
    served_start(&served, "--ask-timeout=1s", NULL);
    atomic_store(&asking_failed, 0);
    atomic_store(&asking_dies, false);
    return 0;
}

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = asking_tools;
    served_start(&served, NULL);
    atomic_store(&asking_failed, 0);
    atomic_store(&asking_dies, false);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    served_destroy(&served);
    return 0;
}

/* ---- A client with a session ---- */

struct peer {
    char *headers; /* sent with each of its requests */
    struct http_client call;
    struct text pending;
};

/* Begins a session. Returns the headers for requests in this session, which the caller frees. */
static char *begin_session(const char *version, const char *capabilities)
{
    struct http_client client;
    TEXT_AUTO body = { 0 };
    struct text headers = { 0 };
    json_auto_t *reply = NULL;
    char *session;
    int status;

    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
              "\"protocolVersion\":\"%s\",\"capabilities\":%s}}",
              version, capabilities);
    http_open(&client, port());
    reply = mcp_post_on(&client, MCP_HEADERS, text_string(&body), &status);
    assert_non_null(reply);
    session = http_header(&client, "Mcp-Session-Id");
    http_close(&client);
    text_addf(&headers, MCP_HEADERS "Mcp-Session-Id: %s\r\n", session);
    free(session);
    return text_take(&headers);
}

static void peer_begin(struct peer *peer, const char *version, const char *capabilities)
{
    *peer = (struct peer){ .headers = begin_session(version, capabilities) };
}

static void peer_end(struct peer *peer)
{
    http_close(&peer->call);
    text_finish(&peer->pending);
    free(peer->headers);
}

static void call_tool(struct peer *peer, const char *tool, const char *arguments)
{
    TEXT_AUTO body = { 0 };

    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
              "\"arguments\":%s}}",
              tool, arguments);
    http_open(&peer->call, port());
    http_send(&peer->call, "POST", "/mcp", peer->headers, text_string(&body));
    assert_int_equal(http_read_head(&peer->call), 200);
}

/* Returns the next message on the call's stream, or NULL if none arrives; the caller frees it. */
static json_t *receive(struct peer *peer)
{
    TEXT_AUTO event = { 0 };
    struct error error;
    json_t *message = NULL;

    do {
        if (!http_event(&peer->call, &peer->pending, &event))
            return NULL;
    } while (!json_parse(text_string(&event), event.length, &message, &error));
    return message;
}

/* Posts the client's response to a request from the server. `member` is "result" or "error".
 * Returns the HTTP status. */
static int respond(const char *headers, const json_t *request, const char *member,
                   const char *value)
{
    TEXT_AUTO body = { 0 };
    int status;

    text_addf(&body, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"%s\":%s}",
              json_get_text(request, "id", ""), member, value);
    json_decref(mcp_post_once(port(), headers, text_string(&body), &status));
    return status;
}

#define YES "{\"action\":\"accept\",\"content\":{\"ok\":true}}"
#define CONFIRM_A "{\"name\":\"a\"}"

/* ---- Tests ---- */

static void a_form_is_sent_on_the_stream_of_its_call(void **state)
{
    struct peer peer;
    json_auto_t *request = NULL, *result = NULL;

    (void)state;
    peer_begin(&peer, "2025-11-25", "{\"elicitation\":{}}");
    call_tool(&peer, "confirm", CONFIRM_A);
    request = receive(&peer);
    assert_string_equal(text_at(request, "method"), "elicitation/create");
    assert_string_equal(text_at(request, "params.message"), "Sure?");
    assert_true(strlen(text_at(request, "id")) > 20);
    assert_int_equal(respond(peer.headers, request, "result", YES), 202);
    result = receive(&peer);
    assert_int_equal(integer_at(result, "id"), 7);
    assert_false(json_boolean_value(json_at(result, "result.isError")));
    peer_end(&peer);
}

static void several_questions_are_asked_at_once(void **state)
{
    struct peer peer;
    json_auto_t *result = NULL;
    json_t *requests[3];

    (void)state;
    peer_begin(&peer, "2025-06-18", "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}");
    call_tool(&peer, "all", "{}");
    for (size_t i = 0; i < 3; i++)
        requests[i] = receive(&peer);
    assert_string_equal(text_at(requests[1], "method"), "sampling/createMessage");
    assert_string_equal(text_at(requests[2], "method"), "roots/list");
    respond(peer.headers, requests[2], "result", "{\"roots\":[{\"uri\":\"file:///r\"}]}");
    respond(peer.headers, requests[0], "result",
            "{\"action\":\"accept\",\"content\":{\"name\":\"Ann\"}}");
    respond(peer.headers, requests[1], "result",
            "{\"role\":\"assistant\",\"model\":\"m\",\"content\":{\"type\":\"text\",\"text\":"
            "\"Hi\"}}");
    result = receive(&peer);
    assert_string_equal(text_at(result, "result.content.0.text"), "Hi Ann file:///r");
    for (size_t i = 0; i < 3; i++)
        json_decref(requests[i]);
    peer_end(&peer);
}

static void an_error_names_the_capabilities_that_the_client_did_not_declare(void **state)
{
    static const struct {
        const char *version, *capabilities, *tool, *named;
    } cases[] = {
        { "2025-11-25", "{}", "confirm", "{\"elicitation\":{}}" },
        { "2025-11-25", "{\"elicitation\":{}}", "page", "{\"elicitation\":{\"url\":{}}}" },
        { "2025-06-18", "{\"elicitation\":{}}", "all", "{\"sampling\":{},\"roots\":{}}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct peer peer;
        json_auto_t *result = NULL;

        peer_begin(&peer, cases[i].version, cases[i].capabilities);
        call_tool(&peer, cases[i].tool, strcmp(cases[i].tool, "confirm") == 0 ? CONFIRM_A : "{}");
        result = receive(&peer);
        assert_true(json_boolean_value(json_at(result, "result.isError")));
        assert_non_null(strstr(text_at(result, "result.content.0.text"), cases[i].named));
        peer_end(&peer);
    }
}

static void a_client_that_can_open_pages_is_asked_to_open_one(void **state)
{
    struct peer peer;
    json_auto_t *request = NULL, *result = NULL;

    (void)state;
    peer_begin(&peer, "2025-11-25", "{\"elicitation\":{\"form\":{},\"url\":{}}}");
    call_tool(&peer, "page", "{}");
    request = receive(&peer);
    assert_string_equal(text_at(request, "params.elicitationId"), "e1");
    respond(peer.headers, request, "result", "{\"action\":\"accept\"}");
    result = receive(&peer);
    assert_string_equal(text_at(result, "result.content.0.text"), "accept");
    peer_end(&peer);
}

static void a_client_that_shows_no_forms_gets_a_link_to_a_page_with_the_form(void **state)
{
    struct peer peer;
    json_auto_t *request = NULL, *result = NULL;
    char url[80];

    (void)state;
    peer_begin(&peer, "2025-11-25", "{\"elicitation\":{\"url\":{}}}");
    call_tool(&peer, "confirm", CONFIRM_A);
    request = receive(&peer);
    assert_string_equal(text_at(request, "params.mode"), "url");
    snprintf(url, sizeof url, "/ask/%s", text_at(request, "params.elicitationId"));
    assert_non_null(strstr(text_at(request, "params.url"), url));
    assert_null(json_at(request, "params.requestedSchema"));
    respond(peer.headers, request, "result", "{\"action\":\"decline\"}");
    result = receive(&peer);
    assert_non_null(json_at(result, "result.content"));
    peer_end(&peer);
}

static void answers_from_another_session_or_with_a_wrong_id_are_ignored(void **state)
{
    struct peer peer;
    char *other;
    json_auto_t *request = NULL, *result = NULL, *forged = NULL;

    (void)state;
    peer_begin(&peer, "2025-11-25", "{\"elicitation\":{}}");
    other = begin_session("2025-11-25", "{\"elicitation\":{}}");
    call_tool(&peer, "confirm", CONFIRM_A);
    request = receive(&peer);
    forged = json_pack("{s:s}", "id", "ask_00000000000000000000000000");
    assert_int_equal(respond(other, request, "result", YES), 202);
    assert_int_equal(respond(MCP_HEADERS, request, "result", YES), 202);
    assert_int_equal(respond(peer.headers, forged, "result", YES), 202);
    respond(peer.headers, request, "result", "{\"action\":\"decline\"}");
    respond(peer.headers, request, "result", YES); /* too late */
    result = receive(&peer);
    assert_string_equal(text_at(result, "result.content.0.text"), "the user answered \"decline\"");
    free(other);
    peer_end(&peer);
}

static void after_a_bad_answer_the_call_fails_and_says_why(void **state)
{
    static const struct {
        const char *member, *value, *words;
    } cases[] = {
        { "result", "{\"action\":\"maybe\"}", "needs an \"action\"" },
        { "result", "{\"action\":\"accept\"}", "\"content\" is not an object" },
        { "result", "{\"action\":\"accept\",\"content\":{}}", "\"ok\" is missing" },
        { "result", "{\"action\":\"accept\",\"content\":{\"ok\":\"yes\"}}", "of type boolean" },
        { "result", "17", "is not an object" },
        { "error", "{\"code\":-1,\"message\":\"User rejected\"}", "User rejected" },
        { "error", "{}", "no reason" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct peer peer;
        json_auto_t *request = NULL, *result = NULL;

        peer_begin(&peer, "2025-11-25", "{\"elicitation\":{}}");
        call_tool(&peer, "confirm", CONFIRM_A);
        request = receive(&peer);
        respond(peer.headers, request, cases[i].member, cases[i].value);
        result = receive(&peer);
        assert_true(json_boolean_value(json_at(result, "result.isError")));
        if (strstr(text_at(result, "result.content.0.text"), cases[i].words) == NULL)
            fail_msg("\"%s\" does not contain \"%s\"", text_at(result, "result.content.0.text"),
                     cases[i].words);
        peer_end(&peer);
    }
}

static void a_question_that_nobody_answers_is_withdrawn(void **state)
{
    struct peer peer;
    json_auto_t *request = NULL, *withdrawn = NULL, *result = NULL;

    (void)state;
    peer_begin(&peer, "2025-11-25", "{\"elicitation\":{}}");
    call_tool(&peer, "confirm", CONFIRM_A);
    request = receive(&peer);
    withdrawn = receive(&peer);
    assert_string_equal(text_at(withdrawn, "method"), "notifications/cancelled");
    assert_string_equal(text_at(withdrawn, "params.requestId"), text_at(request, "id"));
    result = receive(&peer);
    assert_non_null(strstr(text_at(result, "result.content.0.text"), "within 1 s"));
    peer_end(&peer);
}

static void cancelling_the_call_or_ending_the_session_ends_the_wait(void **state)
{
    struct peer peer;
    int status;

    (void)state;
    for (int i = 0; i < 2; i++) {
        json_auto_t *request = NULL;

        peer_begin(&peer, "2025-11-25", "{\"elicitation\":{}}");
        call_tool(&peer, "confirm", CONFIRM_A);
        request = receive(&peer);
        assert_non_null(request);
        if (i == 0)
            json_decref(mcp_post_once(
                port(), peer.headers,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                "\"requestId\":7}}",
                &status));
        else
            http_request(port(), "DELETE", "/mcp", peer.headers, NULL, NULL);
        assert_true(served_reaches(&asking_failed, i + 1));
        peer_end(&peer);
    }
}

static void stopping_the_server_ends_the_wait(void **state)
{
    struct peer peer;
    json_auto_t *request = NULL;

    (void)state;
    peer_begin(&peer, "2025-11-25", "{\"elicitation\":{}}");
    call_tool(&peer, "confirm", CONFIRM_A);
    request = receive(&peer);
    assert_non_null(request);
    server_stop(served.server, 0);
    assert_int_equal(atomic_load(&asking_failed), 1);
    peer_end(&peer);
}

static void a_call_without_a_session_or_stream_cannot_ask_questions(void **state)
{
    static const char body[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
                               "{\"name\":\"confirm\",\"arguments\":" CONFIRM_A "}}";
    char *headers = begin_session("2025-11-25", "{\"elicitation\":{}}");
    TEXT_AUTO plain = { 0 };
    json_auto_t *reply = NULL;
    struct peer peer = { .headers = memory_copy_text(MCP_HEADERS) };
    json_auto_t *result = NULL;
    int status;

    (void)state;
    text_addf(&plain, "Content-Type: application/json\r\nAccept: application/json\r\n%s",
              strstr(headers, "Mcp-Session-Id"));
    reply = mcp_post_once(port(), text_string(&plain), body, &status);
    assert_non_null(strstr(text_at(reply, "result.content.0.text"), "text/event-stream"));
    call_tool(&peer, "confirm", CONFIRM_A);
    result = receive(&peer);
    assert_non_null(strstr(text_at(result, "result.content.0.text"), "only in a session"));
    peer_end(&peer);
    free(headers);
}

/* ---- The log ---- */

/* Reads until the call's stream ends. Checks the log messages, and returns how many there were. */
static size_t count_log_messages(struct peer *peer)
{
    size_t count = 0;
    json_t *message;

    for (; (message = receive(peer)) != NULL; json_decref(message)) {
        if (strcmp(text_at(message, "method"), "notifications/message") != 0)
            continue;
        if (strcmp(text_at(message, "params.level"), "info") == 0)
            assert_int_equal(integer_at(message, "params.data.step"), 1);
        if (strcmp(text_at(message, "params.level"), "error") == 0)
            assert_string_equal(text_at(message, "params.logger"), "talk");
        count++;
    }
    return count;
}

static void set_level(const struct peer *peer, const char *level)
{
    TEXT_AUTO body = { 0 };
    json_auto_t *reply = NULL;
    int status;

    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"logging/setLevel\",\"params\":{"
              "\"level\":\"%s\"}}",
              level);
    reply = mcp_post_once(port(), peer->headers, text_string(&body), &status);
    assert_non_null(json_at(reply, "result"));
}

static void log_messages_below_the_level_of_the_session_are_not_sent(void **state)
{
    static const struct {
        const char *level;
        size_t messages;
    } cases[] = { { NULL, 2 }, { "debug", 3 }, { "warning", 1 }, { "emergency", 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct peer peer;

        peer_begin(&peer, "2025-11-25", "{}");
        if (cases[i].level != NULL)
            set_level(&peer, cases[i].level);
        call_tool(&peer, "talk", "{}");
        assert_int_equal(count_log_messages(&peer), cases[i].messages);
        peer_end(&peer);
    }
}

static void the_log_level_of_a_session_survives_a_restart(void **state)
{
    struct peer loud, quiet;

    (void)state;
    peer_begin(&loud, "2025-11-25", "{}");
    peer_begin(&quiet, "2025-11-25", "{}");
    set_level(&quiet, "debug");
    set_level(&quiet, "warning");
    served_stop(&served);
    served_start(&served, NULL);
    call_tool(&loud, "talk", "{}");
    assert_int_equal(count_log_messages(&loud), 2);
    call_tool(&quiet, "talk", "{}");
    assert_int_equal(count_log_messages(&quiet), 1);
    peer_end(&loud);
    peer_end(&quiet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_form_is_sent_on_the_stream_of_its_call, start, stop),
        cmocka_unit_test_setup_teardown(several_questions_are_asked_at_once, start, stop),
        cmocka_unit_test_setup_teardown(
            an_error_names_the_capabilities_that_the_client_did_not_declare, start, stop),
        cmocka_unit_test_setup_teardown(
            a_client_that_shows_no_forms_gets_a_link_to_a_page_with_the_form, start, stop),
        cmocka_unit_test_setup_teardown(a_client_that_can_open_pages_is_asked_to_open_one, start,
                                        stop),
        cmocka_unit_test_setup_teardown(answers_from_another_session_or_with_a_wrong_id_are_ignored,
                                        start, stop),
        cmocka_unit_test_setup_teardown(after_a_bad_answer_the_call_fails_and_says_why, start,
                                        stop),
        cmocka_unit_test_setup_teardown(a_question_that_nobody_answers_is_withdrawn,
                                        start_with_short_ask_timeout, stop),
        cmocka_unit_test_setup_teardown(cancelling_the_call_or_ending_the_session_ends_the_wait,
                                        start, stop),
        cmocka_unit_test_setup_teardown(stopping_the_server_ends_the_wait, start, stop),
        cmocka_unit_test_setup_teardown(a_call_without_a_session_or_stream_cannot_ask_questions,
                                        start, stop),
        cmocka_unit_test_setup_teardown(log_messages_below_the_level_of_the_session_are_not_sent,
                                        start, stop),
        cmocka_unit_test_setup_teardown(the_log_level_of_a_session_survives_a_restart, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
