/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/metrics_map.h"

static struct engine_metrics_snapshot map(const char *text)
{
    struct engine_metrics_snapshot out;

    metrics_map_clear(&out);
    metrics_map(text, strlen(text), &out);
    return out;
}

#define NEAR(a, b) assert_float_equal((a), (b), 1e-9)

static void adds_up_vllms_replicas_and_averages_their_cache_use(void **state)
{
    const struct engine_metrics_snapshot m =
        map("# TYPE vllm:num_requests_running gauge\n"
            "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 3.0\n"
            "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 4.0\n"
            "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 0.0\n"
            "vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"capacity\"} 9.0\n"
            "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.25\n"
            "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.75\n"
            "vllm:prompt_tokens_total{engine=\"0\",model_name=\"m\"} 1000.0\n"
            "vllm:prompt_tokens_total{engine=\"1\",model_name=\"m\"} 500.0\n"
            "vllm:prompt_tokens_created{engine=\"0\",model_name=\"m\"} 1.76e+09\n"
            "vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} 2e+06\n"
            "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\"} 5.0\n"
            "vllm:request_success_total{engine=\"0\",finished_reason=\"length\"} 7.0\n"
            "vllm:num_preemptions_total{engine=\"0\",model_name=\"m\"} 2.0\n"
            "vllm:prefix_cache_queries_total{engine=\"0\"} 1500.0\n"
            "vllm:prefix_cache_hits_total{engine=\"0\"} 300.0\n"
            "vllm:spec_decode_num_drafts_total{engine=\"0\"} 10.0\n"
            "vllm:spec_decode_num_draft_tokens_total{engine=\"0\"} 40.0\n"
            "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"} 25.0\n"
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"0\",position=\"0\"} 9.0\n"
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{engine=\"1\",position=\"0\"} 1.0\n"
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"1\"} 6.0\n"
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"16\"} 6.0\n"
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"-1\"} 6.0\n"
            "vllm:spec_decode_num_accepted_tokens_per_pos_total{position=\"\"} 6.0\n"
            "# TYPE vllm:time_to_first_token_seconds histogram\n"
            "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"0.001\"} 0.0\n"
            "vllm:time_to_first_token_seconds_bucket{engine=\"0\",le=\"+Inf\"} 12.0\n"
            "vllm:time_to_first_token_seconds_count{engine=\"0\"} 12.0\n"
            "vllm:time_to_first_token_seconds_sum{engine=\"0\"} 0.6\n"
            "vllm:e2e_request_latency_seconds_sum{engine=\"0\"} 30.0\n"
            "vllm:e2e_request_latency_seconds_count{engine=\"0\"} 12.0\n"
            "vllm:request_queue_time_seconds_sum{engine=\"0\"} 0.12\n"
            "vllm:request_queue_time_seconds_count{engine=\"0\"} 12.0\n"
            "process_start_time_seconds 1.7e+09\n");

    (void)state;
    NEAR(m.requests_running, 7);
    NEAR(m.requests_waiting, 0);
    NEAR(m.kv_cache_use, 0.5);
    NEAR(m.accepted_at[0], 10);
    NEAR(m.accepted_at[1], 6);
    assert_true(isnan(m.accepted_at[2]));
    assert_string_equal(m.model, "m");
    NEAR(m.prompt_tokens_total, 1500);
    NEAR(m.generation_tokens_total, 2e6);
    NEAR(m.requests_total, 12);
    NEAR(m.preemptions_total, 2);
    NEAR(m.prefix_queries_total, 1500);
    NEAR(m.prefix_hits_total, 300);
    NEAR(m.drafts_total, 10);
    NEAR(m.draft_tokens_total, 40);
    NEAR(m.accepted_tokens_total, 25);
    NEAR(m.ttft_sum_s, 0.6);
    NEAR(m.ttft_count, 12);
    NEAR(m.e2e_sum_s, 30);
    NEAR(m.queue_sum_s, 0.12);
    NEAR(m.process_start_s, 1.7e9);
    assert_true(isnan(m.itl_sum_s));
    assert_true(isnan(m.itl_count));
}

