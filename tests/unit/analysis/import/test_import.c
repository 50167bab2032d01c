/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other load generators: small made-up ones in every format, and the results
 * that users published. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/import/import.h"
#include "base/core/memory.h"
#include "tests/unit/support/published.h"

static void read_bytes(const char *bytes, size_t length, const char *format, struct evidence *out)
{
    struct error error;

    if (!import_read(bytes, length, format, out, &error))
        fail_msg("%s", error.message);
}

static void read_fixture(const char *name, const char *format, struct evidence *out)
{
    TEXT_AUTO bytes = { 0 };

    file_read(SOURCE_DIR "/tests/data/imports", name, &bytes);
    read_bytes(bytes.data, bytes.length, NULL, out);
    assert_string_equal(out->format, format);
    assert_true(out->imported);
    assert_int_equal(strlen(out->digest), 64);
}

static void refused(const char *bytes, const char *format, const char *words)
{
    EVIDENCE_AUTO evidence;
    struct error error;

    assert_false(import_read(bytes, strlen(bytes), format, &evidence, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    if (strstr(error.message, words) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
}

static void remarked(const struct evidence *evidence, const char *words)
{
    FREE_AUTO char *all = json_dumps(evidence->remarks, JSON_ENCODE_ANY);

    if (all == NULL || strstr(all, words) == NULL)
        fail_msg("no remark says \"%s\": %s", words, all);
}

static void near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fmax(1, fabs(expected))))
        fail_msg("%.12g is not %.12g", actual, expected);
}

static const char *original(const struct evidence_cell *cell, const char *column)
{
    return json_string_value(json_object_get(cell->original, column));
}

static void csv_keeps_a_grid_that_was_appended_to_itself(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    read_fixture("twice.csv", "csv", &evidence);
    assert_int_equal(evidence.cell_count, 4);
    assert_int_equal(evidence.input_unit, LENGTH_UNKNOWN);
    assert_int_equal(evidence.cells[0].row, 2);
    assert_true(isnan(evidence.cells[0].input_length));
    assert_string_equal(original(&evidence.cells[0], "context_len"), "words");
    assert_string_equal(original(&evidence.cells[1], "note"), "second, \"quoted\"");
    near(evidence.cells[1].latency[METRIC_E2E].mean_ms, 1000);
    assert_int_equal(evidence.cells[2].state, EVIDENCE_FAILED);
    assert_int_equal(evidence.cells[3].row, 6);
    assert_int_equal(evidence.cells[3].state, EVIDENCE_MEASURED);
    remarked(&evidence, "line 2: \\\"words\\\" in the column \\\"context_len\\\"");
    remarked(&evidence, "line 5 is the heading again");
    remarked(&evidence, "line 7 has 3 fields where the heading has 6");
    remarked(&evidence, "kept as text: \\\"note\\\"");
}

static void csv_takes_units_from_the_names_of_columns(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("units.csv", "csv", &evidence);
    assert_int_equal(evidence.input_unit, LENGTH_WORDS);
    assert_string_equal(evidence.facts.model, "toy");
    cell = &evidence.cells[0];
    near(cell->concurrency, 1);
    near(cell->input_length, 100);
    near(cell->latency[METRIC_TTFT].p99_ms, 20.5);
    near(cell->latency[METRIC_TTFT].p50_ms, 10);
    near(cell->latency[METRIC_TPOT].mean_ms, 9);
    near(cell->success_rate, 1);
    near(cell->request_throughput, 2);
    near(evidence.cells[1].success_rate, 0.5);
    assert_true(isnan(evidence.cells[1].latency[METRIC_TTFT].p50_ms));
    assert_true(isnan(evidence.cells[1].latency[METRIC_TPOT].mean_ms));
    remarked(&evidence, "\\\"avg_latency\\\" has no unit: read as seconds");
    remarked(&evidence, "requests per second, since at 1 user it is the inverse");
}

static void csv_without_failures_has_those_that_did_not_succeed(void **state)
{
    static const char TABLE[] = "concurrency,num_requests,completed,failed,req_per_s\n"
                                "4,200,75,,4\n4,200,75,5,4\n";
    EVIDENCE_AUTO evidence;

    (void)state;
    read_bytes(TABLE, strlen(TABLE), NULL, &evidence);
    near(evidence.cells[0].success_rate, 0.375);
    near(evidence.cells[1].success_rate, 75.0 / 80); /* the other requests were not sent */
}

