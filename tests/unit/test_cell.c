/* One cell at a time against a real model server: its figures against the server's own record, and
 * the class of each way to fail. */
#include "bench/cell.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/unit/canned_server.h"
#include "tests/unit/cell_trial.h"

/* ---- Figures --------------------------------------------------------------------------------- */

static void figures_agree_with_the_servers_record(void **state)
{
    struct trial trial;
    struct truth truth;

    (void)state;
    set_up(&trial, (const char *[]){ "--jitter", "0.3", NULL });
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_int_equal(m->latency[METRIC_TTFO].count, 0); /* there was no reasoning before */
    assert_int_equal(m->latency[METRIC_ICL].count, m->latency[METRIC_ITL].count);
    truth_create(&truth);
    if (!truth_read(trial.endpoint.url, &trial.result, trial.order.nonce, &truth, &trial.error))
        fail_msg("%s", trial.error.message);
    assert_int_equal(truth.joined, m->succeeded);
    assert_int_equal(histogram_count(truth.ttft), m->latency[METRIC_TTFT].count);
    assert_in_range(histogram_count(truth.itl), m->latency[METRIC_ITL].count - 8,
                    m->latency[METRIC_ITL].count + 8); /* chunks under way at the bounds */
    check_quantile(trial.result.histograms[METRIC_TTFT], truth.ttft, 0.5, m);
    check_quantile(trial.result.histograms[METRIC_TTFT], truth.ttft, 0.99, m);
    check_quantile(trial.result.histograms[METRIC_ITL], truth.itl, 0.5, m);
    check_quantile(trial.result.histograms[METRIC_ITL], truth.itl, 0.99, m);
    truth_finish(&truth);
    tear_down(&trial);
}

static void counts_what_it_sent_and_got(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--cached-tokens-in-usage", "true", NULL });
    trial.plan.warmup_limit_s = 0.5;
    trial.plan.window_s = 0.6;
    const struct measurement *m = measure(&trial);
    assert_true(m->succeeded > 20);
    assert_int_equal(m->attempted, m->succeeded);
    assert_true(m->success_rate == 1);
    assert_int_equal(m->input_tokens_min, 64);
    assert_int_equal(m->input_tokens_max, 64);
    assert_int_equal(m->output_tokens_min, 8);
    assert_int_equal(m->output_tokens_max, 8);
    assert_int_equal(m->input_tokens, 64 * m->succeeded);
    assert_int_equal(m->cached_tokens, 0);
    assert_false(m->tokens_estimated);
    assert_true(fabs(m->output_throughput / m->request_throughput - 8) < 0.8);
    assert_true(m->goodput == m->request_throughput);
    assert_true(m->concurrency_actual > 0.95 * 4 && m->concurrency_actual <= 4.001);
    assert_in_range(m->concurrency_max, 4, 4);
    assert_true(fabs(m->little_ratio - 1) < 0.1); /* a stalled machine: waves of requests */
    assert_true(m->window_s >= 0.6 && m->window_s < 2);
    assert_true(m->cpu_percent > 0);
    assert_in_range(m->new_connections, 4, 5); /* the probe's is one of the users' */
    assert_true(m->connect_p50_ms > 0 && m->connect_p50_ms <= m->connect_p99_ms);
    assert_true(isnan(m->tls_p50_ms));
    assert_true(m->latency[METRIC_TPOT].p50_ms > 1.9 - m->lag_p99_ms); /* a late first chunk */
    assert_true(m->latency[METRIC_E2E].p50_ms > 5 + 7 * 1.9);
    tear_down(&trial);
}

static void the_cold_request_is_kept_apart(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--cold-shape-ms", "400", NULL });
    const struct measurement *m = measure(&trial);
    assert_true(m->cold_ttft_ms >= 400);
    assert_true(m->latency[METRIC_TTFT].max_ms < 400);
    again(&trial);
    trial.order.probe = false;
    m = measure(&trial);
    assert_true(isnan(m->cold_ttft_ms));
    tear_down(&trial);
}

static void tokens_are_not_chunks(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--tokens-per-chunk", "3", NULL });
    trial.order.output_tokens = 31;
    const struct measurement *m = measure(&trial);
    assert_int_equal(m->output_tokens_min, 31);
    assert_true(m->chunks > 0);
    assert_true(fabs((double)m->output_tokens / (double)m->chunks - 31.0 / 11) < 0.2);
    tear_down(&trial);
}

