/* SPDX-License-Identifier: Apache-2.0 */
/* Imports rows of JSON, columns whose meaning the caller states, files whose format is unknown, and
 * figures whose meaning is unknown. */
#include "tests/unit/support/imports.h"

static void rows_are_read_with_the_facts_in_the_object_that_contains_them(void **state)
{
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    import_fixture("rows.json", "rows", &evidence);
    assert_int_equal(evidence.cell_count, 2);
    assert_int_equal(evidence.input_unit, LENGTH_TOKENS);
    assert_string_equal(evidence.facts.hardware, "L4"); /* from the object that contains the rows */
    cell = &evidence.cells[0];
    assert_int_equal(cell->row, 1);
    is_near(cell->concurrency, 1);
    is_near(cell->input_length, 128);
    is_near(cell->request_throughput, 2.5);
    is_near(cell->latency[METRIC_E2E].mean_ms, 400);
    is_near(cell->latency[METRIC_E2E].p99_ms, 410);
    is_near(cell->latency[METRIC_TTFT].p50_ms, 19);
    assert_string_equal(json_string_value(json_object_get(cell->original, "ttft_ms.p50")), "19");
    assert_int_equal(evidence.cells[1].state, EVIDENCE_FAILED);
    is_near(evidence.cells[1].failed, 3);
    remarks(&evidence,
            "kept as text: \"colour\", \"ttft\" (in 1 of 2 rows), \"list\" (in 1 of 2 rows)");
}

static void rows_are_read_from_lists_lines_and_named_members(void **state)
{
    static const char *const files[] = {
        "[{\"users\": 1, \"rps\": 2}, {\"users\": 4, \"rps\": 8, \"avg_latency_s\": 0.5}]",
        "{\"users\": 1, \"rps\": 2}\n{\"users\": 4, \"rps\": 8, \"avg_latency_s\": 0.5}\n",
        "{\"runs\": {\"a\": {\"users\": 1, \"rps\": 2}, \"b\": {\"users\": 4, \"rps\": 8, "
        "\"avg_latency_s\": 0.5}}}",
        "{\"a\": {\"users\": 1, \"rps\": 2}, \"b\": {\"users\": 4, \"rps\": 8, "
        "\"avg_latency_s\": 0.5}}",
        "{\"when\": \"today\", \"grid\": [[{\"users\": 0, \"rps\": 0}]], \"results\": {\"sweep\": "
        "[{\"params\": {\"users\": 1}, \"metrics\": {\"rps\": 2}}, {\"params\": {\"users\": 4}, "
        "\"metrics\": {\"rps\": 8, \"latency\": {\"avg_s\": 0.5}}}]}}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        EVIDENCE_AUTO evidence;

        import_text(files[i], &evidence);
        assert_string_equal(evidence.format, "rows");
        assert_int_equal(evidence.cell_count, 2);
        assert_int_equal(evidence.cells[1].row, 2);
        is_near(evidence.cells[0].request_throughput, 2);
        is_near(evidence.cells[1].concurrency, 4);
        is_near(evidence.cells[1].latency[METRIC_E2E].mean_ms, 500);
    }
}

static void a_summary_of_several_models_loses_no_figure(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    import_fixture("summary_models.json", "summary", &evidence);
    assert_int_equal(evidence.cell_count, 4);
    is_near(evidence.cells[0].request_throughput, 2);
    is_near(evidence.cells[1].request_throughput, 6);
    is_near(evidence.cells[3].request_throughput, 1);
    is_near(evidence.cells[0].latency[METRIC_ICL].mean_ms, 9);
    assert_string_equal(evidence.cells[1].variant, "model=toy/a");
    assert_string_equal(evidence.cells[2].variant, "model=toy/b");
    assert_string_equal(evidence.facts.model, "");
    remarks(&evidence, "the rows differ in \"model\"");
    remarks(&evidence, "kept as text: \"speed\" (in 1 of 4 rows)");
}

