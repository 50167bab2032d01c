/* SPDX-License-Identifier: Apache-2.0 */
/* Imports files from other load generators: small made-up ones in CSV and JSON, and results that
 * users published. */
#include "tests/unit/support/imports.h"

static const char *original(const struct evidence_cell *cell, const char *column)
{
    return json_string_value(json_object_get(cell->original, column));
}

static void csv_keeps_failed_rows_and_those_after_a_second_heading(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    import_fixture("twice.csv", "csv", &evidence);
    assert_int_equal(evidence.cell_count, 4);
    assert_int_equal(evidence.input_unit, LENGTH_UNKNOWN);
    assert_int_equal(evidence.cells[0].row, 2);
    assert_true(isnan(evidence.cells[0].input_length));
    assert_string_equal(original(&evidence.cells[0], "context_len"), "words");
    assert_string_equal(original(&evidence.cells[1], "note"), "second, \"quoted\"");
    is_near(evidence.cells[1].latency[METRIC_E2E].mean_ms, 1000);
    assert_int_equal(evidence.cells[2].state, EVIDENCE_FAILED);
    assert_int_equal(evidence.cells[3].row, 6);
    assert_int_equal(evidence.cells[3].state, EVIDENCE_MEASURED);
    remarks(&evidence, "line 2: \"words\" is not a number that fits the column \"context_len\"");
    remarks(&evidence, "line 5 repeats the heading");
    remarks(&evidence, "line 7 has 3 fields where the heading has 6");
    remarks(&evidence, "kept as text: \"note\"");
}

static void csv_takes_units_from_the_names_of_columns(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("units.csv", "csv", &evidence);
    assert_int_equal(evidence.input_unit, LENGTH_WORDS);
    assert_string_equal(evidence.facts.model, "toy");
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 1);
    is_near(cell->input_length, 100);
    is_near(cell->latency[METRIC_TTFT].p99_ms, 20.5);
    is_near(cell->latency[METRIC_TTFT].p50_ms, 10);
    is_near(cell->latency[METRIC_TPOT].mean_ms, 9);
    is_near(cell->success_rate, 1);
    is_near(cell->request_throughput, 2);
    is_near(evidence.cells[1].success_rate, 0.5);
    assert_true(isnan(evidence.cells[1].latency[METRIC_TTFT].p50_ms));
    assert_true(isnan(evidence.cells[1].latency[METRIC_TPOT].mean_ms));
    remarks(&evidence, "\"avg_latency\" has no unit: read as seconds");
    remarks(&evidence, "requests per second, since at 1 user it is the inverse");
}

static void csv_without_a_count_of_failures_derives_it_from_the_planned_requests(void **state)
{
    static const char TABLE[] = "concurrency,num_requests,completed,failed,req_per_s\n"
                                "4,200,75,,4\n4,200,75,5,4\n";
    EVIDENCE_AUTO evidence;

    (void)state;
    import_text(TABLE, &evidence);
    is_near(evidence.cells[0].success_rate, 0.375);
    is_near(evidence.cells[1].success_rate, 75.0 / 80); /* the other requests were not sent */
}

static void csv_does_not_guess_what_a_throughput_counts(void **state)
{
    static const char table[] = "concurrency,throughput,avg_latency_s,success_rate\n"
                                "1,900,0.5,99\n4,1200,0.9,100\n";
    EVIDENCE_AUTO evidence;

    (void)state;
    import_text(table, &evidence);
    assert_true(isnan(evidence.cells[0].request_throughput));
    assert_string_equal(original(&evidence.cells[0], "throughput"), "900");
    is_near(evidence.cells[0].success_rate, 0.99);
    remarks(&evidence, "nothing else in the file shows what it counts");
    remarks(&evidence, "read as a percentage");
}

static void csv_rows_of_several_models_leave_the_model_unknown(void **state)
{
    static const char table[] = "model,concurrency,req_per_sec\na,1,2\nb,1,3\n";
    EVIDENCE_AUTO evidence;

    (void)state;
    import_text(table, &evidence);
    assert_string_equal(evidence.facts.model, "");
    remarks(&evidence, "the rows differ in \"model\"");
}

static void refusals_of_csv_and_of_an_unknown_format_say_what_is_wrong(void **state)
{
    (void)state;
    refuses("", NULL, "the file is empty");
    refuses("colour,shape\nred,round\n", NULL, "fewer than two known columns");
    refuses("concurrency,rps\n", NULL, "no rows below it");
    refuses("concurrency,rps\n1,\"2\n", NULL, "line 2: a quoted field has no closing quote");
    refuses("x", "xml", "there is no format \"xml\"");
}