/* Chunks of three tokens every 9 ms. */
static void set_up_wide_chunks(struct trial *trial)
{
    set_up(trial, (const char *[]){ "--tokens-per-chunk", "3", "--step-ms", "9", NULL });
    trial->order.output_tokens = 31;
}

static void gaps_between_tokens_are_known_where_each_chunk_tells_its_own(void **state)
{
    struct trial trial;
    struct truth truth;

    (void)state;
    set_up_wide_chunks(&trial);
    trial.workload.fields |= FIELD_CHUNK_USAGE;
    const struct measurement *m = measure(&trial);
    const struct latency_summary *icl = &m->latency[METRIC_ICL], *itl = &m->latency[METRIC_ITL];
    truth_create(&truth);
    assert_true(
        truth_read(trial.endpoint.url, &trial.result, trial.order.nonce, &truth, &trial.error));
    check_quantile(trial.result.histograms[METRIC_ICL], truth.itl, 0.5, m);
    assert_true(fabs(m->tokens_per_chunk - 31.0 / 11) < 0.2);
    assert_int_equal(itl->count, 3 * icl->count);
    assert_true(fabs(3 * itl->mean_ms - icl->mean_ms) < 0.001);
    assert_true(fabs(m->latency[METRIC_TPOT].p50_ms - 3) < 1 + m->lag_p99_ms);
    assert_true(m->latency[METRIC_TTST].p50_ms > 9 - 1 - m->lag_p99_ms);
    truth_finish(&truth);
    tear_down(&trial);
}

static void gaps_between_tokens_are_unknown_where_chunks_have_several(void **state)
{
    struct trial trial;

    (void)state;
    set_up_wide_chunks(&trial);
    const struct measurement *m = measure(&trial);
    assert_true(fabs(m->tokens_per_chunk - 31.0 / 11) < 0.2);
    assert_true(m->latency[METRIC_ICL].p50_ms > 9 - 1 - m->lag_p99_ms);
    assert_int_equal(m->latency[METRIC_ITL].count, 0);
    assert_true(m->latency[METRIC_TPOT].p50_ms < 9);
    tear_down(&trial);
}

static void chat_prompts_have_the_length_asked_for(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, NULL);
    make_workload(&trial.workload, BENCH_CHAT);
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_int_equal(m->input_tokens_min, 64);
    assert_int_equal(m->input_tokens_max, 64);
    cell_result_finish(&trial.result);
    trial.order.input_tokens = 11;
    measure(&trial);
    assert_int_equal(trial.result.state, CELL_INFEASIBLE);
    assert_non_null(strstr(trial.result.reason, "the shortest has 12"));
    tear_down(&trial);
}

static void goodput_counts_what_met_the_limits(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, NULL);
    trial.plan.goodput_ttft_ms = 1000;
    trial.plan.goodput_tpot_ms = 1;
    const struct measurement *m = measure(&trial);
    assert_true(m->goodput < 0.5 * m->request_throughput); /* a token takes 2 ms */
    tear_down(&trial);
}

static void several_threads_add_up(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--ttft-ms", "400", "--max-running", "4000", NULL });
    trial.order.concurrency = 2100;
    trial.order.output_tokens = 2;
    trial.order.shards = 2;
    trial.plan.ttft_timeout_s = 20;
    trial.plan.warmup_limit_s = 0.4;
    trial.plan.requests = 4000; /* until every user is at its second, however slow the machine */
    trial.plan.window_s = 30;
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_int_equal(m->attempted, m->succeeded);
    assert_true(m->concurrency_max > 1050); /* more than one thread has */
    tear_down(&trial);
}

/* ---- Failures -------------------------------------------------------------------------------- */

struct expectation {
    const char *fault;
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
        fail_msg("%s: %s, %s", expected->fault, cell_state_name(trial->result.state),
                 trial->result.reason);
    assert_true(m->attempted > 0);
    assert_int_equal(m->succeeded, 0);
    assert_true(m->first_error[0] != '\0');
    tear_down(trial);
}

static void each_fault_has_its_class(void **state)
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

