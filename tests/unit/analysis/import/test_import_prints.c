/* SPDX-License-Identifier: Apache-2.0 */
/* Imports text that benchmark tools print, and some of the tables and reports that they write. Each
 * figure is converted from the unit in which the file gives it. */
#include "tests/unit/support/imports.h"

static void vllm_console_text_gives_figures_and_options(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("console_vllm.txt", "console", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.tool, "vllm bench serve");
    assert_int_equal(evidence.input_unit, LENGTH_TOKENS);
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 4);
    assert_true(isnan(cell->request_rate_asked));
    is_near(cell->input_length, 512);
    is_near(cell->output_tokens_asked, 64);
    is_near(cell->attempted, 40);
    is_near(cell->succeeded, 38);
    is_near(cell->failed, 2);
    is_near(cell->duration_s, 10);
    is_near(cell->input_tokens, 19456);
    is_near(cell->output_tokens, 2432);
    is_near(cell->request_throughput, 3.8);
    is_near(cell->output_throughput, 243.2);
    is_near(cell->total_throughput, 2188.8);
    is_near(cell->concurrency_max, 6);
    is_near(cell->latency[METRIC_TTFT].mean_ms, 120.5);
    is_near(cell->latency[METRIC_TTFT].p50_ms, 118);
    is_near(cell->latency[METRIC_TPOT].p99_ms, 16);
    is_near(cell->latency[METRIC_ICL].p99_ms, 29); /* the tool calls it ITL */
    assert_true(isnan(cell->latency[METRIC_ITL].mean_ms));
    is_near(cell->latency[METRIC_E2E].mean_ms, 1034);
    assert_int_equal(cell->state, EVIDENCE_MEASURED);
}

static void a_block_without_options_does_not_take_those_of_the_block_before(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("console_vllm.txt", "console", &evidence);
    cell = &evidence.cells[1];
    assert_true(isnan(cell->concurrency));
    assert_true(isnan(cell->input_length));
    assert_true(isnan(cell->attempted));
    is_near(cell->latency[METRIC_TTFT].mean_ms, 20);
    remarks(&evidence, "P99.9 TTFT (ms)");
    remarks(&evidence, "the success rate is not known");
}

static void sglang_console_text_of_a_burst_is_read(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("console_sglang.txt", "console", &evidence);
    assert_string_equal(evidence.facts.tool, "sglang bench_serving");
    assert_string_equal(evidence.facts.model, "toy/model");
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 12); /* all requests started at once */
    assert_true(isnan(cell->request_rate_asked));
    is_near(cell->input_length, 768); /* the mean of 512 and 1024 */
    is_near(cell->output_tokens_asked, 150);
    is_near(cell->attempted, 12);
    is_near(cell->failed, 0);
    is_near(cell->input_throughput, 2304);
    is_near(cell->concurrency_actual, 11.5);
    is_near(cell->latency[METRIC_E2E].p90_ms, 3900);
    is_near(cell->latency[METRIC_ICL].max_ms, 90);
}

static void text_without_a_complete_block_is_refused(void **state)
{
    (void)state;
    refuses("============ Serving Benchmark Result ============\nBenchmark duration (s):  1.0\n",
            NULL, "block 1 of the console text has no line \"Successful requests: ...\"");
    refuses("Successful requests: 3\n", "console", "has no cells: import a file");
    refuses("{\"text\": \"============ Serving Benchmark Result ============\"}", NULL,
            "none of the known formats");
}

static void the_numbers_of_blocks_in_a_file_and_labels_in_a_block_are_limited(void **state)
{
    static const char block[] = "\n==== Serving Benchmark Result ====\nSuccessful requests: 1\n";
    TEXT_AUTO blocks = { 0 };
    TEXT_AUTO lines = { 0 };
    EVIDENCE_AUTO evidence;

    (void)state;
    for (size_t i = 0; i <= EVIDENCE_CELLS_MAX; i++)
        text_add(&blocks, block);
    refuses(text_string(&blocks), NULL, "import it in parts");
    text_add(&lines, block);
    text_add(&lines, "Mean TTFT (ms): 5\n");
    for (int i = 0; i < 20000; i++)
        text_addf(&lines, "label %d: 1\n", i);
    import_text(text_string(&lines), &evidence);
    assert_true(json_object_size(evidence.cells[0].original) <= 512);
}

static void csv_files_from_aiperf_and_genai_perf_are_read(void **state)
{
    EVIDENCE_AUTO aiperf, genai;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("aiperf.csv", "aiperf-csv", &aiperf);
    assert_int_equal(aiperf.cell_count, 1);
    cell = &aiperf.cells[0];
    assert_true(isnan(cell->concurrency)); /* not reported */
    is_near(cell->concurrency_actual, 3.9);
    is_near(cell->concurrency_max, 4);
    is_near(cell->attempted, 42);
    is_near(cell->succeeded, 40);
    is_near(cell->failed, 2);
    is_near(cell->duration_s, 4.36);
    is_near(cell->request_throughput, 9.17);
    is_near(cell->output_throughput, 293.58);
    is_near(cell->stream_throughput, 95);
    is_near(cell->input_tokens_mean, 128);
    is_near(cell->output_tokens_mean, 32);
    is_near(cell->latency[METRIC_E2E].p95_ms, 470);
    is_near(cell->latency[METRIC_TTFT].deviation_ms, 9);
    is_near(cell->latency[METRIC_TPOT].mean_ms, 10.5); /* the tool calls it ITL */
    is_near(cell->latency[METRIC_ICL].max_ms, 30);
    remarks(&aiperf, "Prefill Throughput Per User");
    remarks(&aiperf, "has neither the load nor the lengths");
    import_fixture("genai_perf.csv", "aiperf-csv", &genai);
    cell = &genai.cells[0];
    is_near(cell->latency[METRIC_TTFT].p99_ms, 69);
    is_near(cell->request_throughput, 1.65);
    is_near(cell->output_throughput, 84);
    is_near(cell->succeeded, 100);
}

