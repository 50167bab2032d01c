/* SPDX-License-Identifier: Apache-2.0 */
/* Imports files from SGLang, InferenceX, llama-bench and GenAI-Perf. Each figure is converted from
 * the unit in which the file gives it. */
#include "tests/unit/support/imports.h"

static void sglang_figures_are_read_in_their_units(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("sglang.jsonl", "sglang", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.model, "toy/model");
    assert_string_equal(evidence.facts.engine, "sglang");
    assert_string_equal(evidence.facts.engine_version, "0.5.1");
    assert_string_equal(evidence.facts.dataset, ""); /* the lines differ */
    is_near(evidence.facts.tensor_parallel, 2);
    is_near(evidence.facts.context_limit_tokens, 8192);
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 4);
    assert_true(isnan(cell->request_rate_asked)); /* infinite */
    is_near(cell->input_length, 512);
    is_near(cell->output_tokens_asked, 64);
    is_near(cell->duration_s, 10);
    is_near(cell->succeeded, 40);
    assert_true(isnan(cell->attempted));
    is_near(cell->input_tokens, 20480);
    is_near(cell->output_tokens, 2560);
    is_near(cell->request_throughput, 4);
    is_near(cell->input_throughput, 2048);
    is_near(cell->output_throughput, 256);
    is_near(cell->total_throughput, 2304);
    is_near(cell->concurrency_actual, 3.92);
    is_near(cell->concurrency_max, 6);
    is_near(cell->latency[METRIC_E2E].mean_ms, 980);
    is_near(cell->latency[METRIC_E2E].p90_ms, 990);
    is_near(cell->latency[METRIC_TTFT].deviation_ms, 5);
    is_near(cell->latency[METRIC_TPOT].p50_ms, 14.4);
    is_near(cell->latency[METRIC_ICL].p95_ms, 20); /* the tool calls it ITL */
    assert_true(isnan(cell->latency[METRIC_ITL].mean_ms));
    assert_int_equal(cell->state, EVIDENCE_MEASURED);
    remarks(&evidence, "this format does not say how many requests were sent");
}

static void sglang_failures_are_read_from_its_detailed_output(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("sglang.jsonl", "sglang", &evidence);
    cell = &evidence.cells[1];
    assert_true(isnan(cell->input_length)); /* random_input_len is present, but unused */
    is_near(cell->output_tokens_asked, 100);
    is_near(cell->request_rate_asked, 2.5);
    assert_true(isnan(cell->concurrency));
    is_near(cell->attempted, 4);
    is_near(cell->failed, 1);
    is_near(cell->success_rate, 0.75);
    is_near(cell->cached_share, 0.5);
    assert_string_equal(cell->error, "Bad Gateway");
    assert_int_equal(cell->row, 2);
}

static void sglang_lengths_are_the_means_of_the_ranges_they_were_drawn_from(void **state)
{
    static const char file[] =
        "{\"backend\": \"vllm\", \"dataset_name\": \"random\", \"random_input_len\": 1024, "
        "\"random_output_len\": 200, \"random_range_ratio\": 0.5, \"completed\": 4, "
        "\"total_output_tokens_retokenized\": 4, \"request_throughput\": 1}";
    EVIDENCE_AUTO evidence;

    (void)state;
    import_text(file, &evidence);
    is_near(evidence.cells[0].input_length, 768);
    is_near(evidence.cells[0].output_tokens_asked, 150);
    remarks(&evidence,
            "input lengths were drawn from random_range_ratio (0.5) times random_input_len");
}

static void a_fact_in_which_the_lines_of_an_sglang_file_differ_is_unknown(void **state)
{
    static const char file[] =
        "{\"backend\": \"sglang\", \"dataset_name\": \"random\", \"completed\": 4, "
        "\"server_info\": {\"tp_size\": 2, \"context_length\": 4096}, "
        "\"random_range_ratio\": 1, \"total_output_tokens_retokenized\": 4, "
        "\"request_throughput\": 1}\n"
        "{\"backend\": \"sglang\", \"dataset_name\": \"sharegpt\", \"completed\": 4, "
        "\"server_info\": {\"tp_size\": 4, \"context_length\": 4096}, "
        "\"request_throughput\": 2}\n";
    EVIDENCE_AUTO evidence;

    (void)state;
    import_text(file, &evidence);
    assert_string_equal(evidence.format, "sglang");
    assert_string_equal(evidence.facts.dataset, "");
    assert_true(isnan(evidence.facts.tensor_parallel));
    is_near(evidence.facts.context_limit_tokens, 4096);
}