/* What servers do that is no failure. */
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
        fail_msg("%s: %s %s, %ld of %ld: %s", fault, cell_state_name(trial->result.state),
                 trial->result.reason, m->succeeded, m->attempted, m->first_error);
    assert_true(m->succeeded >= trial->plan.requests);
    assert_int_equal(m->output_tokens_min, 8);
    assert_int_equal(m->output_tokens_max, 8);
    assert_int_equal(m->input_tokens_max, 64);
    assert_int_equal(m->latency[METRIC_ITL].count, m->latency[METRIC_ICL].count);
    assert_int_equal(m->finish_wrong,
                     strcmp(fault, "wrong_finish_reason=1") == 0 ? m->succeeded : 0);
    assert_int_equal(m->finish_missing, strcmp(fault, "missing_finish=1") == 0 ? m->succeeded : 0);
    assert_int_equal(m->done_missing, strcmp(fault, "missing_done=1") == 0 ? m->succeeded : 0);
    tear_down(trial);
}

static void peculiar_streams_are_read_right(void **state)
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

static void a_limit_of_the_servers_own_is_no_success(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "short_output=1", "--fault",
                                     "wrong_finish_reason=1", NULL });
    measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_string_equal(trial.result.reason,
                        "short_output: the answer ended by its length after 4 of 8 output tokens: "
                        "the server has a lower limit of its own");
    tear_down(&trial);
}

static void tool_calls_are_output(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "tool_call=1", NULL });
    make_workload(&trial.workload, BENCH_CHAT);
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_int_equal(m->latency[METRIC_TTFT].count, m->succeeded);
    assert_int_equal(m->latency[METRIC_TTFO].count, 0);
    assert_true(fabs(m->tokens_per_chunk - 1) < 0.01);
    tear_down(&trial);
}

static void without_usage_tokens_are_estimated_and_marked(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "missing_usage=1", NULL });
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_true(m->tokens_estimated);
    assert_int_equal(m->output_tokens, m->chunks);
    assert_true(isnan(m->tokens_per_chunk));
    assert_int_equal(m->latency[METRIC_ITL].count, 0); /* of chunks alone */
    assert_true(m->latency[METRIC_ICL].count > 0);
    assert_int_equal(m->input_tokens, 64 * m->succeeded);
    assert_true(isnan(m->input_tokens_mean));
    tear_down(&trial);
}

static void requests_have_the_lengths_that_were_drawn_for_them(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--cached-tokens-in-usage", "true", NULL });
    trial.plan.input_distribution = DISTRIBUTION_LOGNORMAL;
    trial.plan.input_spread = 0.5;
    trial.plan.output_distribution = DISTRIBUTION_UNIFORM;
    trial.plan.output_spread = 0.5;
    const struct measurement *m = measure(&trial);
    assert_int_equal(m->succeeded, m->attempted);
    assert_int_equal(m->input_tokens_differing + m->output_tokens_differing, 0);
    assert_true(m->input_tokens_requested_mean == m->input_tokens_mean);
    assert_int_equal(m->input_tokens_requested_min, m->input_tokens_min);
    assert_int_equal(m->input_tokens_requested_max, m->input_tokens_max);
    assert_true(m->output_tokens_requested_mean == m->output_tokens_mean);
    assert_int_equal(m->output_tokens_requested_min, m->output_tokens_min);
    assert_int_equal(m->output_tokens_requested_max, m->output_tokens_max);
    assert_true(m->input_tokens_max > m->input_tokens_min + 20);
    assert_true(m->output_tokens_min >= 4 && m->output_tokens_max <= 12);
    assert_int_equal(m->lengths_cut + m->cached_tokens + m->shared_tokens, 0);
    assert_int_equal(m->cached_told, m->succeeded);
    tear_down(&trial);
}

static void shared_prefixes_are_cached_as_far_as_they_are_shared(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--cached-tokens-in-usage", "true", NULL });
    trial.plan.shared_prefix_tokens = 48; /* three blocks of simserve's cache */
    trial.plan.prefix_pools = 2;
    const struct measurement *m = measure(&trial);
    assert_int_equal(m->input_tokens_min, 64);
    assert_int_equal(m->input_tokens_max, 64);
    assert_int_equal(m->shared_tokens, 48 * m->succeeded);
    assert_in_range(m->cached_tokens, m->shared_tokens * 9 / 10, m->shared_tokens);
    tear_down(&trial);
}