static void each_of_several_vllm_results_becomes_a_cell(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("vllm.json", "vllm", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.model, "toy/model");
    assert_string_equal(evidence.facts.engine, "");
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 4);
    assert_true(isnan(cell->request_rate_asked));
    is_near(cell->attempted, 10);
    is_near(cell->success_rate, 0.9);
    is_near(cell->output_throughput, 36);
    is_near(cell->latency[METRIC_TTFT].mean_ms, 50.5);
    is_near(cell->latency[METRIC_ICL].p99_ms, 30);
    is_near(cell->latency[METRIC_TPOT].p50_ms, 10);
    assert_true(isnan(cell->latency[METRIC_E2E].mean_ms));
    assert_true(isnan(cell->input_tokens_mean)); /* the sum can include failed requests */
    assert_string_equal(cell->error, "Traceback: connection reset");
    assert_string_equal(original(cell, "backend"), "openai");
    cell = &evidence.cells[1];
    assert_int_equal(cell->row, 9);
    assert_int_equal(cell->position, 1);
    is_near(cell->request_rate_asked, 2.5);
    is_near(cell->failed, 0); /* not reported, but all planned requests were completed */
    assert_int_equal(cell->state, EVIDENCE_MEASURED);
}

static void the_itl_of_guidellm_is_read_as_tpot(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("guidellm.json", "guidellm", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.model, "toy/model");
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 16);
    is_near(cell->concurrency_actual, 15.5);
    is_near(cell->succeeded, 90);
    is_near(cell->failed, 10);
    is_near(cell->duration_s, 30);
    is_near(cell->latency[METRIC_E2E].p99_ms, 6800);
    is_near(cell->latency[METRIC_TTFT].mean_ms, 120);
    is_near(cell->latency[METRIC_TPOT].mean_ms, 70);
    assert_true(isnan(cell->latency[METRIC_ICL].mean_ms));
    is_near(cell->input_tokens_mean, 256);
    is_near(cell->output_tokens, 5760);
    is_near(cell->output_throughput, 192);
    remarks(&evidence,
            "requests cut off at its end, counted neither as successes nor as failures: 5");
    cell = &evidence.cells[1];
    assert_true(isnan(cell->concurrency));
    is_near(cell->request_rate_asked, 4);
    assert_int_equal(cell->state, EVIDENCE_FAILED);
}

static void aiperf_figures_are_read_in_the_units_that_the_file_states(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("aiperf.json", "aiperf", &evidence);
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 32);
    is_near(cell->timeout_s, 600);
    is_near(cell->input_length, 550);
    is_near(cell->succeeded, 318);
    is_near(cell->failed, 2);
    is_near(cell->duration_s, 25.44);
    is_near(cell->latency[METRIC_E2E].mean_ms, 2500);
    is_near(cell->latency[METRIC_TPOT].p99_ms, 25);
    is_near(cell->latency[METRIC_ICL].p50_ms, 17);
    is_near(cell->latency[METRIC_TTFT].deviation_ms, 50);
    is_near(cell->stream_throughput, 55);
    assert_string_equal(cell->error, "Service Unavailable: overloaded");
    assert_string_equal(evidence.facts.model, "toy/model");
}

static void aiperf_settings_in_lists_and_the_servers_counts_are_read(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("aiperf_lists.json", "aiperf", &evidence);
    cell = &evidence.cells[0];
    is_near(cell->concurrency, 4);
    is_near(cell->requests_asked, 600);
    is_near(cell->input_length, 128);
    is_near(cell->output_tokens_asked, 32);
    is_near(cell->output_tokens_mean, 78);
    is_near(cell->input_tokens_usage, 54);
    is_near(cell->output_tokens_usage, 32);
    assert_string_equal(evidence.facts.model, "toy/model");
}