static void reads_vllms_old_or_new_names_but_never_both(void **state)
{
    const struct engine_metrics_snapshot old = map("vllm:gpu_cache_usage_perc 0.5\n"
                                                   "vllm:gpu_prefix_cache_queries_total 10\n"
                                                   "vllm:gpu_prefix_cache_hits_total 4\n"
                                                   "vllm:time_per_output_token_seconds_sum 2\n"
                                                   "vllm:time_per_output_token_seconds_count 100\n"
                                                   "vllm:spec_decode_draft_acceptance_rate 0.7\n");
    const struct engine_metrics_snapshot both = map("vllm:time_per_output_token_seconds_sum 2\n"
                                                    "vllm:time_per_output_token_seconds_count 100\n"
                                                    "vllm:inter_token_latency_seconds_sum 3\n"
                                                    "vllm:inter_token_latency_seconds_count 150\n");

    (void)state;
    NEAR(old.kv_cache_use, 0.5);
    NEAR(old.prefix_queries_total, 10);
    NEAR(old.prefix_hits_total, 4);
    NEAR(old.itl_sum_s, 2);
    NEAR(old.itl_count, 100);
    NEAR(old.acceptance_rate, 0.7);
    NEAR(both.itl_sum_s, 3);
    NEAR(both.itl_count, 150);
}

static void counts_the_ranks_of_one_sglang_replica_once(void **state)
{
    const struct engine_metrics_snapshot m =
        map("sglang:num_running_reqs{model_name=\"m\",tp_rank=\"0\",pp_rank=\"0\"} 5\n"
            "sglang:num_running_reqs{model_name=\"m\",tp_rank=\"1\",pp_rank=\"0\"} 5\n"
            "sglang:num_running_reqs{model_name=\"m\",tp_rank=\"0\",dp_rank=\"1\"} 2\n"
            "sglang:num_queue_reqs{tp_rank=\"0\"} 1\n"
            "sglang:token_usage{tp_rank=\"0\"} 0.28\n"
            "sglang:prompt_tokens_total{model_name=\"m\"} 800\n"
            "sglang:cached_tokens_total{model_name=\"m\"} 200\n"
            "sglang:generation_tokens_total{model_name=\"m\"} 900\n"
            "sglang:num_requests_total{model_name=\"m\"} 8\n"
            "sglang:inter_token_latency_seconds_sum 1\n"
            "sglang:inter_token_latency_seconds_count 50\n");

    (void)state;
    NEAR(m.requests_running, 7);
    NEAR(m.requests_waiting, 1);
    NEAR(m.kv_cache_use, 0.28);
    NEAR(m.prompt_tokens_total, 800);
    NEAR(m.prefix_queries_total, 800);
    NEAR(m.prefix_hits_total, 200);
    NEAR(m.generation_tokens_total, 900);
    NEAR(m.requests_total, 8);
    NEAR(m.itl_count, 50);
}

static void without_prefix_cache_hits_the_number_of_queries_is_not_known(void **state)
{
    const struct engine_metrics_snapshot m = map("sglang:prompt_tokens_total 800\n");

    (void)state;
    NEAR(m.prompt_tokens_total, 800);
    assert_true(isnan(m.prefix_queries_total));
}

static void ignores_infinities_that_llama_cpp_reports(void **state)
{
    const struct engine_metrics_snapshot m = map("llamacpp:prompt_tokens_total 120\n"
                                                 "llamacpp:prompt_seconds_total 0.5\n"
                                                 "llamacpp:tokens_predicted_total 400\n"
                                                 "llamacpp:tokens_predicted_seconds_total 8\n"
                                                 "llamacpp:prompt_tokens_seconds inf\n"
                                                 "llamacpp:kv_cache_usage_ratio inf\n"
                                                 "llamacpp:requests_processing 2\n"
                                                 "llamacpp:requests_deferred 1\n");

    (void)state;
    NEAR(m.prompt_tokens_total, 120);
    NEAR(m.generation_tokens_total, 400);
    NEAR(m.itl_sum_s / m.itl_count, 0.02);
    NEAR(m.requests_running, 2);
    NEAR(m.requests_waiting, 1);
    NEAR(m.prefill_tokens_total / m.prefill_sum_s, 240);
    assert_true(isnan(m.prefix_queries_total));
    assert_true(isnan(m.kv_cache_use));
    assert_true(isnan(m.requests_total));
}