static void answers_may_end_early_where_the_plan_lets_them(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--natural-tokens", "5", NULL });
    trial.plan.natural_output = true;
    workload_take_plan(&trial.workload, &trial.plan);
    const struct measurement *m = measure(&trial);
    assert_int_equal(m->succeeded, m->attempted);
    assert_int_equal(m->output_tokens_max, 5);
    assert_int_equal(m->output_tokens_requested_max, 8);
    assert_int_equal(m->output_tokens_differing, 0);
    tear_down(&trial);
}

static void reasoning_counts_for_the_first_token(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "reasoning_first=1", "--step-ms", "30",
                                     "--reasoning-tokens-in-usage", "true", NULL });
    make_workload(&trial.workload, BENCH_CHAT);
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_true(m->latency[METRIC_TTFT].p50_ms < 5 + 3 * 30); /* content comes after three steps */
    assert_int_equal(m->latency[METRIC_TTFO].count, m->latency[METRIC_TTFT].count);
    assert_true(m->latency[METRIC_TTFO].min_ms >= 5 + 3 * 30 - 1);
    assert_true(m->reasoning_tokens_mean == 3);
    tear_down(&trial);
}

static void timeouts_are_censored_in_the_distribution(void **state)
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
    assert_true(m->attempted >= 20 && m->attempted < 100); /* it is not stormed */
    assert_int_equal(m->failures[FAILURE_SERVER_ERROR], m->attempted);
    assert_true(clock_monotonic_ns() - begun_ns < 30000000000);
    tear_down(&trial);
}

static void says_when_nobody_can_be_reached(void **state)
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

static void stops_when_it_is_told_to(void **state)
{
    struct trial trial;
    int64_t now_ns;

    (void)state;
    set_up(&trial, NULL);
    trial.plan.window_s = 600;
    trial.stop_ns = clock_monotonic_ns() + 1000000000;
    assert_false(cell_measure(&trial.order, &trial.result, &trial.error));
    now_ns = clock_monotonic_ns();
    assert_string_equal(error_kind_name(trial.error.kind), error_kind_name(ERROR_CANCELLED));
    assert_true(now_ns - trial.stop_ns < 500000000);
    tear_down(&trial);
}

/* ---- Connections that the server drops ------------------------------------------------------- */

static const char whole_answer[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 131\r\n\r\n"
    "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":64,\"completion_tokens\":8}}\n\n"
    "data: [DONE]          \n\n";

/* Answers the first request of a connection and closes it when the second one comes; of every other
 * connection, where it fails fresh ones too, when the first one comes. */
struct dropper {
    int listener;
    bool fails_fresh;
    pthread_t thread;
    int64_t answered, dropped_old, dropped_fresh;
};

static void *drop_connections(void *context)
{
    static char request[CANNED_BODY];
    struct dropper *dropper = context;
    int connection;

    for (bool fails = false; (connection = accept(dropper->listener, NULL, NULL)) >= 0;
         fails = dropper->fails_fresh && !fails) {
        if (canned_read(connection, request) != NULL) {
            dropper->dropped_fresh += fails;
            if (!fails && canned_send(connection, whole_answer, sizeof whole_answer - 1)) {
                dropper->answered++;
                dropper->dropped_old += canned_read(connection, request) != NULL;
            }
        }
        close(connection);
    }
    return NULL;
}

/* One user of such a server. */
static const struct measurement *measure_dropper(struct trial *trial, struct dropper *dropper)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    const struct measurement *m;

    dropper->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(dropper->listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(dropper->listener, 8), 0);
    getsockname(dropper->listener, (struct sockaddr *)&address, &length);
    assert_int_equal(pthread_create(&dropper->thread, NULL, drop_connections, dropper), 0);
    set_up(trial, NULL);
    snprintf(trial->endpoint.url, sizeof trial->endpoint.url, "http://127.0.0.1:%d",
             ntohs(address.sin_port));
    trial->order.concurrency = 1;
    trial->order.probe = false;
    m = measure(trial);
    shutdown(dropper->listener, SHUT_RDWR);
    pthread_join(dropper->thread, NULL);
    close(dropper->listener);
    if (trial->result.state != CELL_MEASURED)
        fail_msg("%s", trial->result.reason);
    return m;
}

