/* SPDX-License-Identifier: Apache-2.0 */
/* Requests with several rounds (revision 2026-07-28): the answer to the first round can be a
 * question, and the client repeats the request with its own answer in the next round. This file
 * also tests log messages to the client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/core/memory.h"
#include "tests/unit/support/asking_tools.h"
#include "tests/unit/support/mcp_client.h"

static struct served served;

static int start(void **state)
{
    (void)state;
    served_create(&served);
    served.tools = asking_tools;
    served_start(&served, NULL);
    atomic_store(&asking_runs, 0);
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

#define JSON_ONLY                                                                                  \
    "Content-Type: application/json\r\nAccept: application/json\r\n"                               \
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
#define ALL_CAPABILITIES "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}"

/* Sends one round. `more` holds further members of `params`, each followed by a comma. */
static json_t *send_round(const char *tool, const char *capabilities, const char *more, int *status)
{
    TEXT_AUTO headers = { 0 };
    TEXT_AUTO body = { 0 };

    text_addf(&headers, JSON_ONLY "Mcp-Name: %s\r\n", tool);
    text_addf(&body,
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
              "%s\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
              "\"io.modelcontextprotocol/clientCapabilities\":%s}}}",
              tool, more, capabilities);
    return mcp_post_once(server_port(served.server), text_string(&headers), text_string(&body),
                         status);
}

#define CONFIRM(name) "\"arguments\":{\"name\":\"" name "\"},"
#define YES "\"inputResponses\":{\"sure\":{\"action\":\"accept\",\"content\":{\"ok\":true}}},"

/* Returns the text of the member "requestState" of `params`, with this value and a comma after it.
 * The caller frees it. */
static char *state_member(const char *sealed)
{
    struct text member = { 0 };

    text_add(&member, "\"requestState\":");
    json_add_string(&member, sealed, strlen(sealed));
    text_add_char(&member, ',');
    return text_take(&member);
}

/* Sends the first round of a call of `confirm`. Returns the state that the server sent, in the form
 * that state_member returns. */
static char *ask_first(const char *arguments)
{
    int status;
    json_auto_t *asked = send_round("confirm", ALL_CAPABILITIES, arguments, &status);

    assert_int_equal(status, 200);
    assert_string_equal(text_at(asked, "result.resultType"), "input_required");
    return state_member(text_at(asked, "result.requestState"));
}

static json_t *send_second_round(const char *arguments, const char *state, const char *answers,
                                 int *status)
{
    TEXT_AUTO more = { 0 };

    text_addf(&more, "%s%s%s", arguments, state, answers);
    return send_round("confirm", ALL_CAPABILITIES, text_string(&more), status);
}

static size_t count_deployments(void)
{
    struct deployment *rows;
    struct error error;
    size_t count;

    assert_true(deployment_list(served.services.store, "", 100, &rows, &count, &error));
    free(rows);
    return count;
}

/* ---- Tests ---- */

static void the_answer_to_the_first_round_is_a_question(void **state)
{
    json_auto_t *asked = NULL;
    int status;

    (void)state;
    asked = send_round("confirm", ALL_CAPABILITIES, CONFIRM("a"), &status);
    assert_int_equal(status, 200);
    assert_string_equal(text_at(asked, "result.resultType"), "input_required");
    assert_string_equal(text_at(asked, "result.inputRequests.sure.method"), "elicitation/create");
    assert_string_equal(text_at(asked, "result.inputRequests.sure.params.message"), "Sure?");
    assert_true(json_is_string(json_at(asked, "result.requestState")));
    assert_null(json_at(asked, "result.content"));
    assert_int_equal(count_deployments(), 0);
}

static void the_tool_acts_in_the_second_round(void **state)
{
    char *sealed = ask_first(CONFIRM("a"));
    json_auto_t *done = NULL;
    int status;

    (void)state;
    done = send_second_round(CONFIRM("a"), sealed, YES, &status);
    assert_string_equal(text_at(done, "result.resultType"), "complete");
    assert_string_equal(text_at(done, "result.content.0.text"), "registered a in run 2");
    assert_int_equal(count_deployments(), 1);
    free(sealed);
}