static void a_caller_can_state_what_columns_mean(void **state)
{
    static const char rows[] = "[{\"u\": 1, \"tput\": 2.5, \"lat\": 0.4, \"rps\": 9}, "
                               "{\"u\": 2, \"tput\": 4.5, \"lat\": 0.45, \"rps\": 9}]";
    static const char table[] = "u,tput,lat,rps\n1,2.5,0.4,9\n2,4.5,0.45,9\n";
    static const char *const columns[] = { "u=concurrency", "tput=requests_per_s", "lat=mean_e2e_s",
                                           "rps=", NULL };
    static const char *const files[] = { rows, table };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        EVIDENCE_AUTO evidence;

        import_stated(files[i], NULL, columns, &evidence);
        assert_string_equal(evidence.format, i == 0 ? "rows" : "csv");
        is_near(evidence.cells[1].concurrency, 2);
        is_near(evidence.cells[1].request_throughput, 4.5);
        is_near(evidence.cells[1].latency[METRIC_E2E].mean_ms, 450);
        assert_null(evidence.remarks);
    }
}

static void invalid_statements_about_columns_are_refused(void **state)
{
    static const char table[] = "users,rps,x\n1,2,3\n";
    static const char result[] =
        "{\"num_prompts\": 4, \"completed\": 4, \"total_input_tokens\": 8, "
        "\"request_throughput\": 4.5}";
    static const char *const odd[] = { "x=speed_of_light", NULL };
    static const char *const bare[] = { "x", NULL };
    static const char *const absent[] = { "y=mean_e2e_s", NULL };

    (void)state;
    refuses_stated(table, NULL, odd, "\"x=speed_of_light\", which names no column known here");
    refuses_stated(table, NULL, bare, "\"x\", which names no column known here");
    refuses_stated(table, NULL, absent, "\"y=mean_e2e_s\", but the file has no such column");
    refuses_stated(result, NULL, absent, "this is a vllm file");
}

static void refusals_of_rows_say_what_is_missing_and_how_to_state_columns(void **state)
{
    (void)state;
    refuses("[{\"speed\": 1, \"users\": 2}]", NULL, "say in \"columns\" what they mean");
    refuses("[{\"speed\": 1, \"size\": 2}]", "rows",
            "name fewer than two known columns (the names are \"speed\", \"size\")");
    refuses("speed,size\n1,2\n", NULL, "as in \"speed=requests_per_s\"");
    refuses("[]", "rows", "has no cells");
}

/* ---- Files that resemble a known format ---- */

#define RESULT                                                                                     \
    "{\"num_prompts\": 8, \"completed\": 8, \"total_input_tokens\": 64, \"request_throughput\": "  \
    "4.5, \"max_concurrency\": 2, \"mean_ttft\": 0.25, \"p99_tpot\": 0.01}"

static void a_result_whose_latencies_have_no_unit_is_not_read_as_vllm(void **state)
{
    static const char *const stated[] = { "mean_ttft=mean_ttft_s", "p99_tpot=p99_tpot_s", NULL };
    EVIDENCE_AUTO unstated, seconds;

    (void)state;
    import_text(RESULT, &unstated);
    assert_string_equal(unstated.format, "rows");
    assert_true(isnan(unstated.cells[0].latency[METRIC_TTFT].mean_ms));
    remarks(&unstated,
            "latencies whose names have no unit, kept as text: \"mean_ttft\", \"p99_tpot\"");
    import_stated(RESULT, NULL, stated, &seconds);
    is_near(seconds.cells[0].latency[METRIC_TTFT].mean_ms, 250);
    is_near(seconds.cells[0].latency[METRIC_TPOT].p99_ms, 10);
    refuses(RESULT, "vllm", "have no unit (\"p99_tpot\"), where vLLM writes \"p99_tpot_ms\"");
}

static void a_file_is_refused_if_the_named_format_is_that_of_a_different_tool(void **state)
{
    TEXT_AUTO sglang = { 0 };

    (void)state;
    file_read(SOURCE_DIR "/tests/data/imports", "sglang.jsonl", &sglang);
    refuses(text_string(&sglang), "vllm",
            "the file's format is sglang, not vllm, for which it lacks \"num_prompts\"");
}