#define PIECE "data: {\"choices\":[{\"text\":\" a\"}]}\n\n"

/* A server made by hand: its stream is called text, and its usage is zeros. */
static void a_stream_of_another_type_counts_and_usage_of_zeros_does_not(void **state)
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

static void a_refusal_inside_a_stream_makes_a_point_infeasible(void **state)
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

static void a_connection_that_went_stale_is_no_failure(void **state)
{
    struct dropper dropper = { 0 };
    struct trial trial;
    const struct measurement *m = measure_dropper(&trial, &dropper);

    (void)state;
    assert_int_equal(m->succeeded, m->attempted);
    assert_true(m->stale_connections > 0);
    assert_int_equal(m->stale_connections, dropper.dropped_old);
    assert_int_equal(m->new_connections, dropper.answered);
    tear_down(&trial);
}

static void a_request_is_sent_twice_at_most(void **state)
{
    struct dropper dropper = { .fails_fresh = true };
    struct trial trial;
    const struct measurement *m = measure_dropper(&trial, &dropper);

    (void)state;
    assert_true(m->failures[FAILURE_RESET] > 0);
    assert_int_equal(m->attempted, m->succeeded + m->failures[FAILURE_RESET]);
    assert_int_equal(m->stale_connections, dropper.dropped_old);
    assert_int_equal(dropper.dropped_fresh, dropper.dropped_old);
    tear_down(&trial);
}

/* Last, because a limit cannot be raised again. */
static void says_when_the_machine_has_too_few_descriptors(void **state)
{
    const struct rlimit limit = { 128, 128 };
    struct trial trial;

    (void)state;
    set_up(&trial, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    trial.order.concurrency = 200;
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_int_equal(m->failures[FAILURE_CLIENT_LIMIT], 1);
    assert_true(m->client_limited);
    assert_non_null(strstr(trial.result.reason, "this process may have 128"));
    tear_down(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_agree_with_the_servers_record),
        cmocka_unit_test(counts_what_it_sent_and_got),
        cmocka_unit_test(a_refusal_inside_a_stream_makes_a_point_infeasible),
        cmocka_unit_test(a_stream_of_another_type_counts_and_usage_of_zeros_does_not),
        cmocka_unit_test(the_cold_request_is_kept_apart),
        cmocka_unit_test(tokens_are_not_chunks),
        cmocka_unit_test(gaps_between_tokens_are_known_where_each_chunk_tells_its_own),
        cmocka_unit_test(gaps_between_tokens_are_unknown_where_chunks_have_several),
        cmocka_unit_test(chat_prompts_have_the_length_asked_for),
        cmocka_unit_test(goodput_counts_what_met_the_limits),
        cmocka_unit_test(several_threads_add_up),
        cmocka_unit_test(each_fault_has_its_class),
        cmocka_unit_test(peculiar_streams_are_read_right),
        cmocka_unit_test(without_usage_tokens_are_estimated_and_marked),
        cmocka_unit_test(a_limit_of_the_servers_own_is_no_success),
        cmocka_unit_test(tool_calls_are_output),
        cmocka_unit_test(requests_have_the_lengths_that_were_drawn_for_them),
        cmocka_unit_test(shared_prefixes_are_cached_as_far_as_they_are_shared),
        cmocka_unit_test(answers_may_end_early_where_the_plan_lets_them),
        cmocka_unit_test(reasoning_counts_for_the_first_token),
        cmocka_unit_test(timeouts_are_censored_in_the_distribution),
        cmocka_unit_test(fast_failures_do_not_improve_latency),
        cmocka_unit_test(a_server_that_only_fails_ends_the_cell_early),
        cmocka_unit_test(says_when_nobody_can_be_reached),
        cmocka_unit_test(stops_when_it_is_told_to),
        cmocka_unit_test(a_connection_that_went_stale_is_no_failure),
        cmocka_unit_test(a_request_is_sent_twice_at_most),
        cmocka_unit_test(says_when_the_machine_has_too_few_descriptors),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
