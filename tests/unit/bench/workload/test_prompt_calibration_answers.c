/* SPDX-License-Identifier: Apache-2.0 */
/* What the calibration of prompts learns from a server's answers: refused settings, unusual
 * streams, a missing API, answers that end early, and requests to retry later. */
#include "tests/unit/support/canned_server.h"
#include "tests/unit/support/prompt_learning.h"
#include "tests/unit/support/script_server.h"

static void the_plans_temperature_is_used_if_a_temperature_of_0_is_refused(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/chat/completions", .when = "\"temperature\":0,", .status = 422,
          .body = "{\"error\":\"`temperature` must be strictly positive\"}" },
        { "/v1/chat/completions", .when = "\"stream\":true", .type = "text/event-stream",
          .body = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n" },
        { "/v1/chat/completions", .body = "{\"choices\":[]}" },
        { NULL },
    };
    struct endpoint endpoint = { .model = "simserve/toy" };
    const struct asker asker = { &endpoint, never_stopped, NULL };
    struct canned_server server;
    struct workload workload;
    struct error error = { 0 };

    (void)state;
    canned_start(&server, answers);
    must_not_learn(server.port, BENCH_CHAT,
                   "the server refuses a \"temperature\" of 0: set another");
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", server.port);
    if (!prompt_calibration_workload(&asker, BENCH_CHAT, "\"temperature\":0.7", &workload, &error))
        fail_msg("%s", error.message);
    canned_stop(&server);
}

static void prompts_can_be_made_for_a_server_that_always_streams(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/chat/completions", .type = "text/event-stream",
          .body =
              "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n"
              "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":1}}\n\n"
              "data: [DONE]\n\n" },
        { NULL },
    };
    struct canned_server server;
    struct workload workload;

    (void)state;
    canned_start(&server, answers);
    learn(server.port, BENCH_CHAT, &workload);
    canned_stop(&server);
    assert_true(workload.reports_usage); /* but only at the end of a stream, not for prompts */
    assert_string_equal(workload.source, "words, tokens not reported");
}

#define PINGS ": ping\n\n: ping\n\n: ping\n\n: ping\n\n: ping\n\n: ping\n\n: ping\n\n: ping\n\n"

/* A gateway can keep sending comments long after its backend has died. */
static void a_stream_fails_if_only_comments_follow_its_first_event(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/chat/completions", .when = "\"stream\":true", .type = "text/event-stream",
          .body = "data: {}\n\n" PINGS PINGS PINGS PINGS PINGS PINGS PINGS PINGS, .piece_bytes = 8,
          .pause_ms = 100 },
        { "/v1/chat/completions", .body = "{\"choices\":[]}" },
        { NULL },
    };
    struct endpoint endpoint = { .model = "simserve/toy" };
    const struct asker asker = { &endpoint, never_stopped, NULL, .silence_limit_ms = 300 };
    struct canned_server server;
    struct workload workload;
    struct error error = { 0 };

    (void)state;
    canned_start(&server, answers);
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", server.port);
    assert_false(prompt_calibration_workload(&asker, BENCH_CHAT, "", &workload, &error));
    canned_stop(&server);
    assert_non_null(strstr(error.message, "for more than 0.3 s (events before that: 1)"));
}

static void if_an_api_is_missing_the_other_one_is_suggested(void **state)
{
    static const struct canned_answer answers[] = { { NULL } };
    struct canned_server server;

    (void)state;
    canned_start(&server, answers);
    must_not_learn(server.port, BENCH_COMPLETIONS, "sweep with \"api\": \"chat\"");
    must_not_learn(server.port, BENCH_CHAT, "sweep with \"api\": \"completions\"");
    canned_stop(&server);
}

#define ENDED(reason, tokens)                                                                      \
    "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"" reason "\"}]}\n\n"   \
    "data: {\"choices\":[],\"usage\":{\"completion_tokens\":" tokens "}}\n\ndata: [DONE]\n\n"

