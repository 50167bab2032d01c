/* SPDX-License-Identifier: Apache-2.0 */
/* Exports name the figures as each format's own tool does, and our importers read them back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/export/export.h"
#include "analysis/import/import.h"
#include "base/json/json.h"
#include "tests/unit/support/cells.h"
#include "tests/unit/support/published.h"

/* A run, exported to a file and read back. */
struct trip {
    struct evidence before, after;
    struct text file;
};

/* Makes a run of our own: two measured cells, one that failed although some requests were answered,
 * and one that was not tried. */
static void own_run(struct evidence *out)
{
    static char fingerprint[] = "{\"model\":\"toy/model\",\"engine\":\"vllm\","
                                "\"engine_version\":\"1.2\",\"hardware\":\"L4\"}";
    struct run_row run = { .id = "run_a", .sweep_id = "swp_a", .deployment = "toy" };
    struct cells cells = { 0 };

    run.created_ms = 1700000000000;
    run.fingerprint_document = fingerprint;
    cell_measured(&cells, 1, 128, 50, 2000);
    cell_measured(&cells, 4, 128, 180, 2222.2)->measurement.latency[METRIC_E2E].p99_censored = true;
    cell_failed(&cells, 64, 128, FAILURE_TOTAL_TIMEOUT, "=too \"slow\"");
    cell_add(&cells, 4, 99999, 100, 0, CELL_INFEASIBLE);
    evidence_of_run(&run, cells.rows, cells.count, out);
}

static void make_trip(struct trip *trip, const char *format)
{
    const struct exporter *exporter = exporter_find(format);
    struct error error;

    *trip = (struct trip){ 0 };
    own_run(&trip->before);
    assert_non_null(exporter);
    exporter->write(&trip->before, 0, trip->before.cell_count, &trip->file);
    if (!import_read(trip->file.data, trip->file.length, NULL, &trip->after, &error))
        fail_msg("%s: %s\n%s", format, error.message, text_string(&trip->file));
    assert_string_equal(trip->after.format, format);
}

static void trip_finish(struct trip *trip)
{
    evidence_finish(&trip->before);
    evidence_finish(&trip->after);
    text_finish(&trip->file);
}

static void same_number(const char *what, double before, double after)
{
    if (isnan(before) != isnan(after)
        || (!isnan(before) && fabs(before - after) > 1e-9 * fmax(1, fabs(before))))
        fail_msg("%s: %.15g became %.15g", what, before, after);
}

#define SAME(member) same_number(#member, before->member, after->member)

/* Compares the figures that every format can hold. */
static void same_cell(const struct evidence_cell *before, const struct evidence_cell *after)
{
    static const enum metric metrics[] = { METRIC_TTFT, METRIC_ICL, METRIC_TPOT, METRIC_E2E };

    SAME(concurrency);
    SAME(input_length);
    SAME(output_tokens_asked);
    SAME(succeeded);
    SAME(failed);
    SAME(duration_s);
    SAME(request_throughput);
    SAME(output_throughput);
    SAME(total_throughput);
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics; m++) {
        enum metric i = metrics[m];

        SAME(latency[i].mean_ms);
        SAME(latency[i].p50_ms);
        SAME(latency[i].p90_ms);
        SAME(latency[i].p95_ms);
        if (!before->latency[i].p99_at_least)
            SAME(latency[i].p99_ms);
    }
}

static void a_vllm_result_reads_back(void **state)
{
    struct trip trip;

    (void)state;
    make_trip(&trip, "vllm");
    assert_int_equal(trip.after.cell_count, 3); /* the cell that was not tried is skipped */
    for (size_t i = 0; i < 3; i++)
        same_cell(&trip.before.cells[i], &trip.after.cells[i]);
    same_number("requests", 1000, trip.after.cells[0].requests_asked);
    assert_string_equal(trip.after.facts.model, "toy/model");
    assert_string_equal(trip.after.cells[2].error, "=too \"slow\"");
    trip_finish(&trip);
}

/* Programs that read such files do arithmetic on every member whose name ends in _ms. */
static void a_vllm_result_has_no_null(void **state)
{
    struct trip trip;

    (void)state;
    make_trip(&trip, "vllm");
    assert_null(strstr(text_string(&trip.file), "null"));
    assert_non_null(strstr(text_string(&trip.file), "\"mean_e2el_ms\":2000"));
    assert_non_null(strstr(text_string(&trip.file), "\"request_rate\":\"inf\""));
    trip_finish(&trip);
}

/* Other tools measure latencies from the moment they send the request. They report the wait from
 * the scheduled time until that moment as queue time. */