static void a_repeated_round_gets_the_same_answer_and_does_not_act_again(void **state)
{
    char *sealed = ask_first(CONFIRM("a"));
    int status;

    (void)state;
    for (int i = 0; i < 3; i++) {
        json_auto_t *done = send_second_round(CONFIRM("a"), sealed, YES, &status);

        assert_string_equal(text_at(done, "result.content.0.text"), "registered a in run 2");
        assert_false(json_boolean_value(json_at(done, "result.isError")));
    }
    assert_int_equal(atomic_load(&asking_runs), 2);
    served_stop(&served);
    served_start(&served, NULL);
    json_auto_t *after = send_second_round(CONFIRM("a"), sealed, YES, &status);
    assert_string_equal(text_at(after, "result.content.0.text"), "registered a in run 2");
    free(sealed);
}

struct sender {
    pthread_t thread;
    const char *sealed;
    json_t *reply;
};

static void *send_yes(void *context)
{
    struct sender *sender = context;
    int status;

    sender->reply = send_second_round(CONFIRM("a"), sender->sealed, YES, &status);
    return NULL;
}

static void identical_concurrent_rounds_act_only_once(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++) {
        char *sealed = ask_first(CONFIRM("a"));
        struct sender senders[4] = { 0 };
        struct deployment row;
        struct error error;

        for (size_t i = 0; i < 4; i++) {
            senders[i].sealed = sealed;
            assert_int_equal(pthread_create(&senders[i].thread, NULL, send_yes, &senders[i]), 0);
        }
        for (size_t i = 0; i < 4; i++)
            pthread_join(senders[i].thread, NULL);
        for (size_t i = 0; i < 4; i++) {
            assert_string_equal(text_at(senders[i].reply, "result.content.0.text"),
                                text_at(senders[0].reply, "result.content.0.text"));
            assert_false(json_boolean_value(json_at(senders[i].reply, "result.isError")));
        }
        for (size_t i = 0; i < 4; i++)
            json_decref(senders[i].reply);
        assert_true(deployment_find(served.services.store, "a", &row, &error));
        assert_int_equal(row.revision, round + 1);
        assert_true(deployment_retire(served.services.store, "a", 1, NULL, &error));
        free(sealed);
    }
}

static void a_request_that_was_carried_out_but_not_answered_is_not_repeated(void **state)
{
    char *sealed = ask_first(CONFIRM("a"));
    json_auto_t *died = NULL, *again = NULL;
    int status;

    (void)state;
    atomic_store(&asking_dies, true);
    died = send_second_round(CONFIRM("a"), sealed, YES, &status);
    atomic_store(&asking_dies, false);
    assert_non_null(died);
    again = send_second_round(CONFIRM("a"), sealed, YES, &status);
    assert_true(json_boolean_value(json_at(again, "result.isError")));
    assert_non_null(strstr(text_at(again, "result.content.0.text"), "already carried out"));
    assert_non_null(strstr(text_at(again, "result.content.0.text"), "req_"));
    assert_int_equal(count_deployments(), 1);
    free(sealed);
}

static void declining_has_no_effect_and_leaves_the_request_open(void **state)
{
    char *sealed = ask_first(CONFIRM("a"));
    json_auto_t *declined = NULL, *done = NULL;
    int status;

    (void)state;
    declined = send_second_round(
        CONFIRM("a"), sealed, "\"inputResponses\":{\"sure\":{\"action\":\"decline\"}},", &status);
    assert_string_equal(text_at(declined, "result.content.0.text"),
                        "the user answered \"decline\"");
    assert_int_equal(count_deployments(), 0);
    done = send_second_round(CONFIRM("a"), sealed, YES, &status);
    assert_string_equal(text_at(done, "result.content.0.text"), "registered a in run 3");
    free(sealed);
}

static void a_question_is_asked_again_if_its_answer_is_missing(void **state)
{
    static const char *const answers[] = {
        "", "\"inputResponses\":{},", "\"inputResponses\":{\"other\":{\"action\":\"accept\"}},"
    };
    char *sealed = ask_first(CONFIRM("a"));

    (void)state;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        int status;
        json_auto_t *asked = send_second_round(CONFIRM("a"), sealed, answers[i], &status);

        assert_string_equal(text_at(asked, "result.resultType"), "input_required");
    }
    free(sealed);
}