static void csv_does_not_guess_what_a_throughput_counts(void **state)
{
    static const char table[] = "concurrency,throughput,avg_latency_s,success_rate\n"
                                "1,900,0.5,99\n4,1200,0.9,100\n";
    EVIDENCE_AUTO evidence;

    (void)state;
    read_bytes(table, strlen(table), NULL, &evidence);
    assert_true(isnan(evidence.cells[0].request_throughput));
    assert_string_equal(original(&evidence.cells[0], "throughput"), "900");
    near(evidence.cells[0].success_rate, 0.99);
    remarked(&evidence, "nothing in the file shows it");
    remarked(&evidence, "read as a percentage");
}

static void csv_rows_of_several_models_have_no_one_model(void **state)
{
    static const char table[] = "model,concurrency,req_per_sec\na,1,2\nb,1,3\n";
    EVIDENCE_AUTO evidence;

    (void)state;
    read_bytes(table, strlen(table), NULL, &evidence);
    assert_string_equal(evidence.facts.model, "");
    remarked(&evidence, "the rows differ in \\\"model\\\"");
}

static void csv_says_what_is_wrong(void **state)
{
    (void)state;
    refused("", NULL, "the file is empty");
    refused("colour,shape\nred,round\n", NULL, "fewer than two known columns");
    refused("concurrency,rps\n", NULL, "no row below it");
    refused("concurrency,rps\n1,\"2\n", NULL, "line 2: a quoted field does not end");
    refused("x", "xml", "there is no format \"xml\"");
}

static void reads_vllm_results_one_after_the_other(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("vllm.json", "vllm", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.model, "toy/model");
    assert_string_equal(evidence.facts.engine, "");
    cell = &evidence.cells[0];
    near(cell->concurrency, 4);
    assert_true(isnan(cell->request_rate_asked));
    near(cell->attempted, 10);
    near(cell->success_rate, 0.9);
    near(cell->output_throughput, 36);
    near(cell->latency[METRIC_TTFT].mean_ms, 50.5);
    near(cell->latency[METRIC_ICL].p99_ms, 30);
    near(cell->latency[METRIC_TPOT].p50_ms, 10);
    assert_true(isnan(cell->latency[METRIC_E2E].mean_ms));
    assert_true(isnan(
        cell->input_tokens_mean)); /* one request failed: it is not known whose tokens these are */
    assert_string_equal(cell->error, "Traceback: connection reset");
    assert_string_equal(original(cell, "backend"), "openai");
    cell = &evidence.cells[1];
    assert_int_equal(cell->row, 9);
    assert_int_equal(cell->position, 1);
    near(cell->request_rate_asked, 2.5);
    near(cell->failed, 0); /* not reported: all planned requests were completed */
    assert_int_equal(cell->state, EVIDENCE_MEASURED);
}

static void guidellm_calls_tpot_itl(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("guidellm.json", "guidellm", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.model, "toy/model");
    cell = &evidence.cells[0];
    near(cell->concurrency, 16);
    near(cell->concurrency_actual, 15.5);
    near(cell->succeeded, 90);
    near(cell->failed, 10);
    near(cell->duration_s, 30);
    near(cell->latency[METRIC_E2E].p99_ms, 6800);
    near(cell->latency[METRIC_TTFT].mean_ms, 120);
    near(cell->latency[METRIC_TPOT].mean_ms, 70);
    assert_true(isnan(cell->latency[METRIC_ICL].mean_ms));
    near(cell->input_tokens_mean, 256);
    near(cell->output_tokens, 5760);
    near(cell->output_throughput, 192);
    remarked(&evidence, "5 requests were cut off at its end");
    cell = &evidence.cells[1];
    assert_true(isnan(cell->concurrency));
    near(cell->request_rate_asked, 4);
    assert_int_equal(cell->state, EVIDENCE_FAILED);
}

static void aiperf_states_its_units(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("aiperf.json", "aiperf", &evidence);
    cell = &evidence.cells[0];
    near(cell->concurrency, 32);
    near(cell->timeout_s, 600);
    near(cell->input_length, 550);
    near(cell->succeeded, 318);
    near(cell->failed, 2);
    near(cell->duration_s, 25.44);
    near(cell->latency[METRIC_E2E].mean_ms, 2500);
    near(cell->latency[METRIC_TPOT].p99_ms, 25);
    near(cell->latency[METRIC_ICL].p50_ms, 17);
    near(cell->latency[METRIC_TTFT].deviation_ms, 50);
    near(cell->stream_throughput, 55);
    assert_string_equal(cell->error, "Service Unavailable: overloaded");
    assert_string_equal(evidence.facts.model, "toy/model");
}