static void exported_latencies_of_an_open_loop_are_counted_from_sending(void **state)
{
    struct cells cells = { 0 };
    struct cell_row *row = cell_measured(&cells, 500, 128, 50, 2000);
    struct run_row run = { .id = "run_a" };
    struct latency_summary *latencies = row->measurement.latency;
    EVIDENCE_AUTO evidence;
    TEXT_AUTO file = { 0 };
    json_auto_t *list = NULL;
    const json_t *json;

    (void)state;
    row->request_rate = 2.5;
    latencies[METRIC_QUEUE] = latency(1500, 1000);
    latencies[METRIC_TTFT_SENT] = latency(40, 1000);
    latencies[METRIC_E2E_SENT] = latency(500, 1000);
    evidence_of_run(&run, cells.rows, cells.count, &evidence);
    exporter_find("vllm")->write(&evidence, 0, 1, &file);
    list = json_loads(text_string(&file), 0, NULL);
    json = json_array_get(list, 0);
    same_number("rate", 2.5, json_get_number(json, "request_rate", 0));
    same_number("ttft", 40, json_get_number(json, "mean_ttft_ms", 0));
    same_number("e2el", 500, json_get_number(json, "mean_e2el_ms", 0));
    same_number("queue", 1500, json_get_number(json, "mean_client_queue_time_ms", 0));
    same_number("e2el with queue", 2000,
                json_get_number(json, "mean_e2el_including_client_queue_ms", 0));
    text_clear(&file);
    exporter_find("aiperf")->write(&evidence, 0, 1, &file);
    assert_non_null(strstr(text_string(&file), "\"request_latency\":{\"unit\":\"ms\",\"avg\":500"));
}

static void an_aiperf_result_reads_back_with_tpot_as_its_itl(void **state)
{
    struct trip trip;
    json_auto_t *first = NULL;

    (void)state;
    make_trip(&trip, "aiperf");
    assert_int_equal(trip.after.cell_count, 3);
    for (size_t i = 0; i < 3; i++)
        same_cell(&trip.before.cells[i], &trip.after.cells[i]);
    same_number("in flight", 1, trip.after.cells[0].concurrency_actual);
    first = json_loads(text_string(&trip.file), JSON_DISABLE_EOF_CHECK, NULL);
    same_number("tpot", trip.before.cells[0].latency[METRIC_TPOT].mean_ms,
                json_get_number(json_object_get(first, "inter_token_latency"), "avg", NAN));
    same_number("icl", trip.before.cells[0].latency[METRIC_ICL].p50_ms,
                json_get_number(json_object_get(first, "inter_chunk_latency"), "p50", NAN));
    trip_finish(&trip);
}

