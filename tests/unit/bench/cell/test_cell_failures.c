/* SPDX-License-Identifier: Apache-2.0 */
/* The failure classes of a cell's requests, and peculiar answers that are not failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "base/net/outbound.h"
#include "bench/cell/cell.h"
#include "tests/unit/support/canned_server.h"
#include "tests/unit/support/cell_trial.h"

struct expectation {
    const char *fault; /* for simserve's --fault; NAME=1 applies it to every request */
    enum cell_state state;
    const char *reason;
};

static const struct expectation expectations[] = {
    { "unauthorized=1", CELL_FAILED, "auth: " },
    { "too_long=1", CELL_INFEASIBLE, "too_long: This model's maximum context length" },
    { "rate_limited=1", CELL_FAILED, "rate_limited: " },
    { "internal=1", CELL_FAILED, "server_error: " },
    { "unavailable=1", CELL_FAILED, "overloaded_503: " },
    { "reset_before_headers=1", CELL_FAILED, "reset: " },
    { "stall_before_first=1", CELL_FAILED, "ttft_timeout: " },
    { "stall_mid_stream=1", CELL_FAILED, "idle_timeout: " },
    { "reset_mid_stream=1", CELL_FAILED, "reset: " },
    { "error_event=1", CELL_FAILED, "stream_error: EngineCore" },
    { "truncated=1", CELL_FAILED, "truncated: the stream ended after 3 chunks" },
    { "short_output=1", CELL_FAILED, "short_output: the model stopped after 4 of 8" },
    { "aborted=1", CELL_FAILED,
      "aborted: the server ended the answer with the finish reason 'abort'" },
    { "prompt_truncated=1", CELL_INFEASIBLE, "short_input: the server counted 32 of the 64" },
    { "not_sse=1", CELL_FAILED, "protocol: the server does not stream" },
};

#define EXPECTATIONS (sizeof expectations / sizeof *expectations)

static void check_failure(struct trial *trial, const struct expectation *expected)
{
    const struct measurement *m = await(trial);

    if (trial->result.state != expected->state
        || strncmp(trial->result.reason, expected->reason, strlen(expected->reason)) != 0)
        fail_msg("%s: got %s, %s; expected %s, %s", expected->fault,
                 cell_state_name(trial->result.state), trial->result.reason,
                 cell_state_name(expected->state), expected->reason);
    assert_true(m->attempted > 0);
    assert_int_equal(m->succeeded, 0);
    assert_true(m->first_error[0] != '\0');
    tear_down(trial);
}

static void each_fault_leads_to_its_cell_state_and_failure_class(void **state)
{
    struct trial trials[EXPECTATIONS];

    (void)state;
    for (size_t i = 0; i < EXPECTATIONS; i++) {
        set_up(&trials[i], (const char *[]){ "--fault", expectations[i].fault, NULL });
        begin(&trials[i]);
    }
    for (size_t i = 0; i < EXPECTATIONS; i++)
        check_failure(&trials[i], &expectations[i]);
}

/* Peculiarities of some servers that are not failures, for simserve's --fault. NAME=1 applies to
 * every request, NAME/7 to every seventh. */
static const char *const peculiarities[] = {
    "missing_done=1",     "usage_in_last_content=1", "usage_in_every_chunk=1", "usage_null=1",
    "usage_as_timings=1", "missing_finish=1",        "wrong_finish_reason=1",  "comment_lines=1",
    "crlf_lines=1",       "no_space_after_data=1",   "split_events=1",         "joined_events=1",
    "slow_headers/7",     "close_after_answer/3",
};

#define PECULIARITIES (sizeof peculiarities / sizeof *peculiarities)

static void check_peculiar(struct trial *trial, const char *fault)
{
    const struct measurement *m = await(trial);

    if (trial->result.state != CELL_MEASURED || m->succeeded != m->attempted)
        fail_msg("%s: %s %s, %ld of %ld requests succeeded: %s", fault,
                 cell_state_name(trial->result.state), trial->result.reason, m->succeeded,
                 m->attempted, m->first_error);
    assert_true(m->succeeded >= trial->plan.requests);
    assert_int_equal(m->output_tokens_min, 8);
    assert_int_equal(m->output_tokens_max, 8);
    assert_int_equal(m->input_tokens_max, 64);
    assert_true(m->latency[METRIC_ITL].count <= m->latency[METRIC_ICL].count);
    assert_true(m->latency[METRIC_ITL].count > 0 && m->latency[METRIC_ITL].min_ms > 0);
    assert_int_equal(m->finish_wrong,
                     strcmp(fault, "wrong_finish_reason=1") == 0 ? m->succeeded : 0);
    assert_int_equal(m->finish_missing, strcmp(fault, "missing_finish=1") == 0 ? m->succeeded : 0);
    assert_int_equal(m->done_missing, strcmp(fault, "missing_done=1") == 0 ? m->succeeded : 0);
    tear_down(trial);
}