static void llmperf_figures_in_seconds_and_per_minute_are_converted(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("llmperf.json", "llmperf", &evidence);
    assert_string_equal(evidence.facts.model, "toy/model");
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 4);
    is_near(cell->input_length, 550);
    is_near(cell->output_tokens_asked, 150);
    is_near(cell->attempted, 50);
    is_near(cell->succeeded, 48);
    is_near(cell->failed, 2);
    is_near(cell->request_throughput, 52.0 / 60);
    is_near(cell->output_throughput, 128.5);
    is_near(cell->input_tokens_mean, 549.5);
    is_near(cell->latency[METRIC_TTFT].mean_ms, 260);
    is_near(cell->latency[METRIC_TTFT].p95_ms, 450);
    is_near(cell->latency[METRIC_E2E].p50_ms, 4500);
    assert_true(isnan(cell->latency[METRIC_ITL].mean_ms));
    assert_true(isnan(cell->latency[METRIC_TPOT].mean_ms));
    remarks(&evidence, "includes the time to the first token");
}

static void trtllm_bench_reports_engine_hardware_and_figures(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("trtllm_bench.json", "trtllm-bench", &evidence);
    assert_string_equal(evidence.facts.model, "toy/model");
    assert_string_equal(evidence.facts.engine, "tensorrt-llm");
    assert_string_equal(evidence.facts.engine_version, "1.2.0");
    assert_string_equal(evidence.facts.hardware, "Toy GPU");
    assert_string_equal(evidence.facts.quantization, "NVFP4");
    assert_string_equal(evidence.facts.weights_type, "bfloat16");
    assert_string_equal(evidence.facts.cache_type, "FP8");
    is_near(evidence.facts.tensor_parallel, 2);
    is_near(evidence.facts.chips, 2);
    cell = &evidence.cells[0];
    assert_true(isnan(cell->concurrency));
    is_near(cell->concurrency_actual, 15.5);
    is_near(cell->requests_asked, 100);
    is_near(cell->duration_s, 20);
    is_near(cell->request_throughput, 5);
    is_near(cell->output_throughput, 320);
    is_near(cell->total_throughput, 960);
    is_near(cell->stream_throughput, 25);
    is_near(cell->latency[METRIC_E2E].min_ms, 2500);
    is_near(cell->latency[METRIC_TTFT].p90_ms, 500);
    is_near(cell->latency[METRIC_TPOT].mean_ms, 42);
}

static void llm_d_reports_what_another_tool_measured(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("llm_d.json", "llm-d", &evidence);
    assert_string_equal(evidence.facts.tool, "inference-perf");
    assert_string_equal(evidence.facts.model, "toy/model");
    assert_string_equal(evidence.facts.hardware, "Toy GPU");
    is_near(evidence.facts.chips, 8);
    is_near(evidence.facts.tensor_parallel, 8);
    cell = &evidence.cells[0];
    assert_string_equal(cell->time, "2026-03-14T18:00:42Z");
    is_near(cell->duration_s, 49.5);
    is_near(cell->request_rate_asked, 10);
    assert_true(isnan(cell->concurrency)); /* infinite in the file */
    is_near(cell->input_length, 2048);
    is_near(cell->output_tokens_asked, 1000);
    is_near(cell->attempted, 500);
    is_near(cell->succeeded, 490);
    is_near(cell->failed, 10);
    is_near(cell->input_tokens_mean, 2062.5);
    is_near(cell->output_tokens_mean, 998);
    is_near(cell->request_throughput, 9.9);
    is_near(cell->input_throughput, 20400);
    is_near(cell->output_throughput, 9880);
    is_near(cell->latency[METRIC_TTFT].mean_ms, 36.5); /* given in seconds */
    is_near(cell->latency[METRIC_TTFT].deviation_ms, 4);
    is_near(cell->latency[METRIC_TPOT].p99_ms, 9); /* in ms/token */
    is_near(cell->latency[METRIC_E2E].max_ms, 12500);
    assert_true(isnan(cell->latency[METRIC_ITL].mean_ms));
    remarks(&evidence, "aggregate.latency.inter_token_la");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vllm_console_text_gives_figures_and_options),
        cmocka_unit_test(a_block_without_options_does_not_take_those_of_the_block_before),
        cmocka_unit_test(sglang_console_text_of_a_burst_is_read),
        cmocka_unit_test(text_without_a_complete_block_is_refused),
        cmocka_unit_test(the_numbers_of_blocks_in_a_file_and_labels_in_a_block_are_limited),
        cmocka_unit_test(csv_files_from_aiperf_and_genai_perf_are_read),
        cmocka_unit_test(llmperf_figures_in_seconds_and_per_minute_are_converted),
        cmocka_unit_test(trtllm_bench_reports_engine_hardware_and_figures),
        cmocka_unit_test(llm_d_reports_what_another_tool_measured),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