static void aiperf_reports_what_the_server_counted(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("aiperf_lists.json", "aiperf", &evidence);
    cell = &evidence.cells[0];
    near(cell->concurrency, 4);
    near(cell->requests_asked, 600);
    near(cell->input_length, 128);
    near(cell->output_tokens_asked, 32);
    near(cell->output_tokens_mean, 78);
    near(cell->input_tokens_usage, 54);
    near(cell->output_tokens_usage, 32);
    assert_string_equal(evidence.facts.model, "toy/model");
}

static void an_aiperf_sweep_is_a_cell_per_combination(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    read_fixture("aiperf_sweep.json", "aiperf", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    near(evidence.cells[0].concurrency, 2);
    near(evidence.cells[0].request_throughput, 6);
    near(evidence.cells[0].latency[METRIC_E2E].p99_ms, 335);
    assert_int_equal(evidence.cells[0].state, EVIDENCE_MEASURED);
    near(evidence.cells[1].request_rate_asked, 20);
    assert_true(isnan(evidence.cells[1].concurrency));
    near(evidence.cells[1].latency[METRIC_TTFT].p50_ms, 19);
    assert_int_equal(evidence.cells[1].row, 2);
}

static void an_aggregate_that_hides_its_runs_is_refused(void **state)
{
    (void)state;
    refused("{\"aiperf_version\": \"0.13.0\", \"metadata\": {\"aggregation_type\": "
            "\"confidence\"}, \"metrics\": {}}",
            NULL, "import each run's profile_export_aiperf.json");
}

static void aiperf_records_become_one_cell(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("aiperf_records.jsonl", "aiperf-records", &evidence);
    assert_int_equal(evidence.cell_count, 1);
    cell = &evidence.cells[0];
    assert_true(isnan(cell->concurrency));
    near(cell->succeeded, 2);
    near(cell->failed, 1);
    near(cell->duration_s, 2);
    near(cell->concurrency_actual, 2);
    near(cell->request_throughput, 1);
    near(cell->output_throughput, 91);
    near(cell->latency[METRIC_TTFT].mean_ms, 150);
    near(cell->latency[METRIC_TTFT].p50_ms, 150);
    near(cell->latency[METRIC_TTFT].p90_ms, 190);
    near(cell->latency[METRIC_TPOT].max_ms, 20);
    near(cell->latency[METRIC_ICL].mean_ms, 10);
    near(cell->latency[METRIC_ICL].count, 2);
    assert_string_equal(cell->error, "RequestCancellationError: cancelled");
    remarked(&evidence, "requests of the warm-up that were skipped: 1");
}

#define RATE "{\"requests_per_second\": {\"successful\": {\"mean\": 2}}}"

static void guidellm_reports_what_was_requested(void **state)
{
    static const char OLDER[] = "{\"args\": {\"data\": [\"prompt_tokens=256,output_tokens=64\"]}, "
                                "\"benchmarks\": [{\"metrics\": " RATE "}]}";
    static const char TWO[] =
        "{\"args\": {\"data\": [{\"prompt_tokens\": 1}, "
        "{\"prompt_tokens\": 2}]}, \"benchmarks\": [{\"metrics\": " RATE "}]}";
    EVIDENCE_AUTO evidence, older, two;

    (void)state;
    read_fixture("guidellm_sources.json", "guidellm", &evidence);
    near(evidence.cells[0].input_length, 128);
    near(evidence.cells[0].output_tokens_asked, 32);
    near(evidence.cells[0].input_tokens_mean, 126.5);
    read_bytes(OLDER, strlen(OLDER), "guidellm", &older);
    near(older.cells[0].input_length, 256);
    near(older.cells[0].output_tokens_asked, 64);
    read_bytes(TWO, strlen(TWO), "guidellm", &two);
    assert_true(isnan(two.cells[0].input_length));
}

static void inference_perf_reports_both_counts_of_the_output(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("inference_perf_usage.json", "inference-perf", &evidence);
    cell = &evidence.cells[0];
    near(cell->duration_s, 50);
    near(cell->concurrency, 8);
    near(cell->goodput, 9.5);
    near(cell->input_tokens, 63744);
    near(cell->cached_tokens, 1600);
    near(cell->output_tokens_mean, 64);
    near(cell->output_tokens_usage, 60);
    assert_string_equal(cell->error, "504 - Gateway Timeout: upstream timed out");
}

static void inference_perf_counts_in_seconds(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("inference_perf.json", "inference-perf", &evidence);
    cell = &evidence.cells[0];
    near(cell->request_rate_asked, 5);
    near(cell->attempted, 100);
    near(cell->success_rate, 0.97);
    near(cell->latency[METRIC_E2E].p99_ms, 3000);
    near(cell->latency[METRIC_TTFT].p50_ms, 140);
    near(cell->latency[METRIC_TPOT].mean_ms, 18);
    near(cell->latency[METRIC_ICL].mean_ms, 17.9);
    near(cell->input_tokens, 12416);
    near(cell->output_tokens_mean, 96);
    near(cell->total_throughput, 1120);
    assert_string_equal(cell->error, "504 - Gateway Timeout: upstream timed out");
}

static void serving_reports_describe_the_machine_too(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    read_fixture("serving_report.json", "serving-report", &evidence);
    assert_string_equal(evidence.facts.hardware, "toy-chip");
    assert_string_equal(evidence.facts.engine, "toyserve");
    assert_string_equal(evidence.facts.flags, "--fast --max-model-len 4096");
    near(evidence.facts.price_usd_per_chip_hour, 0.5);
    near(evidence.facts.chips, 2);
    near(evidence.facts.context_limit_tokens, 4096);
    cell = &evidence.cells[0];
    near(cell->input_length, 1024);
    near(cell->output_tokens_asked, 100);
    near(cell->output_throughput,
         150); /* the report's own figure takes precedence over the raw one */
    near(cell->duration_s, 6.6667);
    near(cell->latency[METRIC_ICL].mean_ms, 6.5);
    near(cell->success_rate, 1);
    cell = &evidence.cells[1];
    assert_int_equal(cell->state, EVIDENCE_INFEASIBLE);
    near(cell->input_length, 8192);
    assert_string_equal(cell->error, "longer than max_model_len 4096");
    assert_string_equal(original(cell, "colour"), "red");
    assert_true(isnan(cell->output_throughput));
}

static void summaries_have_cells_by_name(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    read_fixture("summary.json", "summary", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_string_equal(evidence.facts.model, "toy/model");
    near(evidence.facts.context_limit_tokens, 8192);
    near(evidence.cells[0].latency[METRIC_TTFT].mean_ms, 20);
    assert_string_equal(original(&evidence.cells[1], "cells"), "c128-u4");
    assert_int_equal(evidence.cells[1].state, EVIDENCE_FAILED);
    assert_string_equal(evidence.cells[1].error, "boom");
}

static void json_says_where_it_is_wrong(void **state)
{
    (void)state;
    refused("{\"benchmarks\": [{\"metrics\": {]}", "guidellm", "the JSON is wrong at byte 29");
    refused("{\"benchmarks\": []}", NULL, "has no cell: import a file");
    refused("{\"a\":1}\n{\"b\":", "vllm", "begins at line 2");
    refused("{\"a\": 1}", NULL, "none of the known formats");
    refused("{\"a\": 1}", "vllm", "the vllm file has no requests, no rate and no latency");
    refused("{}", "aiperf", "the aiperf file has no requests, no rate and no latency");
    refused("{\"schema_version\": \"1.1\", \"throughput\": {}} x", NULL,
            "there is more text after");
}

/* ---- Published results ---- */

static void is_read(const char *name, const struct text *bytes)
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
    assert_true(published_each(folder, is_read) >= 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_keeps_a_grid_that_was_appended_to_itself),
        cmocka_unit_test(csv_takes_units_from_the_names_of_columns),
        cmocka_unit_test(csv_without_failures_has_those_that_did_not_succeed),
        cmocka_unit_test(csv_does_not_guess_what_a_throughput_counts),
        cmocka_unit_test(csv_rows_of_several_models_have_no_one_model),
        cmocka_unit_test(csv_says_what_is_wrong),
        cmocka_unit_test(reads_vllm_results_one_after_the_other),
        cmocka_unit_test(guidellm_calls_tpot_itl),
        cmocka_unit_test(aiperf_states_its_units),
        cmocka_unit_test(aiperf_reports_what_the_server_counted),
        cmocka_unit_test(an_aiperf_sweep_is_a_cell_per_combination),
        cmocka_unit_test(an_aggregate_that_hides_its_runs_is_refused),
        cmocka_unit_test(aiperf_records_become_one_cell),
        cmocka_unit_test(guidellm_reports_what_was_requested),
        cmocka_unit_test(inference_perf_reports_both_counts_of_the_output),
        cmocka_unit_test(inference_perf_counts_in_seconds),
        cmocka_unit_test(serving_reports_describe_the_machine_too),
        cmocka_unit_test(summaries_have_cells_by_name),
        cmocka_unit_test(json_says_where_it_is_wrong),
        cmocka_unit_test(every_published_file_is_understood),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
