/* SPDX-License-Identifier: Apache-2.0 */
/* Measures single cells on simserve. The figures must agree with simserve's settings and, in some
 * tests, with simserve's own record. */
#include "bench/cell/cell.h"

#include <math.h>

#include "base/core/clock.h"
#include "base/net/outbound.h"
#include "tests/unit/support/cell_trial.h"

static void figures_agree_with_the_servers_record(void **state)
{
    struct trial trial;
    struct truth truth;

    (void)state;
    set_up(&trial, (const char *[]){ "--jitter", "0.3", NULL });
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_int_equal(m->latency[METRIC_TTFO].count, 0); /* there was no reasoning */
    /* Chunks that were read together with the first one count in ICL, but not in ITL. */
    assert_true(m->latency[METRIC_ITL].count <= m->latency[METRIC_ICL].count);
    truth_create(&truth);
    if (!truth_read(trial.endpoint.url, &trial.result, trial.order.nonce, &truth, &trial.error))
        fail_msg("%s", trial.error.message);
    assert_int_equal(truth.joined, m->succeeded);
    assert_int_equal(histogram_count(truth.ttft), m->latency[METRIC_TTFT].count);
    /* Some chunks were in transit when the window began and ended. */
    assert_in_range(histogram_count(truth.itl), m->latency[METRIC_ICL].count - 8,
                    m->latency[METRIC_ICL].count + 8);
    check_quantile(trial.result.histograms[METRIC_TTFT], truth.ttft, 0.5, m);
    check_quantile(trial.result.histograms[METRIC_TTFT], truth.ttft, 0.99, m);
    check_quantile(trial.result.histograms[METRIC_ITL], truth.itl, 0.5, m);
    check_quantile(trial.result.histograms[METRIC_ITL], truth.itl, 0.99, m);
    truth_finish(&truth);
    tear_down(&trial);
}

static void counts_what_was_sent_and_received(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--cached-tokens-in-usage", "true", NULL });
    trial.plan.warmup_limit_s = 0.5;
    trial.plan.window_s = 0.6;
    const struct measurement *m = measure(&trial);
    /* At most this share of the requests is in flight when the window begins, or when it ends. The
     * share is large if the machine stalls. */
    double across = m->latency[METRIC_E2E].max_ms / 1000 / m->window_s;
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
    assert_true(fabs(m->output_throughput / m->request_throughput - 8) < 0.8 + 8 * across);
    assert_true(m->goodput == m->request_throughput);
    /* If the machine stalls, there is time between requests, so fewer are in flight. */
    assert_true(m->concurrency_actual > 0.5 * 4 && m->concurrency_actual <= 4.001);
    assert_in_range(m->concurrency_max, 4, 4);
    assert_true(fabs(m->little_ratio - 1) < 0.1 + across);
    assert_true(m->window_s >= 0.6 && m->window_s < 2);
    assert_true(m->cpu_percent > 0);
    assert_in_range(m->new_connections, 4, 5); /* the probe uses a user's connection */
    assert_true(m->connect_p50_ms > 0 && m->connect_p50_ms <= m->connect_p99_ms);
    assert_true(isnan(m->tls_p50_ms));
    /* TPOT is too short if the first chunk was read late. */
    assert_true(m->latency[METRIC_TPOT].p50_ms > 1.9 - m->lag_p99_ms);
    assert_true(m->latency[METRIC_E2E].p50_ms > 5 + 7 * 1.9);
    tear_down(&trial);
}

static void the_cold_request_is_reported_separately(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--cold-shape-ms", "400", NULL });
    const struct measurement *m = measure(&trial);
    assert_true(m->cold_ttft_ms >= 400);
    assert_true(m->latency[METRIC_TTFT].max_ms < 400);
    prepare_again(&trial);
    trial.order.probe = false;
    m = measure(&trial);
    assert_true(isnan(m->cold_ttft_ms));
    tear_down(&trial);
}

static void a_chunk_of_several_tokens_counts_as_several_tokens(void **state)
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

/* The server sends a chunk of three tokens every 9 ms. */
static void set_up_wide_chunks(struct trial *trial)
{
    set_up(trial, (const char *[]){ "--tokens-per-chunk", "3", "--step-ms", "9", NULL });
    trial->order.output_tokens = 31;
}