static void only_read_only_tools_accept_answers_to_questions_not_yet_asked(void **state)
{
    json_auto_t *asked = NULL, *answered = NULL;
    int status;

    (void)state;
    asked = send_second_round(CONFIRM("a"), "", YES, &status);
    assert_string_equal(text_at(asked, "result.resultType"), "input_required");
    assert_int_equal(count_deployments(), 0);
    answered =
        send_round("steps", ALL_CAPABILITIES,
                   "\"inputResponses\":{\"step1\":{\"action\":\"accept\",\"content\":{\"name\":"
                   "\"Ann\"}},\"step2\":{\"action\":\"accept\",\"content\":{\"colour\":\"blue\"}"
                   "}},",
                   &status);
    assert_string_equal(text_at(answered, "result.content.0.text"), "Ann likes blue");
}

static void the_sealed_state_keeps_the_answers_from_earlier_rounds(void **state)
{
    json_auto_t *first = NULL, *second = NULL, *done = NULL;
    TEXT_AUTO more = { 0 };
    char *sealed;
    int status;

    (void)state;
    first = send_round("steps", ALL_CAPABILITIES, "", &status);
    sealed = state_member(text_at(first, "result.requestState"));
    text_addf(&more,
              "%s\"inputResponses\":{\"step1\":{\"action\":\"accept\",\"content\":{\"name\":"
              "\"Ann\"}}},",
              sealed);
    free(sealed);
    second = send_round("steps", ALL_CAPABILITIES, text_string(&more), &status);
    assert_string_equal(text_at(second, "result.inputRequests.step2.params.message"),
                        "Ann, your colour?");
    assert_null(json_at(second, "result.inputRequests.step1"));
    text_clear(&more);
    sealed = state_member(text_at(second, "result.requestState"));
    text_addf(&more,
              "%s\"inputResponses\":{\"step1\":{\"action\":\"accept\",\"content\":{\"name\":"
              "\"Eve\"}},\"step2\":{\"action\":\"accept\",\"content\":{\"colour\":\"blue\"}}},",
              sealed);
    done = send_round("steps", ALL_CAPABILITIES, text_string(&more), &status);
    assert_string_equal(text_at(done, "result.content.0.text"), "Ann likes blue");
    free(sealed);
}

static void several_questions_can_be_asked_in_one_round(void **state)
{
    json_auto_t *asked = NULL;
    int status;

    (void)state;
    asked = send_round("all", ALL_CAPABILITIES, "", &status);
    assert_int_equal(json_object_size(json_at(asked, "result.inputRequests")), 3);
    assert_string_equal(text_at(asked, "result.inputRequests.roots.method"), "roots/list");
    assert_true(json_is_object(json_at(asked, "result.inputRequests.roots.params")));
}

static void a_question_that_needs_an_undeclared_capability_causes_a_protocol_error(void **state)
{
    static const struct {
        const char *tool, *capabilities, *required;
    } cases[] = {
        { "confirm", "{}", "{\"elicitation\":{}}" },
        { "all", "{\"elicitation\":{}}", "{\"sampling\":{},\"roots\":{}}" },
        { "page", "{\"elicitation\":{}}", "{\"elicitation\":{\"url\":{}}}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status;
        json_auto_t *refused =
            send_round(cases[i].tool, cases[i].capabilities, CONFIRM("a"), &status);
        FREE_AUTO char *required = NULL;

        if (strcmp(cases[i].tool, "confirm") != 0) {
            json_decref(refused);
            refused = send_round(cases[i].tool, cases[i].capabilities, "", &status);
        }
        assert_int_equal(status, 400);
        assert_int_equal(integer_at(refused, "error.code"), -32021);
        required = json_write(json_at(refused, "error.data.requiredCapabilities"));
        assert_string_equal(required, cases[i].required);
    }
}

static void an_undeclared_capability_causes_status_400_even_if_streams_are_accepted(void **state)
{
    json_auto_t *refused = NULL;
    int status;

    (void)state;
    refused =
        mcp_post_once(server_port(served.server), MODERN_HEADERS("tools/call") "Mcp-Name: page\r\n",
                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"," MODERN_PARAMS(
                          "\"name\":\"page\",") "}",
                      &status);
    assert_int_equal(status, 400);
    assert_int_equal(integer_at(refused, "error.code"), -32021);
}

static void malformed_answers_and_states_are_refused(void **state)
{
    static const char *const members[] = {
        "\"inputResponses\":null,",
        "\"inputResponses\":[],",
        "\"inputResponses\":{\"sure\":17},",
        "\"requestState\":17,",
        "\"requestState\":\"\",",
        "\"requestState\":\"1.\",",
        "\"requestState\":\"1.00000000000000000000000000000000.{}\",",
    };

    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        int status;
        json_auto_t *refused = send_second_round(CONFIRM("a"), "", members[i], &status);

        assert_int_equal(integer_at(refused, "error.code"), -32602);
        assert_int_equal(status, 200);
    }
}