/* Even if several chunks arrive at once, the gap before each of their tokens is above zero. */
static void tokens_that_arrive_together_share_the_gap_before_them(void **state)
{
    static const struct {
        const char *tokens_per_chunk;
        unsigned field;
    } rows[] = { { "1", 0 }, { "1", FIELD_CHUNK_USAGE }, { "2", FIELD_CHUNK_USAGE } };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct trial trial;

        set_up(&trial, (const char *[]){ "--fault", "joined_events=1", "--step-ms", "10",
                                         "--tokens-per-chunk", rows[i].tokens_per_chunk, NULL });
        trial.workload.fields |= rows[i].field;
        trial.order.output_tokens = 33;
        trial.order.concurrency = 1;
        trial.plan.requests = 3;
        const struct measurement *m = measure(&trial);
        assert_true(m->latency[METRIC_ITL].min_ms > 0);
        assert_float_equal(m->latency[METRIC_ITL].p50_ms, i == 2 ? 5 : 10, 3);
        tear_down(&trial);
    }
}

static void peculiar_streams_are_not_failures(void **state)
{
    struct trial trials[PECULIARITIES];

    (void)state;
    for (size_t i = 0; i < PECULIARITIES; i++) {
        set_up(&trials[i],
               (const char *[]){ "--fault", peculiarities[i], "--slow-headers-ms", "20", NULL });
        trials[i].plan.warmup_limit_s = 0;
        trials[i].plan.requests = 24;
        trials[i].plan.window_s = 30;
        trials[i].plan.ttft_timeout_s = trials[i].plan.idle_timeout_s = 10;
        begin(&trials[i]);
    }
    for (size_t i = 0; i < PECULIARITIES; i++)
        check_peculiar(&trials[i], peculiarities[i]);
}

static void an_answer_that_the_servers_own_limit_shortens_is_not_a_success(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "short_output=1", "--fault",
                                     "wrong_finish_reason=1", NULL });
    measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_string_equal(
        trial.result.reason,
        "short_output: the answer ended with finish reason 'length' after 4 of 8 output tokens, "
        "so the server has a lower limit of its own");
    tear_down(&trial);
}

static void timeouts_are_censored_values_in_the_distribution(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "stall_before_first/8", NULL });
    trial.order.probe = false;
    trial.plan.ttft_timeout_s = 0.5;
    trial.plan.window_s = 1.2;
    const struct measurement *m = measure(&trial);
    const struct latency_summary *ttft = &m->latency[METRIC_TTFT];
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_true(m->failures[FAILURE_TTFT_TIMEOUT] > 0);
    assert_int_equal(ttft->censored, m->failures[FAILURE_TTFT_TIMEOUT]);
    assert_int_equal(ttft->count, m->succeeded + ttft->censored);
    assert_true(ttft->p99_censored && ttft->p99_ms >= 499);
    assert_false(ttft->p50_censored);
    assert_int_equal(m->attempted, m->succeeded + m->failures[FAILURE_TTFT_TIMEOUT]);
    tear_down(&trial);
}

static void fast_failures_do_not_improve_latency(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "internal/2", "--ttft-ms", "50", NULL });
    trial.order.probe = false;
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_true(m->failures[FAILURE_SERVER_ERROR] > 0);
    assert_true(m->latency[METRIC_TTFT].min_ms >= 50);
    assert_int_equal(m->latency[METRIC_TTFT].count, m->succeeded);
    tear_down(&trial);
}

static void a_server_that_only_fails_ends_the_cell_early(void **state)
{
    struct trial trial;
    int64_t begun_ns = clock_monotonic_ns();

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "internal=1", NULL });
    trial.order.probe = false;
    trial.plan.warmup_limit_s = 60;
    trial.plan.window_s = 60;
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_true(m->attempted >= 20 && m->attempted < 100); /* the server is not flooded */
    assert_int_equal(m->failures[FAILURE_SERVER_ERROR], m->attempted);
    assert_true(clock_monotonic_ns() - begun_ns < 30000000000);
    tear_down(&trial);
}