/* llama.cpp's counter of prompt tokens excludes cached tokens, but the usage in its answers
 * includes them. */
static void prompt_tokens_of_llama_cpp_include_the_cached_ones(void **state)
{
    const struct engine_metrics_snapshot m =
        map("llamacpp:prompt_tokens_total 694\n"
            "llamacpp:prompt_tokens_cached_total 692\n"
            "llamacpp:spec_decode_num_drafts_total 10\n"
            "llamacpp:spec_decode_num_draft_tokens_total 30\n"
            "llamacpp:spec_decode_num_accepted_tokens_total 20\n");

    (void)state;
    NEAR(m.prompt_tokens_total, 1386);
    NEAR(m.prefix_queries_total, 1386);
    NEAR(m.prefix_hits_total, 692);
    NEAR(m.prefill_tokens_total, 694);
    NEAR(m.accepted_tokens_total / m.draft_tokens_total, 20.0 / 30);
}

static void reads_tgi(void **state)
{
    const struct engine_metrics_snapshot m =
        map("tgi_batch_current_size 6\n"
            "tgi_queue_size 3\n"
            "tgi_request_success{method=\"generate\"} 4\n"
            "tgi_request_success{method=\"generate_stream\"} 5\n"
            "tgi_request_input_length_sum 900\n"
            "tgi_request_generated_tokens_sum 1800\n"
            "tgi_request_duration_sum 36\n"
            "tgi_request_duration_count 9\n"
            "tgi_request_queue_duration_sum 0.9\n"
            "tgi_request_queue_duration_count 9\n");

    (void)state;
    NEAR(m.requests_running, 6);
    NEAR(m.requests_waiting, 3);
    NEAR(m.requests_total, 9);
    NEAR(m.prompt_tokens_total, 900);
    NEAR(m.generation_tokens_total, 1800);
    NEAR(m.e2e_sum_s, 36);
    NEAR(m.queue_count, 9);
}

static void reads_jetstream_whose_cache_use_is_in_percent(void **state)
{
    const struct engine_metrics_snapshot m =
        map("jetstream_prefill_backlog_size{id=\"a\"} 2\n"
            "jetstream_time_to_first_token_sum{id=\"a\"} 4\n"
            "jetstream_time_to_first_token_count{id=\"a\"} 8\n"
            "jetstream_request_success_count_total{id=\"a\"} 8\n"
            "jetstream_request_output_length_sum{id=\"a\"} 640\n"
            "kv_cache_utilization_perc{id=\"a\"} 42\n");

    (void)state;
    NEAR(m.requests_waiting, 2);
    NEAR(m.ttft_sum_s, 4);
    NEAR(m.requests_total, 8);
    NEAR(m.generation_tokens_total, 640);
    NEAR(m.kv_cache_use, 0.42);
}

static void reads_counters_with_or_without_the_suffix_total_but_never_both(void **state)
{
    const struct engine_metrics_snapshot bare = map("vllm:prompt_tokens{model_name=\"m\"} 5\n"
                                                    "tgi_request_success_total 3\n");
    const struct engine_metrics_snapshot both =
        map("vllm:prompt_tokens 5\nvllm:prompt_tokens_total 6\n");

    (void)state;
    NEAR(bare.prompt_tokens_total, 5);
    NEAR(bare.requests_total, 3);
    NEAR(both.prompt_tokens_total, 6);
}