static void a_state_that_was_changed_or_belongs_to_another_request_is_refused(void **state)
{
    char *sealed = ask_first(CONFIRM("a")), *tampered = memory_copy_text(sealed);
    json_auto_t *other = NULL, *spoilt = NULL, *lengthened = NULL;
    TEXT_AUTO longer = { 0 };
    int status;

    (void)state;
    other = send_second_round(CONFIRM("b"), sealed, YES, &status);
    assert_int_equal(integer_at(other, "error.code"), -32602);
    assert_non_null(strstr(text_at(other, "error.message"), "a different request"));
    tampered[strlen("\"requestState\":\"1.")] ^= 1;
    spoilt = send_second_round(CONFIRM("a"), tampered, YES, &status);
    assert_int_equal(integer_at(spoilt, "error.code"), -32602);
    text_add_bytes(&longer, sealed, strlen(sealed) - 2);
    text_add(&longer, "-TAMPERED\",");
    lengthened = send_second_round(CONFIRM("a"), text_string(&longer), YES, &status);
    assert_int_equal(integer_at(lengthened, "error.code"), -32602);
    assert_int_equal(count_deployments(), 0);
    free(sealed);
    free(tampered);
}

static void only_log_messages_at_or_above_the_requested_level_are_sent(void **state)
{
    static const struct {
        const char *member;
        size_t messages;
    } cases[] = { { "", 0 },
                  { ",\"io.modelcontextprotocol/logLevel\":\"debug\"", 3 },
                  { ",\"io.modelcontextprotocol/logLevel\":\"error\"", 1 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEXT_AUTO body = { 0 };
        TEXT_AUTO reply = { 0 };
        size_t messages = 0;

        text_addf(&body,
                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                  "\"talk\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                  "\"io.modelcontextprotocol/clientCapabilities\":{}%s}}}",
                  cases[i].member);
        assert_int_equal(http_request(server_port(served.server), "POST", "/mcp",
                                      MODERN_HEADERS("tools/call") "Mcp-Name: talk\r\n",
                                      text_string(&body), &reply),
                         200);
        for (const char *at = text_string(&reply); (at = strstr(at, "notifications/message")); at++)
            messages++;
        assert_int_equal(messages, cases[i].messages);
    }
}

static void an_unknown_log_level_is_refused(void **state)
{
    json_auto_t *reply = NULL;
    int status;

    (void)state;
    reply = mcp_post_once(
        server_port(served.server), MODERN_HEADERS("tools/call") "Mcp-Name: talk\r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"talk\","
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/logLevel\":\"loud\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
        &status);
    assert_int_equal(status, 400);
    assert_int_equal(integer_at(reply, "error.code"), -32602);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_answer_to_the_first_round_is_a_question),
        TEST(the_tool_acts_in_the_second_round),
        TEST(a_repeated_round_gets_the_same_answer_and_does_not_act_again),
        TEST(identical_concurrent_rounds_act_only_once),
        TEST(a_request_that_was_carried_out_but_not_answered_is_not_repeated),
        TEST(declining_has_no_effect_and_leaves_the_request_open),
        TEST(a_question_is_asked_again_if_its_answer_is_missing),
        TEST(only_read_only_tools_accept_answers_to_questions_not_yet_asked),
        TEST(the_sealed_state_keeps_the_answers_from_earlier_rounds),
        TEST(several_questions_can_be_asked_in_one_round),
        TEST(a_question_that_needs_an_undeclared_capability_causes_a_protocol_error),
        TEST(an_undeclared_capability_causes_status_400_even_if_streams_are_accepted),
        TEST(malformed_answers_and_states_are_refused),
        TEST(a_state_that_was_changed_or_belongs_to_another_request_is_refused),
        TEST(only_log_messages_at_or_above_the_requested_level_are_sent),
        TEST(an_unknown_log_level_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
