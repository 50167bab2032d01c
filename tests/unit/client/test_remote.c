/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/net/outbound.h"
#include "client/remote/remote.h"

#include "tests/unit/support/canned_server.h"

static struct canned_server server;

static int set_up(void **state)
{
    struct error error;

    (void)state;
    return outbound_global_init(&error) ? 0 : -1;
}

/* Sends a request, which the server answers with `body`. Returns the error's kind; if it is
 * ERROR_NONE, *result is the result (a new reference). */
static enum error_kind ask(const char *body, const char *type, json_t **result)
{
    const struct canned_answer answers[] = {
        { .path = "/mcp?tools=all", .type = type, .body = body }, { 0 }
    };
    const struct remote_request request = { .method = "tools/list" };
    struct remote remote = { 0 };
    struct error error = { 0 };
    bool done;

    canned_start(&server, answers);
    snprintf(remote.login.url, sizeof remote.login.url, "http://127.0.0.1:%d", server.port);
    done = remote_ask(&remote, &request, result, &error);
    canned_stop(&server);
    return done ? ERROR_NONE : error.kind;
}

static void a_result_is_read_from_json_or_an_event_stream(void **state)
{
    static const struct {
        const char *body, *type;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}", NULL },
        { ": hello\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\n\n",
          "text/event-stream" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *result = NULL;

        assert_int_equal(ask(cases[i].body, cases[i].type, &result), ERROR_NONE);
        assert_true(json_is_array(json_object_get(result, "tools")));
    }
}

static void any_other_answer_is_an_error_without_a_result(void **state)
{
    static const struct {
        const char *body;
        enum error_kind kind;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"text\"}", ERROR_UPSTREAM },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":12.5}", ERROR_UPSTREAM },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[{}]}", ERROR_UPSTREAM },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", ERROR_UPSTREAM },
        { "{\"jsonrpc\":\"2.0\",\"id\":1}", ERROR_UPSTREAM },
        { "[]", ERROR_UPSTREAM },
        { "\"text\"", ERROR_UPSTREAM },
        { "<html>", ERROR_UPSTREAM },
        { "", ERROR_UPSTREAM },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"no\"}}",
          ERROR_INVALID },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"text\",\"error\":\"text\"}", ERROR_INVALID },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *result = NULL;

        if (ask(cases[i].body, NULL, &result) != cases[i].kind)
            fail_msg("wrong kind of error after the answer '%s'", cases[i].body);
        assert_null(result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_is_read_from_json_or_an_event_stream),
        cmocka_unit_test(any_other_answer_is_an_error_without_a_result),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
