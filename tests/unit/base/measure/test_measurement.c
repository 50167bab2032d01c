/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "base/measure/measurement.h"

static void fill(const struct measurement_field *fields, void *base, int *counter)
{
    for (const struct measurement_field *field = fields; field->name != NULL; field++) {
        void *member = (char *)base + field->offset;

        ++*counter;
        if (field->type == MEASUREMENT_INTEGER)
            *(int64_t *)member = *counter;
        else if (field->type == MEASUREMENT_REAL)
            *(double *)member = *counter + 0.25;
        else
            *(bool *)member = true;
    }
}

/* Every number in the field tables gets a different value, and every boolean becomes true. */
static void every_member_survives_a_round_trip_through_json(void **state)
{
    struct measurement *measurement = calloc(1, sizeof *measurement);
    struct measurement *back = calloc(1, sizeof *back);
    int counter = 0;
    struct error error;

    (void)state;
    fill(measurement_fields, measurement, &counter);
    for (int i = 0; i < METRIC_COUNT; i++)
        fill(latency_fields, &measurement->latency[i], &counter);
    for (int i = FAILURE_NONE + 1; i < FAILURE_COUNT; i++)
        measurement->failures[i] = ++counter;
    strcpy(measurement->first_error, "the server said \"no\"");

    json_auto_t *json = measurement_to_json(measurement);
    char *bytes = json_write(json);
    json_auto_t *parsed = NULL;
    assert_true(json_parse(bytes, strlen(bytes), &parsed, &error));
    measurement_from_json(parsed, back);
    assert_memory_equal(back, measurement, sizeof *back);
    free(bytes);
    free(measurement);
    free(back);
}

static size_t covered_bytes(const struct measurement_field *fields)
{
    size_t bytes = 0;

    for (const struct measurement_field *field = fields; field->name != NULL; field++)
        bytes += field->type == MEASUREMENT_BOOLEAN ? sizeof(bool) : sizeof(double);
    return bytes;
}

static void the_field_tables_cover_the_structs_except_for_padding(void **state)
{
    const size_t padding = 8;
    size_t rest_bytes = sizeof(((struct measurement *)NULL)->failures)
                        + sizeof(((struct measurement *)NULL)->first_error)
                        + sizeof(((struct measurement *)NULL)->latency);

    (void)state;
    assert_in_range(covered_bytes(measurement_fields) + rest_bytes,
                    sizeof(struct measurement) - padding, sizeof(struct measurement));
    assert_in_range(covered_bytes(latency_fields), sizeof(struct latency_summary) - padding,
                    sizeof(struct latency_summary));
}

static void writes_null_for_missing_values_and_only_failures_that_occurred(void **state)
{
    struct measurement measurement = { .cold_ttft_ms = NAN, .attempted = 3 }, back;

    (void)state;
    measurement.failures[FAILURE_TOO_LONG] = 3;
    json_auto_t *json = measurement_to_json(&measurement);
    assert_true(json_is_null(json_object_get(json_object_get(json, "rates"), "cold_ttft_ms")));
    const json_t *failures = json_object_get(json, "failures");
    assert_int_equal(json_object_size(failures), 1);
    assert_int_equal(json_get_integer(failures, "too_long", 0), 3);
    measurement_from_json(json, &back);
    assert_true(isnan(back.cold_ttft_ms));
    assert_int_equal(back.failures[FAILURE_TOO_LONG], 3);
}

static void reads_missing_members_as_zero_or_nan(void **state)
{
    struct measurement back;
    json_auto_t *json = json_object();

    (void)state;
    measurement_from_json(json, &back);
    assert_int_equal(back.attempted, 0);
    assert_true(isnan(back.goodput));
    assert_true(isnan(back.latency[METRIC_E2E].p99_ms));
    measurement_from_json(NULL, &back);
    assert_string_equal(back.first_error, "");
}

/* Reads a measurement as earlier versions wrote it. They did not distinguish gaps between chunks
 * from gaps between tokens, and did not count the prompts and answers whose lengths differed from
 * those requested. `tokens` is the JSON of the measurement's group "tokens". */
static void read_old(const char *tokens, struct measurement *out)
{
    json_auto_t *json =
        json_pack("{s:o, s:{s:{s:i, s:f, s:f}}}", "tokens", json_loads(tokens, 0, NULL), "latency",
                  "itl", "count", 900, "p50_ms", 30.0, "p99_ms", 45.0);

    assert_non_null(json);
    measurement_from_json(json, out);
    assert_int_equal(out->latency[METRIC_ICL].count, 900);
    assert_true(out->latency[METRIC_ICL].p99_ms == 45);
}

static void reads_gaps_in_older_cells_as_gaps_between_chunks(void **state)
{
    struct measurement back;

    (void)state;
    read_old("{\"chunks\": 1000, \"output_tokens\": 3000, \"tokens_estimated\": false}", &back);
    assert_true(back.tokens_per_chunk == 3);
    assert_int_equal(back.latency[METRIC_ITL].count, 0);
    assert_true(isnan(back.latency[METRIC_ITL].p50_ms) && isnan(back.latency[METRIC_ITL].mean_ms));
    read_old("{\"chunks\": 1000, \"output_tokens\": 1000, \"tokens_estimated\": true}", &back);
    assert_true(isnan(back.tokens_per_chunk)); /* the server reported no token counts */
    assert_int_equal(back.latency[METRIC_ITL].count, 0);
    read_old("{\"chunks\": 1000, \"output_tokens\": 1001, \"tokens_estimated\": false}", &back);
    /* So close to one token per chunk that each chunk counts as one token. */
    assert_int_equal(back.latency[METRIC_ITL].count, 900);
    assert_true(back.latency[METRIC_ITL].p50_ms == 30);
    read_old("{\"chunks\": 0, \"output_tokens\": 0}", &back);
    assert_true(isnan(back.tokens_per_chunk));
}