/* Whether a plan for at most 64 output tokens can be run on a server that gives these answers. */
static bool can_sweep(const struct canned_answer *answers, bool natural_output, struct error *error)
{
    const struct plan plan = { .output_tokens = { 8, 64 },
                               .output_count = 2,
                               .natural_output = natural_output };
    struct endpoint endpoint = { .model = "simserve/toy" };
    const struct asker asker = { &endpoint, never_stopped, NULL };
    struct canned_server server;
    struct workload workload;
    bool can;

    canned_start(&server, answers);
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", server.port);
    if (!prompt_calibration_workload(&asker, BENCH_CHAT, "", &workload, error))
        fail_msg("%s", error->message);
    can = prompt_calibration_sampling(&asker, &plan, &workload, error);
    canned_stop(&server);
    return can;
}

/* Ollama, LM Studio, TGI and proxies accept fields that they do not know, and ignore them. With
 * such servers, min_tokens does not keep an answer from ending early. */
static void a_server_whose_answers_end_early_is_refused_without_natural_output(void **state)
{
    static const struct canned_answer stops[] = {
        { "/v1/chat/completions", .when = "\"stream\":true", .type = "text/event-stream",
          .body = ENDED("stop", "7") },
        { "/v1/chat/completions", .body = "{\"choices\":[]}" },
        { NULL },
    };
    struct error error;

    (void)state;
    assert_false(can_sweep(stops, false, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_non_null(strstr(error.message, "after 7 and 7 of 64 output tokens"));
    assert_non_null(strstr(error.message, "give natural_output true"));
    assert_true(can_sweep(stops, true, &error));
}

static void one_early_end_or_an_end_for_length_does_not_prevent_the_sweep(void **state)
{
    static const struct canned_answer by_length[] = {
        { "/v1/chat/completions", .when = "\"stream\":true", .type = "text/event-stream",
          .body = ENDED("length", "7") },
        { "/v1/chat/completions", .body = "{\"choices\":[]}" },
        { NULL },
    };
    static const struct canned_answer early_once[] = {
        /* Only the longer of the two trial prompts contains these two words. */
        { "/v1/chat/completions", .when = "has first", .type = "text/event-stream",
          .body = ENDED("length", "64") },
        { "/v1/chat/completions", .when = "\"stream\":true", .type = "text/event-stream",
          .body = ENDED("stop", "7") },
        { "/v1/chat/completions", .body = "{\"choices\":[]}" },
        { NULL },
    };
    struct error error;

    (void)state;
    assert_true(can_sweep(by_length, false, &error));
    assert_true(can_sweep(early_once, false, &error));
}

static void a_server_can_say_in_many_ways_that_it_has_only_the_other_api(void **state)
{
    static const struct canned_answer refusals[] = {
        { "/v1/chat/completions", .status = 404, .body = "{\"detail\":\"Not Found\"}" },
        { "/v1/chat/completions", .status = 405, .body = "{\"detail\":\"Method Not Allowed\"}" },
        { "/v1/chat/completions", .status = 501, .body = "" },
        { "/v1/chat/completions", .status = 400,
          .body = "{\"message\":\"The model does not support Chat Completions API\"}" },
        { "/v1/chat/completions", .status = 400,
          .body = "{\"error\":{\"message\":\"you must provide a chat template\"}}" },
        { "/v1/chat/completions", .status = 500,
          .body = "{\"error\":\"chat is not implemented\"}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct canned_answer answers[] = { refusals[i], { NULL } };
        struct canned_server server;

        canned_start(&server, answers);
        must_not_learn(server.port, BENCH_CHAT, "sweep with \"api\": \"completions\"");
        canned_stop(&server);
    }
}

static void a_refusal_of_something_else_is_not_taken_for_a_missing_api(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/chat/completions", .status = 400,
          .body = "{\"error\":{\"message\":\"Unsupported parameter: 'max_tokens' in chat\"}}" },
        { NULL },
    };
    struct endpoint endpoint = { .model = "simserve/toy" };
    const struct asker asker = { &endpoint, never_stopped, NULL };
    struct canned_server server;
    struct workload workload;
    struct error error = { 0 };

    (void)state;
    canned_start(&server, answers);
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", server.port);
    assert_false(prompt_calibration_workload(&asker, BENCH_CHAT, "", &workload, &error));
    canned_stop(&server);
    assert_non_null(strstr(error.message, "Unsupported parameter"));
    assert_null(strstr(error.message, "other API"));
}

#define BUSY(seconds) "HTTP/1.1 429 Busy\r\nRetry-After: " seconds "\r\nContent-Length: 0\r\n\r\n"
#define STREAM                                                                                     \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"                                   \
    "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"usage\":{\"prompt_tokens\":9,"         \
    "\"completion_tokens\":1}}\n\ndata: [DONE]\n\n"

static void a_request_is_repeated_after_a_429_with_retry_after(void **state)
{
    static const struct script_step steps[] = { { .bytes = STREAM, .after = SCRIPT_CLOSE },
                                                { .bytes = BUSY("1"), .after = SCRIPT_CLOSE },
                                                { .bytes = BUSY("0"), .after = SCRIPT_CLOSE },
                                                { .bytes = STREAM, .after = SCRIPT_CLOSE },
                                                { 0 } };
    struct script_server server;
    struct workload workload;

    (void)state;
    script_start(&server, steps);
    learn(server.port, BENCH_CHAT, &workload);
    script_stop(&server);
    assert_int_equal(server.next, 3);
}

static void calibration_fails_if_it_would_have_to_wait_longer_than_two_minutes(void **state)
{
    static const struct script_step steps[] = { { .bytes = BUSY("121"), .after = SCRIPT_CLOSE },
                                                { 0 } };
    struct script_server server;

    (void)state;
    script_start(&server, steps);
    must_not_learn(server.port, BENCH_CHAT, "429");
    script_stop(&server);
}

/* Returns true once the server has answered a request and closed its connection. */
static bool has_answered(void *context)
{
    const struct script_server *server = context;

    return server->closed > 0;
}

static void a_wait_that_the_server_asks_for_ends_when_the_job_stops(void **state)
{
    static const struct script_step steps[] = { { .bytes = BUSY("100"), .after = SCRIPT_CLOSE },
                                                { 0 } };
    struct endpoint endpoint = { .model = "simserve/toy" };
    struct script_server server;
    const struct asker asker = { &endpoint, has_answered, &server };
    struct workload workload;
    struct error error = { 0 };

    (void)state;
    script_start(&server, steps);
    snprintf(endpoint.url, sizeof endpoint.url, "http://127.0.0.1:%d", server.port);
    assert_false(prompt_calibration_workload(&asker, BENCH_CHAT, "", &workload, &error));
    script_stop(&server);
    assert_int_equal(error.kind, ERROR_CANCELLED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plans_temperature_is_used_if_a_temperature_of_0_is_refused),
        cmocka_unit_test(prompts_can_be_made_for_a_server_that_always_streams),
        cmocka_unit_test(a_stream_fails_if_only_comments_follow_its_first_event),
        cmocka_unit_test(if_an_api_is_missing_the_other_one_is_suggested),
        cmocka_unit_test(a_server_whose_answers_end_early_is_refused_without_natural_output),
        cmocka_unit_test(one_early_end_or_an_end_for_length_does_not_prevent_the_sweep),
        cmocka_unit_test(a_server_can_say_in_many_ways_that_it_has_only_the_other_api),
        cmocka_unit_test(a_refusal_of_something_else_is_not_taken_for_a_missing_api),
        cmocka_unit_test(a_request_is_repeated_after_a_429_with_retry_after),
        cmocka_unit_test(calibration_fails_if_it_would_have_to_wait_longer_than_two_minutes),
        cmocka_unit_test(a_wait_that_the_server_asks_for_ends_when_the_job_stops),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