static void a_refusal_names_the_nearest_format(void **state)
{
    (void)state;
    refuses("{\"num_prompts\": 3, \"completed\": 3, \"total_input_tokens\": 3}", NULL,
            "the nearest is vllm, but the file lacks \"request_throughput\"");
    refuses("{\"load_summary\": {}}", NULL,
            "the nearest is inference-perf, but the file lacks \"successes\"");
}

static void unexpected_figures_get_a_remark(void **state)
{
    static const char file[] =
        "{\"num_prompts\": 8, \"completed\": 8, \"total_input_tokens\": 64,"
        " \"request_throughput\": 4.5, \"mean_ttft_ms\": 25, \"speed\": 3,"
        " \"p50_ttft_ms\": {\"all\": 4}, \"note\": \"fast\", \"p99_ttft_ms\": -1,"
        " \"burstiness\": 1.0, \"itls\": [[1]], \"label\": null}\n"
        "{\"num_prompts\": 8, \"completed\": 8, \"total_input_tokens\": 64,"
        " \"request_throughput\": 4.5}";
    EVIDENCE_AUTO evidence;

    (void)state;
    import_text(file, &evidence);
    remarks(&evidence, "figures not known here, kept as text: \"speed\" (in 1 of 2 cells), "
                       "\"p50_ttft_ms\" (in 1 of 2 cells), \"p99_ttft_ms\" (in 1 of 2 cells)");
    assert_int_equal(json_array_size(evidence.remarks), 1);
}

static void a_latency_whose_figures_are_all_zero_is_unknown(void **state)
{
    static const char file[] =
        "{\"num_prompts\": 8, \"completed\": 0, \"total_input_tokens\": 0, \"request_throughput\": "
        "0.0, \"mean_ttft_ms\": 0.0, \"p99_ttft_ms\": 0.0, \"mean_tpot_ms\": 0}";
    EVIDENCE_AUTO evidence;

    (void)state;
    import_text(file, &evidence);
    assert_int_equal(evidence.cells[0].state, EVIDENCE_FAILED);
    assert_true(isnan(evidence.cells[0].latency[METRIC_TTFT].mean_ms));
    assert_true(isnan(evidence.cells[0].latency[METRIC_TPOT].mean_ms));
}

#define STAGE(rate)                                                                                \
    "{\"load_summary\": {\"count\": 4, \"requested_rate\": " rate "}, \"successes\": "             \
    "{\"count\": 4, \"throughput\": {\"requests_per_sec\": 2.0}}, \"failures\": {\"count\": 0}}\n"
#define SUMMARY                                                                                    \
    "{\"load_summary\": {\"count\": 8}, \"successes\": {\"count\": 8, \"throughput\": "            \
    "{\"requests_per_sec\": 3.0}}, \"failures\": {\"count\": 0}}\n"

static void a_summary_of_stages_with_several_rates_is_not_a_cell(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    refuses(SUMMARY, NULL, "Import the stage_N_lifecycle_metrics.json");
    import_text(STAGE("1") STAGE("2") SUMMARY, &evidence);
    assert_int_equal(evidence.cell_count, 2);
    is_near(evidence.cells[1].request_rate_asked, 2);
    remarks(&evidence, "each adds up stages with different loads: 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_with_the_facts_in_the_object_that_contains_them),
        cmocka_unit_test(rows_are_read_from_lists_lines_and_named_members),
        cmocka_unit_test(a_summary_of_several_models_loses_no_figure),
        cmocka_unit_test(a_caller_can_state_what_columns_mean),
        cmocka_unit_test(invalid_statements_about_columns_are_refused),
        cmocka_unit_test(refusals_of_rows_say_what_is_missing_and_how_to_state_columns),
        cmocka_unit_test(a_result_whose_latencies_have_no_unit_is_not_read_as_vllm),
        cmocka_unit_test(a_file_is_refused_if_the_named_format_is_that_of_a_different_tool),
        cmocka_unit_test(a_refusal_names_the_nearest_format),
        cmocka_unit_test(unexpected_figures_get_a_remark),
        cmocka_unit_test(a_latency_whose_figures_are_all_zero_is_unknown),
        cmocka_unit_test(a_summary_of_stages_with_several_rates_is_not_a_cell),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