static void derives_length_differences_in_older_cells(void **state)
{
    struct measurement back;

    (void)state;
    read_old(
        "{\"input_tokens_requested\": 64, \"input_tokens_min\": 60, \"input_tokens_max\": 66, "
        "\"output_tokens_requested\": 32, \"output_tokens_min\": 32, \"output_tokens_max\": 32}",
        &back);
    assert_int_equal(back.input_tokens_difference_max, 4);
    assert_int_equal(back.input_tokens_differing, -1); /* some, but not counted */
    assert_int_equal(back.output_tokens_differing, 0);
    assert_int_equal(back.output_tokens_requested_min, 32);
    assert_true(back.input_tokens_requested_mean == 64);
    read_old(
        "{\"output_tokens_requested\": 32, \"output_tokens_min\": 5, \"output_tokens_max\": 32}",
        &back);
    assert_int_equal(back.output_tokens_differing, -1);
    assert_int_equal(back.output_tokens_difference_max, 27);
    assert_int_equal(back.input_tokens_differing, 0); /* the server reported no prompt lengths */
    read_old(
        "{\"output_tokens_requested\": 32, \"output_tokens_min\": 5, \"output_tokens_max\": 9, "
        "\"tokens_estimated\": true}",
        &back);
    assert_int_equal(back.output_tokens_differing, 0); /* unknown: only chunks were counted */
}

static void does_not_change_newer_cells(void **state)
{
    struct measurement measurement = { .input_tokens_requested = 64,
                                       .input_tokens_min = 60,
                                       .input_tokens_max = 66,
                                       .input_tokens_differing = 3,
                                       .input_tokens_difference_max = 4,
                                       .chunks = 10,
                                       .output_tokens = 30,
                                       .tokens_per_chunk = NAN,
                                       .latency[METRIC_ITL].count = 7 },
                       back;

    (void)state;
    json_auto_t *json = measurement_to_json(&measurement);
    measurement_from_json(json, &back);
    assert_int_equal(back.input_tokens_differing, 3);
    assert_true(isnan(back.tokens_per_chunk));
    assert_int_equal(back.latency[METRIC_ITL].count, 7);
    assert_int_equal(back.latency[METRIC_ICL].count, 0);
}

static void summarizes_a_histogram_of_nanoseconds_in_milliseconds(void **state)
{
    struct histogram *histogram = histogram_create();
    struct latency_summary summary;

    (void)state;
    for (uint64_t i = 1; i <= 1000; i++)
        histogram_record(histogram, i * 1000000);
    latency_summary_of(histogram, &summary);
    assert_int_equal(summary.count, 1000);
    assert_true(fabs(summary.mean_ms - 500.5) < 1e-6);
    assert_true(fabs(summary.p50_ms - 500) < 500 * 0.005);
    assert_true(fabs(summary.p99_ms - 990) < 990 * 0.005);
    assert_true(summary.min_ms == 1 && summary.max_ms == 1000);
    assert_false(summary.p999_censored);
    histogram_destroy(histogram);
}

static void marks_percentiles_that_a_timeout_cut_off(void **state)
{
    struct histogram *histogram = histogram_create();
    struct measurement measurement = { 0 };

    (void)state;
    for (int i = 0; i < 90; i++)
        histogram_record(histogram, 1000000);
    for (int i = 0; i < 10; i++)
        histogram_record_censored(histogram, 60000000000);
    latency_summary_of(histogram, &measurement.latency[METRIC_TTFT]);
    json_auto_t *json = measurement_to_json(&measurement);
    const json_t *ttft = json_object_get(json_object_get(json, "latency"), "ttft");
    assert_int_equal(json_get_integer(ttft, "censored", 0), 10);
    assert_true(json_get_boolean(ttft, "p99_at_least", false));
    assert_null(json_object_get(ttft, "p50_at_least"));
    histogram_destroy(histogram);
}

static void an_empty_histogram_has_no_summary(void **state)
{
    struct histogram *histogram = histogram_create();
    struct latency_summary summary;

    (void)state;
    latency_summary_of(histogram, &summary);
    assert_int_equal(summary.count, 0);
    assert_true(isnan(summary.mean_ms) && isnan(summary.p50_ms) && isnan(summary.max_ms));
    histogram_destroy(histogram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_survives_a_round_trip_through_json),
        cmocka_unit_test(the_field_tables_cover_the_structs_except_for_padding),
        cmocka_unit_test(writes_null_for_missing_values_and_only_failures_that_occurred),
        cmocka_unit_test(reads_missing_members_as_zero_or_nan),
        cmocka_unit_test(reads_gaps_in_older_cells_as_gaps_between_chunks),
        cmocka_unit_test(derives_length_differences_in_older_cells),
        cmocka_unit_test(does_not_change_newer_cells),
        cmocka_unit_test(summarizes_a_histogram_of_nanoseconds_in_milliseconds),
        cmocka_unit_test(marks_percentiles_that_a_timeout_cut_off),
        cmocka_unit_test(an_empty_histogram_has_no_summary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