/* llama.cpp does not refuse a request whose output does not fit: its answer is just shorter. */
static void output_that_does_not_fit_after_the_input_is_infeasible(void **state)
{
    static const char *const flags[] = { "--max-model-len", "128", "--ends-at-context", NULL };
    struct trial trial;

    (void)state;
    set_up(&trial, flags);
    trial.order.input_tokens = 100;
    trial.order.output_tokens = 32;
    trial.order.context_tokens = 128;
    measure(&trial);
    assert_int_equal(trial.result.state, CELL_INFEASIBLE);
    assert_string_equal(trial.result.reason,
                        "too_long: 100 input and 32 output tokens make 132, more than the model's "
                        "context of 128: the answer ended after 28 output tokens");
    prepare_again(&trial);
    trial.order.output_tokens = 28;
    measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    tear_down(&trial);
}

static void reports_a_server_that_cannot_be_reached(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, NULL);
    snprintf(trial.endpoint.url, sizeof trial.endpoint.url, "http://127.0.0.1:9");
    measure(&trial);
    assert_memory_equal(trial.result.reason, "connect_refused: ", 17);
    cell_result_finish(&trial.result);
    snprintf(trial.endpoint.url, sizeof trial.endpoint.url, "http://no-such-host.invalid:80");
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_non_null(strstr(trial.result.reason, "'no-such-host.invalid' does not resolve"));
    assert_int_equal(m->failures[FAILURE_DNS], 1);
    cell_result_finish(&trial.result);
    snprintf(trial.endpoint.url, sizeof trial.endpoint.url, "http://169.254.169.254:80");
    measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    tear_down(&trial);
}

#define PIECE "data: {\"choices\":[{\"text\":\" a\"}]}\n\n"

static void a_stream_of_type_text_plain_is_read_but_a_usage_of_zero_is_ignored(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/completions", .type = "text/plain",
          .body = PIECE PIECE PIECE PIECE PIECE PIECE PIECE PIECE
          "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}],"
          "\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0}}\n\ndata: [DONE]\n\n" },
        { NULL }
    };
    static struct canned_server server;
    const struct measurement *m;
    struct trial trial;

    (void)state;
    canned_start(&server, answers);
    set_up(&trial, NULL);
    snprintf(trial.endpoint.url, sizeof trial.endpoint.url, "http://127.0.0.1:%d", server.port);
    trial.order.concurrency = 1;
    m = measure(&trial);
    if (trial.result.state != CELL_MEASURED)
        fail_msg("%s", trial.result.reason);
    assert_true(m->succeeded > 0);
    assert_int_equal(m->succeeded, m->attempted);
    assert_int_equal(m->output_tokens_min, 8);
    assert_true(m->tokens_estimated);
    tear_down(&trial);
    canned_stop(&server);
}

static void a_stream_that_says_the_prompt_is_too_long_makes_a_cell_infeasible(void **state)
{
    static const struct canned_answer answers[] = {
        { "/v1/completions", .type = "text/event-stream",
          .body =
              "data: {\"error\":{\"message\":\"The input (64 tokens) is longer than the model's "
              "context length (32 tokens).\",\"code\":400}}\n\ndata: [DONE]\n\n" },
        { NULL }
    };
    static struct canned_server server;
    struct trial trial;

    (void)state;
    canned_start(&server, answers);
    set_up(&trial, NULL);
    snprintf(trial.endpoint.url, sizeof trial.endpoint.url, "http://127.0.0.1:%d", server.port);
    measure(&trial);
    assert_int_equal(trial.result.state, CELL_INFEASIBLE);
    assert_non_null(strstr(trial.result.reason, "too_long: The input (64 tokens) is longer"));
    tear_down(&trial);
    canned_stop(&server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_that_says_the_prompt_is_too_long_makes_a_cell_infeasible),
        cmocka_unit_test(a_stream_of_type_text_plain_is_read_but_a_usage_of_zero_is_ignored),
        cmocka_unit_test(each_fault_leads_to_its_cell_state_and_failure_class),
        cmocka_unit_test(peculiar_streams_are_not_failures),
        cmocka_unit_test(tokens_that_arrive_together_share_the_gap_before_them),
        cmocka_unit_test(an_answer_that_the_servers_own_limit_shortens_is_not_a_success),
        cmocka_unit_test(timeouts_are_censored_values_in_the_distribution),
        cmocka_unit_test(fast_failures_do_not_improve_latency),
        cmocka_unit_test(a_server_that_only_fails_ends_the_cell_early),
        cmocka_unit_test(output_that_does_not_fit_after_the_input_is_infeasible),
        cmocka_unit_test(reports_a_server_that_cannot_be_reached),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
