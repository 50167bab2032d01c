/* SPDX-License-Identifier: Apache-2.0 */
/* Imports result files as other programs actually write them: with Python's NaN, lists, numbers in
 * strings, byte order marks or UTF-16. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/import/import.h"

#define RESULT(users)                                                                              \
    "{\"model_id\": \"m\", \"num_prompts\": 400, \"max_concurrency\": " users                      \
    ", \"completed\": 400, \"total_input_tokens\": 51200, \"request_throughput\": 4.5}"

static void read_all(const char *bytes, size_t length, struct evidence *out)
{
    struct error error;

    if (!import_read(bytes, length, NULL, out, &error))
        fail_msg("%s", error.message);
}

static void refused(const char *bytes, size_t length, const char *words)
{
    EVIDENCE_AUTO evidence;
    struct error error;

    assert_false(import_read(bytes, length, NULL, &evidence, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    if (strstr(error.message, words) == NULL)
        fail_msg("the error message \"%s\" does not contain \"%s\"", error.message, words);
}

static void results_in_a_list_are_cells(void **state)
{
    static const char file[] = "[" RESULT("1") ",\n " RESULT("2") "]\n" RESULT("4");
    EVIDENCE_AUTO evidence;

    (void)state;
    read_all(file, strlen(file), &evidence);
    assert_string_equal(evidence.format, "vllm");
    assert_int_equal(evidence.cell_count, 3);
    assert_int_equal(evidence.cells[1].row, 2);
    assert_float_equal(evidence.cells[2].concurrency, 4, 0);
    refused("[" RESULT("1") ", 7]", strlen("[" RESULT("1") ", 7]"), "not a JSON object");
    refused("[" RESULT("1") ", {]", strlen("[" RESULT("1") ", {]"), "the JSON is wrong");
}

static void nan_and_infinity_are_unknown_values(void **state)
{
    static const char file[] =
        "{\"num_prompts\": 8, \"request_rate\": Infinity, \"mean_tpot_ms\": NaN, "
        "\"p99_tpot_ms\": -Infinity, \"completed\": 8, \"total_input_tokens\": 8, "
        "\"request_throughput\": -0.5, \"median_tpot_ms\": 7}";
    EVIDENCE_AUTO evidence;

    (void)state;
    read_all(file, strlen(file), &evidence);
    assert_true(isnan(evidence.cells[0].request_rate_asked));
    assert_true(isnan(evidence.cells[0].latency[METRIC_TPOT].mean_ms));
    assert_true(isnan(evidence.cells[0].latency[METRIC_TPOT].p99_ms));
    assert_float_equal(evidence.cells[0].latency[METRIC_TPOT].p50_ms, 7, 0);
    refused("{\"a\": Nano}", 11, "the JSON is wrong at byte");
}

static void decimal_numbers_in_strings_are_read(void **state)
{
    static const char file[] =
        "{\"num_prompts\": \"8\", \"request_rate\": \"4.5\", \"completed\": \"8\", \"input_len\": "
        "\"1024\", \"total_input_tokens\": \"0x10\", \"request_throughput\": \"fast\"}";
    EVIDENCE_AUTO evidence;

    (void)state;
    read_all(file, strlen(file), &evidence);
    assert_float_equal(evidence.cells[0].request_rate_asked, 4.5, 0);
    assert_float_equal(evidence.cells[0].input_length, 1024, 0);
    assert_true(isnan(evidence.cells[0].input_tokens));
    assert_true(isnan(evidence.cells[0].request_throughput));
}

/* Versions of vLLM that did not report failures sent all planned requests. */
static void uncompleted_requests_in_an_old_vllm_result_count_as_failed(void **state)
{
    static const char file[] = "{\"num_prompts\": 400, \"completed\": 100, \"total_input_tokens\": "
                               "51200, \"request_throughput\": 4.5}";
    EVIDENCE_AUTO evidence;

    (void)state;
    read_all(file, strlen(file), &evidence);
    assert_float_equal(evidence.cells[0].failed, 300, 0);
    assert_float_equal(evidence.cells[0].success_rate, 0.25, 1e-12);
}

/* Before version 0.4, guidellm wrote the request counts and the model into different members. */
static void counts_and_model_are_read_from_an_old_guidellm_file(void **state)
{
    static const char file[] =
        "{\"benchmarks\": [{\"args\": {\"strategy\": {\"type_\": \"concurrent\", \"streams\": 4}}, "
        "\"run_stats\": {\"start_time\": 10.0, \"end_time\": 30.0, \"total_successful\": 90, "
        "\"total_incomplete\": 2, \"total_errored\": 10}, \"worker\": {\"backend_model\": \"m\"}, "
        "\"metrics\": {\"requests_per_second\": {\"successful\": {\"mean\": 4.5}}}}]}";
    EVIDENCE_AUTO evidence;

    (void)state;
    read_all(file, strlen(file), &evidence);
    assert_string_equal(evidence.facts.model, "m");
    assert_float_equal(evidence.cells[0].concurrency, 4, 0);
    assert_float_equal(evidence.cells[0].succeeded, 90, 0);
    assert_float_equal(evidence.cells[0].failed, 10, 0);
    assert_float_equal(evidence.cells[0].duration_s, 20, 0);
}

static void the_cached_share_is_read_from_an_aiperf_file(void **state)
{
    static const char file[] =
        "{\"request_latency\": {\"unit\": \"ms\", \"avg\": 10}, \"request_throughput\": {\"unit\": "
        "\"requests/sec\", \"avg\": 5}, \"usage_prompt_tokens\": {\"avg\": 100, \"count\": 50}, "
        "\"usage_prompt_cache_read_tokens\": {\"avg\": 80, \"count\": 25}}";
    EVIDENCE_AUTO evidence;

    (void)state;
    read_all(file, strlen(file), &evidence);
    assert_float_equal(evidence.cells[0].cached_share, 0.4, 1e-9);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    static const char json[] = "\xef\xbb\xbf" RESULT("1");
    static const char table[] = "\xef\xbb\xbf"
                                "concurrency,req_per_s\r\n1,2\r\n";
    EVIDENCE_AUTO evidence;
    EVIDENCE_AUTO second;

    (void)state;
    read_all(json, strlen(json), &evidence);
    assert_string_equal(evidence.format, "vllm");
    read_all(table, strlen(table), &second);
    assert_float_equal(second.cells[0].concurrency, 1, 0);
}

static void refusals_of_unreadable_files_say_what_is_wrong(void **state)
{
    static const char utf16[] = "{\0\"\0a\0";

    (void)state;
    refused("\xff\xfe{\0", 4, "is UTF-16: save it as UTF-8");
    refused(utf16, sizeof utf16 - 1, "is UTF-16: save it as UTF-8");
    refused("PK\x03\x04,,", 6, "save the sheet as CSV");
    refused("\x1f\x8b\x08", 3, "unpack it");
    refused("", 0, "the file is empty");
    refused("\xef\xbb\xbf", 3, "the file is empty");
    refused("{\"num_prompts\": 3, \"comp", 24, "it ends too early");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_in_a_list_are_cells),
        cmocka_unit_test(nan_and_infinity_are_unknown_values),
        cmocka_unit_test(decimal_numbers_in_strings_are_read),
        cmocka_unit_test(uncompleted_requests_in_an_old_vllm_result_count_as_failed),
        cmocka_unit_test(counts_and_model_are_read_from_an_old_guidellm_file),
        cmocka_unit_test(the_cached_share_is_read_from_an_aiperf_file),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(refusals_of_unreadable_files_say_what_is_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