static void inferencex_times_in_seconds_and_rates_per_accelerator_are_converted(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("inferencex.json", "inferencex", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.hardware, "toy-gpu");
    assert_string_equal(evidence.facts.engine, "vllm");
    assert_string_equal(evidence.facts.engine_version, "toy/serve:1");
    assert_string_equal(evidence.facts.quantization, "fp8");
    assert_true(isnan(evidence.facts.chips)); /* the rows differ: 8 and 24 */
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 4);
    is_near(cell->input_length, 1024);
    is_near(cell->output_tokens_asked, 512);
    is_near(cell->total_throughput, 240); /* on 4 x 2 (tp x pp) accelerators */
    is_near(cell->output_throughput, 80);
    is_near(cell->input_throughput, 160);
    is_near(cell->latency[METRIC_TTFT].mean_ms, 166);
    is_near(cell->latency[METRIC_TTFT].p50_ms, 164);
    is_near(cell->latency[METRIC_TTFT].p99_ms, 222);
    is_near(cell->latency[METRIC_TTFT].deviation_ms, 38);
    is_near(cell->latency[METRIC_TPOT].p99_ms, 60);
    is_near(cell->latency[METRIC_ICL].mean_ms, 51);
    is_near(cell->latency[METRIC_E2E].mean_ms, 25500);
    cell = &evidence.cells[1];
    is_near(cell->total_throughput, 240); /* on 8 + 16 accelerators (prefill + decode) */
    is_near(cell->output_throughput, 80);
    is_near(cell->input_throughput, 160);
    assert_non_null(strstr(cell->variant, "spec_decoding=mtp"));
    remarks(&evidence, "kept as text: \"avg_power_w\" (in 1 of 2 rows)");
}

static void accelerators_that_inferencex_names_twice_count_once(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("inferencex_rows.json", "inferencex", &evidence);
    cell = &evidence.cells[0];
    is_near(evidence.facts.chips, 4);
    assert_string_equal(evidence.facts.hardware, "toy-gpu");
    is_near(cell->total_throughput, 1200);
    is_near(cell->output_throughput, 600);
    is_near(cell->latency[METRIC_TPOT].mean_ms, 12.5);
    is_near(cell->latency[METRIC_ICL].p99_ms, 14);
    assert_string_equal(cell->time, "2026-02-27");
}

static void llama_bench_results_are_read_as_cells_with_one_user(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cells;

    (void)state;
    import_fixture("llama_bench.json", "llama-bench", &evidence);
    assert_int_equal(evidence.cell_count, 3);
    assert_string_equal(evidence.facts.model, "toy 7B Q4_0");
    assert_string_equal(evidence.facts.engine, "llama.cpp");
    assert_string_equal(evidence.facts.engine_version, "1abc234");
    assert_string_equal(evidence.facts.hardware, "Toy GPU");
    cells = evidence.cells;
    is_near(cells[0].concurrency, 1);
    is_near(cells[0].input_length, 512);
    is_near(cells[0].input_throughput, 2000);
    assert_true(isnan(cells[0].output_throughput));
    is_near(cells[0].latency[METRIC_E2E].mean_ms, 256);
    is_near(cells[0].latency[METRIC_E2E].deviation_ms, 5);
    is_near(cells[0].succeeded, 2);
    assert_string_equal(cells[0].time, "2026-04-28T11:58:50Z");
    is_near(cells[1].output_tokens_asked, 128);
    is_near(cells[1].output_throughput, 100);
    is_near(cells[1].stream_throughput, 100);
    is_near(cells[1].latency[METRIC_TPOT].mean_ms, 10);
    is_near(cells[1].latency[METRIC_TPOT].deviation_ms, 0.1);
    is_near(cells[1].succeeded, 3);
    assert_string_equal(cells[1].variant, "n_depth=4096");
    is_near(cells[2].total_throughput, 400);
    assert_true(isnan(cells[2].output_throughput));
    assert_true(isnan(cells[2].latency[METRIC_TPOT].mean_ms));
    remarks(&evidence, "measures the engine itself");
}