static void ttst_and_ttfo_read_back_from_aiperf(void **state)
{
    static const enum metric metrics[] = { METRIC_TTST, METRIC_TTFO };
    const struct exporter *exporter = exporter_find("aiperf");
    struct trip trip = { 0 };
    struct error error;

    (void)state;
    own_run(&trip.before);
    for (size_t i = 0; i < 2; i++) {
        struct evidence_latency *latency = &trip.before.cells[0].latency[metrics[i]];

        latency->count = 50;
        latency->mean_ms = 7.5 + (double)i;
        latency->p99_ms = 9.25 + (double)i;
    }
    exporter->write(&trip.before, 0, 1, &trip.file);
    if (!import_read(trip.file.data, trip.file.length, NULL, &trip.after, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < 2; i++) {
        const struct evidence_latency *latency = &trip.after.cells[0].latency[metrics[i]];

        same_number("mean", 7.5 + (double)i, latency->mean_ms);
        same_number("p99", 9.25 + (double)i, latency->p99_ms);
    }
    trip_finish(&trip);
}

static void a_percentile_that_a_timeout_cut_off_is_not_exported(void **state)
{
    struct trip trip;

    (void)state;
    make_trip(&trip, "csv");
    assert_true(trip.before.cells[1].latency[METRIC_E2E].p99_at_least);
    assert_true(isnan(trip.after.cells[1].latency[METRIC_E2E].p99_ms));
    assert_true(trip.after.cells[1].latency[METRIC_E2E].p95_ms > 0);
    trip_finish(&trip);
}

static void a_table_reads_back_with_every_cell(void **state)
{
    struct trip trip;

    (void)state;
    make_trip(&trip, "csv");
    assert_int_equal(trip.after.cell_count, 4);
    assert_null(trip.after.remarks); /* the importer knows every column */
    assert_int_equal(trip.after.input_unit, LENGTH_TOKENS);
    for (size_t i = 0; i < 4; i++) {
        same_cell(&trip.before.cells[i], &trip.after.cells[i]);
        assert_int_equal(trip.before.cells[i].state, trip.after.cells[i].state);
    }
    same_number("success", 0.2, trip.after.cells[2].success_rate);
    assert_string_equal(trip.after.cells[2].error, "'=too \"slow\""); /* "'" prevents a formula */
    trip_finish(&trip);
}

static void a_serving_report_has_a_place_for_every_cell(void **state)
{
    struct trip trip;

    (void)state;
    make_trip(&trip, "serving-report");
    assert_int_equal(trip.after.cell_count, 4);
    same_cell(&trip.before.cells[0], &trip.after.cells[0]);
    same_cell(&trip.before.cells[1], &trip.after.cells[1]);
    assert_int_equal(trip.after.cells[2].state, EVIDENCE_FAILED);
    assert_true(isnan(trip.after.cells[2].output_throughput));
    assert_int_equal(trip.after.cells[3].state, EVIDENCE_INFEASIBLE);
    assert_string_equal(trip.after.facts.engine_version, "1.2");
    assert_string_equal(trip.after.facts.hardware, "L4");
    assert_string_equal(trip.after.facts.date, "2023-11-14");
    trip_finish(&trip);
}

/* The exported file has no latency and no rate, so its format is detected from its other members
 * or columns. */
static void a_run_in_which_nothing_succeeded_reads_back(void **state)
{
    (void)state;
    for (const struct exporter *exporter = exporters; exporter->format != NULL; exporter++) {
        struct trip trip = { 0 };
        struct cells cells = { 0 };
        struct run_row run = { .id = "run_a", .sweep_id = "swp_a", .created_ms = 1700000000000 };
        struct cell_row *cell = cell_add(&cells, 1, 128, 100, 0, CELL_FAILED);
        struct error error;

        cell->measurement.attempted = 50;
        cell->measurement.failures[FAILURE_TOTAL_TIMEOUT] = 50;
        evidence_of_run(&run, cells.rows, cells.count, &trip.before);
        exporter->write(&trip.before, 0, 1, &trip.file);
        if (!import_read(trip.file.data, trip.file.length, NULL, &trip.after, &error))
            fail_msg("%s: %s\n%s", exporter->format, error.message, text_string(&trip.file));
        assert_string_equal(trip.after.format, exporter->format);
        same_number("failed", 50, trip.after.cells[0].failed);
        trip_finish(&trip);
    }
}

/* ---- Published results ---- */

static void check_table_trip(const char *name, const struct text *bytes)
{
    EVIDENCE_AUTO before;
    EVIDENCE_AUTO after;
    TEXT_AUTO file = { 0 };
    struct error error;

    if (!import_read(bytes->data, bytes->length, NULL, &before, &error))
        fail_msg("%s: %s", name, error.message);
    exporter_find("csv")->write(&before, 0, before.cell_count, &file);
    if (!import_read(file.data, file.length, NULL, &after, &error))
        fail_msg("%s: %s", name, error.message);
    assert_int_equal(before.cell_count, after.cell_count);
    assert_int_equal(before.input_unit, after.input_unit);
    for (size_t i = 0; i < before.cell_count; i++) {
        same_cell(&before.cells[i], &after.cells[i]);
        same_number(name, before.cells[i].token_throughput, after.cells[i].token_throughput);
        same_number(name, before.cells[i].success_rate, after.cells[i].success_rate);
        assert_int_equal(before.cells[i].state, after.cells[i].state);
    }
}

static void every_published_file_is_written_as_a_table_and_read_back(void **state)
{
    char path[4096];
    const char *folder = published_folder(path);

    (void)state;
    if (folder == NULL)
        skip();
    published_each(folder, check_table_trip);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vllm_result_reads_back),
        cmocka_unit_test(a_vllm_result_has_no_null),
        cmocka_unit_test(exported_latencies_of_an_open_loop_are_counted_from_sending),
        cmocka_unit_test(an_aiperf_result_reads_back_with_tpot_as_its_itl),
        cmocka_unit_test(ttst_and_ttfo_read_back_from_aiperf),
        cmocka_unit_test(a_percentile_that_a_timeout_cut_off_is_not_exported),
        cmocka_unit_test(a_table_reads_back_with_every_cell),
        cmocka_unit_test(a_serving_report_has_a_place_for_every_cell),
        cmocka_unit_test(a_run_in_which_nothing_succeeded_reads_back),
        cmocka_unit_test(every_published_file_is_written_as_a_table_and_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