static void gaps_between_tokens_are_known_if_each_chunk_reports_its_tokens(void **state)
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

static void gaps_between_tokens_are_unknown_if_wide_chunks_report_no_tokens(void **state)
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

static void chat_prompts_have_the_requested_length_or_are_infeasible(void **state)
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
    assert_non_null(strstr(trial.result.reason, "the shortest possible prompt has 12"));
    tear_down(&trial);
}

static void goodput_excludes_answers_that_exceed_a_limit(void **state)
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

static size_t count_probes(const struct trial *trial)
{
    struct request_records records;
    struct error error;
    size_t probes = 0;

    assert_true(request_records_unpack(trial->result.records, trial->result.records_length,
                                       &records, &error));
    for (size_t i = 0; i < records.count; i++)
        probes += records.rows[i].phase == RECORD_PROBE;
    request_records_finish(&records);
    return probes;
}

static void figures_of_several_threads_add_up(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--ttft-ms", "400", "--max-running", "4000", NULL });
    trial.order.concurrency = 2100;
    trial.order.output_tokens = 2;
    trial.order.shards = 2;
    trial.plan.ttft_timeout_s = 20;
    trial.plan.warmup_limit_s = 0.4;
    trial.plan.requests = 4000; /* about two per user, however slow the machine is */
    trial.plan.window_s = 30;
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_int_equal(m->attempted, m->succeeded);
    assert_true(m->concurrency_max > 1050); /* more users than one thread has */
    assert_int_equal(count_probes(&trial), 1);
    tear_down(&trial);
}

static void tool_calls_count_as_output(void **state)
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

static void without_usage_token_counts_are_estimated_and_marked(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--fault", "missing_usage=1", NULL });
    const struct measurement *m = measure(&trial);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_true(m->tokens_estimated);
    assert_int_equal(m->output_tokens, m->chunks);
    assert_true(isnan(m->tokens_per_chunk));
    assert_int_equal(m->latency[METRIC_ITL].count, 0); /* a chunk could have several tokens */
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

static void only_shared_prefixes_are_cached(void **state)
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

static void answers_can_end_early_if_the_plan_allows_it(void **state)
{
    struct trial trial;

    (void)state;
    set_up(&trial, (const char *[]){ "--natural-tokens", "5", NULL });
    trial.plan.natural_output = true;
    workload_apply_plan(&trial.workload, &trial.plan);
    const struct measurement *m = measure(&trial);
    assert_int_equal(m->succeeded, m->attempted);
    assert_int_equal(m->output_tokens_max, 5);
    assert_int_equal(m->output_tokens_requested_max, 8);
    assert_int_equal(m->output_tokens_differing, 0);
    tear_down(&trial);
}

static void reasoning_counts_as_the_first_token_for_ttft_but_not_for_ttfo(void **state)
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

static void stops_when_the_caller_requests_it(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_agree_with_the_servers_record),
        cmocka_unit_test(counts_what_was_sent_and_received),
        cmocka_unit_test(the_cold_request_is_reported_separately),
        cmocka_unit_test(a_chunk_of_several_tokens_counts_as_several_tokens),
        cmocka_unit_test(gaps_between_tokens_are_known_if_each_chunk_reports_its_tokens),
        cmocka_unit_test(gaps_between_tokens_are_unknown_if_wide_chunks_report_no_tokens),
        cmocka_unit_test(chat_prompts_have_the_requested_length_or_are_infeasible),
        cmocka_unit_test(goodput_excludes_answers_that_exceed_a_limit),
        cmocka_unit_test(figures_of_several_threads_add_up),
        cmocka_unit_test(without_usage_token_counts_are_estimated_and_marked),
        cmocka_unit_test(tool_calls_count_as_output),
        cmocka_unit_test(requests_have_the_lengths_that_were_drawn_for_them),
        cmocka_unit_test(only_shared_prefixes_are_cached),
        cmocka_unit_test(answers_can_end_early_if_the_plan_allows_it),
        cmocka_unit_test(reasoning_counts_as_the_first_token_for_ttft_but_not_for_ttfo),
        cmocka_unit_test(stops_when_the_caller_requests_it),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    outbound_global_finish();
    return failed;
}