static void llama_bench_results_are_also_read_from_lines_and_tables(void **state)
{
    static const char lines[] =
        "{\"model_type\": \"toy\", \"n_prompt\": 0, \"n_gen\": 64, \"avg_ns\": 640000000, "
        "\"stddev_ns\": 0, \"avg_ts\": 100.0}\n"
        "{\"model_type\": \"toy\", \"n_prompt\": 0, \"n_gen\": 32, \"avg_ns\": 640000000, "
        "\"stddev_ns\": 0, \"avg_ts\": 50.0}\n";
    EVIDENCE_AUTO jsonl, csv, markdown, many;
    TEXT_AUTO repeated = { 0 };

    (void)state;
    text_add(&repeated,
             "{\"model_type\": \"toy\", \"n_prompt\": 0, \"n_gen\": 64, \"avg_ns\": "
             "640000000, \"stddev_ns\": 0, \"avg_ts\": 100.0, \"samples_ns\": [640000000");
    for (int i = 1; i < 100; i++)
        text_add(&repeated, ", 640000000");
    text_add(&repeated, "]}\n");
    import_text(text_string(&repeated), &many);
    assert_true(isnan(many.cells[0].succeeded)); /* the long list was truncated */
    import_text(lines, &jsonl);
    assert_string_equal(jsonl.format, "llama-bench");
    is_near(jsonl.cells[1].output_throughput, 50);
    assert_int_equal(jsonl.cells[1].row, 2);
    import_fixture("llama_bench.csv", "llama-bench", &csv);
    is_near(csv.cells[1].input_throughput, 1600);
    is_near(csv.cells[1].latency[METRIC_E2E].mean_ms, 320);
    assert_string_equal(csv.cells[1].variant, "n_batch=1024"); /* the setting that varies */
    import_fixture("llama_bench.md", "llama-bench", &markdown);
    assert_int_equal(markdown.cell_count, 3);
    is_near(markdown.cells[0].input_throughput, 7340.2);
    is_near(markdown.cells[0].input_length, 512);
    is_near(markdown.cells[1].output_throughput, 120.6);
    is_near(markdown.cells[1].output_tokens_asked, 128);
    assert_string_equal(markdown.cells[2].variant, "n_depth=512");
}

static void genai_perf_load_and_lengths_are_read(void **state)
{
    EVIDENCE_AUTO evidence, options;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("genai_perf.json", "genai-perf", &evidence);
    assert_string_equal(evidence.facts.model, "toy/model");
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 10);
    is_near(cell->input_length, 550);
    is_near(cell->output_tokens_asked, 100);
    is_near(cell->succeeded, 100);
    is_near(cell->input_tokens_mean, 550);
    is_near(cell->output_tokens_mean, 100);
    is_near(cell->request_throughput, 8);
    is_near(cell->output_throughput, 800);
    is_near(cell->stream_throughput, 89);
    is_near(cell->latency[METRIC_E2E].mean_ms, 1200);
    is_near(cell->latency[METRIC_E2E].deviation_ms, 60);
    is_near(cell->latency[METRIC_TTFT].p99_ms, 130);
    is_near(cell->latency[METRIC_TTST].mean_ms, 11);
    is_near(cell->latency[METRIC_TPOT].p50_ms, 11.1); /* the tool calls it ITL */
    remarks(&evidence, "kept as text: \"gpu_power_usage\"");
    import_fixture("genai_perf_options.json", "genai-perf", &options);
    cell = &options.cells[0];
    assert_true(isnan(cell->concurrency));
    is_near(cell->request_rate_asked, 4.5);
    is_near(cell->input_length, 128);
    is_near(cell->output_tokens_asked, 256);
    assert_true(isnan(cell->requests_asked));
    is_near(cell->latency[METRIC_E2E].p99_ms, 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sglang_figures_are_read_in_their_units),
        cmocka_unit_test(sglang_failures_are_read_from_its_detailed_output),
        cmocka_unit_test(sglang_lengths_are_the_means_of_the_ranges_they_were_drawn_from),
        cmocka_unit_test(a_fact_in_which_the_lines_of_an_sglang_file_differ_is_unknown),
        cmocka_unit_test(inferencex_times_in_seconds_and_rates_per_accelerator_are_converted),
        cmocka_unit_test(accelerators_that_inferencex_names_twice_count_once),
        cmocka_unit_test(genai_perf_load_and_lengths_are_read),
        cmocka_unit_test(llama_bench_results_are_read_as_cells_with_one_user),
        cmocka_unit_test(llama_bench_results_are_also_read_from_lines_and_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