static void reads_sglangs_speculative_decoding_from_its_gauges(void **state)
{
    const struct engine_metrics_snapshot m = map("sglang:spec_accept_length{tp_rank=\"0\"} 2.5\n"
                                                 "sglang:spec_accept_rate{tp_rank=\"0\"} 0.5\n"
                                                 "sglang:num_retracted_requests_total 3\n");

    (void)state;
    NEAR(m.acceptance_length, 2.5);
    NEAR(m.acceptance_rate, 0.5);
    NEAR(m.preemptions_total, 3);
    assert_true(isnan(m.drafts_total));
}

static void reads_an_exporter_for_ollama(void **state)
{
    const struct engine_metrics_snapshot m =
        map("ollama_requests_total{model=\"gemma\"} 4\n"
            "ollama_tokens_processed_total{model=\"gemma\"} 80\n"
            "ollama_tokens_generated_total{model=\"gemma\"} 64\n"
            "ollama_response_seconds_sum{model=\"gemma\"} 8\n"
            "ollama_response_seconds_count{model=\"gemma\"} 4\n");

    (void)state;
    NEAR(m.requests_total, 4);
    NEAR(m.prompt_tokens_total, 80);
    NEAR(m.generation_tokens_total, 64);
    NEAR(m.e2e_sum_s / m.e2e_count, 2);
    assert_string_equal(m.model, "");
}

static void a_sum_that_overflows_gives_no_figure(void **state)
{
    const struct engine_metrics_snapshot m =
        map("vllm:num_requests_running{engine=\"0\"} 1.7e308\n"
            "vllm:num_requests_running{engine=\"1\"} 1.7e308\n"
            "vllm:kv_cache_usage_perc{engine=\"0\"} 1.7e308\n"
            "vllm:kv_cache_usage_perc{engine=\"1\"} 1.7e308\n"
            "vllm:spec_decode_num_accepted_tokens_per_pos{engine=\"0\",position=\"0\"} 1.7e308\n"
            "vllm:spec_decode_num_accepted_tokens_per_pos{engine=\"1\",position=\"0\"} 1.7e308\n"
            "vllm:num_requests_waiting 3\n");

    (void)state;
    assert_true(isnan(m.requests_running) && isnan(m.kv_cache_use) && isnan(m.accepted_at[0]));
    NEAR(m.requests_waiting, 3);
}

static void unknown_names_and_impossible_values_give_no_figure(void **state)
{
    static const char text[] =
        "node_cpu_seconds_total{cpu=\"0\"} 5\nvllm:num_requests_running NaN\n"
        "vllm:num_requests_runningx 5\nvllm:num_requests_waiting -1\n";
    struct engine_metrics_snapshot m;

    (void)state;
    metrics_map_clear(&m);
    assert_int_equal(metrics_map(text, strlen(text), &m), 0);
    assert_true(isnan(m.requests_running));
    assert_true(isnan(m.requests_waiting));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_vllms_replicas_and_averages_their_cache_use),
        cmocka_unit_test(reads_vllms_old_or_new_names_but_never_both),
        cmocka_unit_test(counts_the_ranks_of_one_sglang_replica_once),
        cmocka_unit_test(without_prefix_cache_hits_the_number_of_queries_is_not_known),
        cmocka_unit_test(ignores_infinities_that_llama_cpp_reports),
        cmocka_unit_test(prompt_tokens_of_llama_cpp_include_the_cached_ones),
        cmocka_unit_test(reads_tgi),
        cmocka_unit_test(reads_jetstream_whose_cache_use_is_in_percent),
        cmocka_unit_test(reads_counters_with_or_without_the_suffix_total_but_never_both),
        cmocka_unit_test(reads_sglangs_speculative_decoding_from_its_gauges),
        cmocka_unit_test(reads_an_exporter_for_ollama),
        cmocka_unit_test(a_sum_that_overflows_gives_no_figure),
        cmocka_unit_test(unknown_names_and_impossible_values_give_no_figure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