static void an_aiperf_sweep_has_a_cell_per_combination(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    import_fixture("aiperf_sweep.json", "aiperf", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    is_near(evidence.cells[0].concurrency, 2);
    is_near(evidence.cells[0].request_throughput, 6);
    is_near(evidence.cells[0].latency[METRIC_E2E].p99_ms, 335);
    assert_int_equal(evidence.cells[0].state, EVIDENCE_MEASURED);
    is_near(evidence.cells[1].request_rate_asked, 20);
    assert_true(isnan(evidence.cells[1].concurrency));
    is_near(evidence.cells[1].latency[METRIC_TTFT].p50_ms, 19);
    assert_int_equal(evidence.cells[1].row, 2);
}

static void an_aggregate_that_hides_its_runs_is_refused(void **state)
{
    (void)state;
    refuses("{\"aiperf_version\": \"0.13.0\", \"metadata\": {\"aggregation_type\": "
            "\"confidence\"}, \"metrics\": {}}",
            NULL, "import each run's profile_export_aiperf.json");
}

static void aiperf_records_become_one_cell(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("aiperf_records.jsonl", "aiperf-records", &evidence);
    assert_int_equal(evidence.cell_count, 1);
    cell = &evidence.cells[0];
    assert_true(isnan(cell->concurrency));
    is_near(cell->succeeded, 2);
    is_near(cell->failed, 1);
    is_near(cell->duration_s, 2);
    is_near(cell->concurrency_actual, 2);
    is_near(cell->request_throughput, 1);
    is_near(cell->output_throughput, 91);
    is_near(cell->latency[METRIC_TTFT].mean_ms, 150);
    is_near(cell->latency[METRIC_TTFT].p50_ms, 150);
    is_near(cell->latency[METRIC_TTFT].p90_ms, 190);
    is_near(cell->latency[METRIC_TPOT].max_ms, 20);
    is_near(cell->latency[METRIC_ICL].mean_ms, 10);
    is_near(cell->latency[METRIC_ICL].count, 2);
    assert_string_equal(cell->error, "RequestCancellationError: cancelled");
    remarks(&evidence, "warm-up requests skipped: 1");
}

#define RATE "{\"requests_per_second\": {\"successful\": {\"mean\": 2}}}"

static void guidellm_reports_what_was_requested(void **state)
{
    static const char OLDER[] = "{\"args\": {\"data\": [\"prompt_tokens=256,output_tokens=64\"]}, "
                                "\"benchmarks\": [{\"metrics\": " RATE "}]}";
    static const char TWO[] = /* the two data sources have different lengths */
        "{\"args\": {\"data\": [{\"prompt_tokens\": 1}, "
        "{\"prompt_tokens\": 2}]}, \"benchmarks\": [{\"metrics\": " RATE "}]}";
    EVIDENCE_AUTO evidence, older, two;

    (void)state;
    import_fixture("guidellm_sources.json", "guidellm", &evidence);
    is_near(evidence.cells[0].input_length, 128);
    is_near(evidence.cells[0].output_tokens_asked, 32);
    is_near(evidence.cells[0].input_tokens_mean, 126.5);
    import_stated(OLDER, "guidellm", NULL, &older);
    is_near(older.cells[0].input_length, 256);
    is_near(older.cells[0].output_tokens_asked, 64);
    import_stated(TWO, "guidellm", NULL, &two);
    assert_true(isnan(two.cells[0].input_length));
}

static void inference_perf_reports_its_own_and_the_servers_output_tokens(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("inference_perf_usage.json", "inference-perf", &evidence);
    cell = &evidence.cells[0];
    is_near(cell->duration_s, 50);
    is_near(cell->concurrency, 8);
    is_near(cell->goodput, 9.5);
    is_near(cell->input_tokens, 63744);
    is_near(cell->cached_tokens, 1600);
    is_near(cell->output_tokens_mean, 64);
    is_near(cell->output_tokens_usage, 60);
    assert_string_equal(cell->error, "504 - Gateway Timeout: upstream timed out");
}

static void inference_perf_latencies_are_read_as_seconds(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("inference_perf.json", "inference-perf", &evidence);
    cell = &evidence.cells[0];
    is_near(cell->request_rate_asked, 5);
    is_near(cell->attempted, 100);
    is_near(cell->success_rate, 0.97);
    is_near(cell->latency[METRIC_E2E].p99_ms, 3000);
    is_near(cell->latency[METRIC_TTFT].p50_ms, 140);
    is_near(cell->latency[METRIC_TPOT].mean_ms, 18);
    is_near(cell->latency[METRIC_ICL].mean_ms, 17.9);
    is_near(cell->input_tokens, 12416);
    is_near(cell->output_tokens_mean, 96);
    is_near(cell->total_throughput, 1120);
    assert_string_equal(cell->error, "504 - Gateway Timeout: upstream timed out");
}

static void serving_reports_describe_the_machine_too(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("serving_report.json", "serving-report", &evidence);
    assert_string_equal(evidence.facts.hardware, "toy-chip");
    assert_string_equal(evidence.facts.engine, "toyserve");
    assert_string_equal(evidence.facts.flags, "--fast --max-model-len 4096");
    is_near(evidence.facts.price_usd_per_chip_hour, 0.5);
    is_near(evidence.facts.chips, 2);
    is_near(evidence.facts.context_limit_tokens, 4096);
    cell = &evidence.cells[0];
    is_near(cell->input_length, 1024);
    is_near(cell->output_tokens_asked, 100);
    is_near(cell->output_throughput, 150); /* the report's figure, not the raw one */
    is_near(cell->duration_s, 6.6667);
    is_near(cell->latency[METRIC_ICL].mean_ms, 6.5);
    is_near(cell->success_rate, 1);
    cell = &evidence.cells[1];
    assert_int_equal(cell->state, EVIDENCE_INFEASIBLE);
    is_near(cell->input_length, 8192);
    assert_string_equal(cell->error, "longer than max_model_len 4096");
    assert_string_equal(original(cell, "colour"), "red");
    assert_true(isnan(cell->output_throughput));
}

static void each_member_of_a_summary_becomes_a_cell(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    import_fixture("summary.json", "summary", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.model, "toy/model");
    is_near(evidence.facts.context_limit_tokens, 8192);
    is_near(evidence.cells[0].latency[METRIC_TTFT].mean_ms, 20);
    assert_string_equal(original(&evidence.cells[1], "cells"), "c128-u4");
    assert_int_equal(evidence.cells[1].state, EVIDENCE_FAILED);
    assert_string_equal(evidence.cells[1].error, "boom");
}

static void refusals_of_json_say_what_is_wrong_and_where(void **state)
{
    (void)state;
    refuses("{\"benchmarks\": [{\"metrics\": {]}", "guidellm", "the JSON is wrong at byte 29");
    refuses("{\"benchmarks\": []}", NULL, "has no cells: import a file");
    refuses("{\"a\":1}\n{\"b\":", "vllm", "begins at line 2");
    refuses("[{\"a\":1},\n\n {\"b\":", "vllm", "begins at line 3");
    refuses("{\"a\": 1}", NULL, "none of the known formats");
    refuses("{\"a\": 1}", "vllm", "the vllm file has no requests, no rate and no latency");
    refuses("{}", "aiperf", "the aiperf file has no requests, no rate and no latency");
    refuses("{\"schema_version\": \"1.1\", \"throughput\": {}} x", NULL,
            "there is more text after");
}

/* ---- Published results ---- */

static void is_understood(const char *name, const struct text *bytes)
{
    EVIDENCE_AUTO evidence;
    struct error error;

    if (!import_read(bytes->data, bytes->length, NULL, &evidence, &error))
        fail_msg("%s: %s", name, error.message);
    for (size_t i = 0; i < evidence.cell_count; i++) {
        const struct evidence_cell *cell = &evidence.cells[i];

        if (isnan(cell->concurrency) || cell->state == EVIDENCE_UNKNOWN)
            fail_msg("%s: cell %zu is not understood", name, i);
        if (cell->state == EVIDENCE_MEASURED && !(cell->request_throughput > 0))
            fail_msg("%s: cell %zu has no rate", name, i);
    }
}

static void every_published_file_is_understood(void **state)
{
    char path[4096];
    const char *folder = published_folder(path);

    (void)state;
    if (folder == NULL)
        skip();
    assert_true(published_each(folder, is_understood) >= 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_keeps_failed_rows_and_those_after_a_second_heading),
        cmocka_unit_test(csv_takes_units_from_the_names_of_columns),
        cmocka_unit_test(csv_without_a_count_of_failures_derives_it_from_the_planned_requests),
        cmocka_unit_test(csv_does_not_guess_what_a_throughput_counts),
        cmocka_unit_test(csv_rows_of_several_models_leave_the_model_unknown),
        cmocka_unit_test(refusals_of_csv_and_of_an_unknown_format_say_what_is_wrong),
        cmocka_unit_test(each_of_several_vllm_results_becomes_a_cell),
        cmocka_unit_test(the_itl_of_guidellm_is_read_as_tpot),
        cmocka_unit_test(aiperf_figures_are_read_in_the_units_that_the_file_states),
        cmocka_unit_test(aiperf_settings_in_lists_and_the_servers_counts_are_read),
        cmocka_unit_test(an_aiperf_sweep_has_a_cell_per_combination),
        cmocka_unit_test(an_aggregate_that_hides_its_runs_is_refused),
        cmocka_unit_test(aiperf_records_become_one_cell),
        cmocka_unit_test(guidellm_reports_what_was_requested),
        cmocka_unit_test(inference_perf_reports_its_own_and_the_servers_output_tokens),
        cmocka_unit_test(inference_perf_latencies_are_read_as_seconds),
        cmocka_unit_test(serving_reports_describe_the_machine_too),
        cmocka_unit_test(each_member_of_a_summary_becomes_a_cell),
        cmocka_unit_test(refusals_of_json_say_what_is_wrong_and_where),
        cmocka_unit_test(every_published_file_is_understood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
