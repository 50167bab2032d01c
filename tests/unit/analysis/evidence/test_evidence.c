/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence is the common form of all runs. It is made here from a run that opsbrain measured, and
 * also written as JSON and read back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/evidence/evidence.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "tests/unit/support/cells.h"

static struct run_row own_run(const char *fingerprint)
{
    struct run_row run = { .id = "run_a", .sweep_id = "swp_a", .deployment = "llama" };

    run.created_ms = 5;
    run.fingerprint_document = memory_copy_text(fingerprint);
    return run;
}

static void an_open_loop_has_a_rate_and_no_users(void **state)
{
    struct cells cells = { 0 };
    struct cell_row *row = cell_measured(&cells, 10000, 128, 200, 1000);
    struct run_row run = { .id = "run_1" };
    struct evidence evidence;

    (void)state;
    row->request_rate = 2.5;
    row->measurement.concurrency_expected = NAN;
    evidence_of_run(&run, cells.rows, cells.count, &evidence);
    assert_true(evidence.cells[0].request_rate_asked == 2.5);
    assert_true(isnan(evidence.cells[0].concurrency));
    assert_true(isnan(evidence.cells[0].concurrency_expected));
    evidence_finish(&evidence);
}

static void evidence_of_our_own_run_has_what_was_measured(void **state)
{
    struct run_row run = own_run("{\"model\":\"gemma\",\"engine\":\"vllm\",\"hardware\":null,"
                                 "\"limits\":{\"max_instances\":3}}");
    struct cells cells = { 0 };
    EVIDENCE_AUTO evidence;
    const struct evidence_cell *cell;

    (void)state;
    cell_measured(&cells, 4, 128, 200, 1000)->measurement.latency[METRIC_E2E].p99_censored = true;
    evidence_of_run(&run, cells.rows, cells.count, &evidence);
    free(run.fingerprint_document);
    assert_false(evidence.imported);
    assert_string_equal(evidence.id, "run_a");
    assert_string_equal(evidence.facts.model, "gemma");
    assert_string_equal(evidence.facts.hardware, "");
    assert_true(evidence.facts.max_instances == 3);
    assert_true(isnan(evidence.facts.price_usd_per_chip_hour));
    assert_int_equal(evidence.input_unit, LENGTH_TOKENS);
    assert_int_equal(evidence.cell_count, 1);
    cell = &evidence.cells[0];
    assert_int_equal(cell->state, EVIDENCE_MEASURED);
    assert_true(cell->concurrency == 4 && cell->input_length == 128);
    assert_true(cell->output_throughput == 200 && cell->request_throughput == 2);
    assert_true(cell->latency[METRIC_E2E].p50_ms == 1000);
    assert_true(cell->latency[METRIC_E2E].p99_at_least);
    assert_true(isnan(cell->timeout_s));
    assert_null(cell->error);
    assert_true(isnan(cell->request_rate_asked));
}

static void evidence_of_our_own_run_has_its_rates_and_corrections(void **state)
{
    struct run_row run = own_run("{}");
    struct cells cells = { 0 };
    EVIDENCE_AUTO evidence;

    (void)state;
    snprintf(run.corrects, sizeof run.corrects, "run_before");
    snprintf(run.corrected_by, sizeof run.corrected_by, "run_after");
    cell_measured(&cells, 4, 128, 200, 1000)->request_rate = 2.5;
    evidence_of_run(&run, cells.rows, cells.count, &evidence);
    free(run.fingerprint_document);
    assert_string_equal(evidence.corrects, "run_before");
    assert_string_equal(evidence.corrected_by, "run_after");
    assert_true(evidence.cells[0].request_rate_asked == 2.5);
}

static void cached_tokens_are_known_only_if_the_server_reports_them(void **state)
{
    struct run_row run = own_run("{}");
    struct cells cells = { 0 };
    EVIDENCE_AUTO evidence;

    (void)state;
    cell_measured(&cells, 1, 128, 200, 1000);
    cell_measured(&cells, 4, 128, 200, 1000)->measurement.cached_told = 3;
    evidence_of_run(&run, cells.rows, cells.count, &evidence);
    free(run.fingerprint_document);
    assert_true(isnan(evidence.cells[0].cached_tokens));
    assert_true(evidence.cells[1].cached_tokens == 0);
}

static void a_cell_without_requests_has_no_figures(void **state)
{
    struct run_row run = own_run("{}");
    struct cells cells = { 0 };
    EVIDENCE_AUTO evidence;

    (void)state;
    cell_add(&cells, 8, 128, 100, 0, CELL_INFEASIBLE);
    snprintf(cells.rows[0].reason, sizeof cells.rows[0].reason, "longer than the context");
    cell_add(&cells, 16, 128, 100, 0, CELL_PENDING);
    evidence_of_run(&run, cells.rows, cells.count, &evidence);
    free(run.fingerprint_document);
    assert_int_equal(evidence.cells[0].state, EVIDENCE_INFEASIBLE);
    assert_string_equal(evidence.cells[0].error, "longer than the context");
    assert_true(isnan(evidence.cells[0].output_throughput));
    assert_true(isnan(evidence.cells[0].success_rate));
    assert_true(isnan(evidence.cells[0].latency[METRIC_TTFT].p50_ms));
    assert_int_equal(evidence.cells[1].state, EVIDENCE_SKIPPED);
    assert_string_equal(evidence.cells[1].status, "pending");
}

static void json_keeps_what_is_known_and_omits_the_rest(void **state)
{
    struct evidence_cell read;
    EVIDENCE_AUTO evidence;
    struct evidence_cell *cell;
    json_auto_t *json = NULL;

    (void)state;
    evidence_init(&evidence);
    cell = evidence_add(&evidence);
    cell->state = EVIDENCE_FAILED;
    cell->row = 7;
    cell->concurrency = 32;
    cell->latency[METRIC_TTFT].p99_ms = 12.5;
    cell->latency[METRIC_TTFT].p99_at_least = true;
    cell->error = memory_copy_text("503");
    cell->original = json_pack("{s:s}", "avg_latency", "0.0");
    snprintf(cell->status, sizeof cell->status, "failed_3");
    json = evidence_cell_json(cell);
    assert_null(json_object_get(json, "output_throughput"));
    assert_null(json_object_get(json, "itl"));
    evidence_cell_read(json, &read);
    assert_int_equal(read.state, EVIDENCE_FAILED);
    assert_int_equal(read.row, 7);
    assert_true(read.concurrency == 32 && isnan(read.input_length));
    assert_true(read.latency[METRIC_TTFT].p99_ms == 12.5);
    assert_true(read.latency[METRIC_TTFT].p99_at_least);
    assert_false(read.latency[METRIC_TTFT].p50_at_least);
    assert_string_equal(read.error, "503");
    assert_string_equal(read.status, "failed_3");
    assert_string_equal(json_get_text(read.original, "avg_latency", ""), "0.0");
    free(read.error);
    json_decref(read.original);
}

static void json_of_facts_keeps_what_is_known_and_omits_the_rest(void **state)
{
    struct evidence_facts read;
    EVIDENCE_AUTO evidence;
    json_auto_t *json = NULL;

    (void)state;
    evidence_init(&evidence);
    snprintf(evidence.facts.hardware, sizeof evidence.facts.hardware, "L4");
    evidence.facts.chips = 1;
    json = evidence_facts_json(&evidence.facts);
    assert_int_equal(json_object_size(json), 2);
    evidence_facts_read(json, &read);
    assert_string_equal(read.hardware, "L4");
    assert_string_equal(read.model, "");
    assert_true(read.chips == 1 && isnan(read.max_instances));
}

static void cells_beyond_the_limit_are_not_added(void **state)
{
    EVIDENCE_AUTO evidence;

    (void)state;
    evidence_init(&evidence);
    for (int i = 0; i < EVIDENCE_CELLS_MAX; i++)
        assert_non_null(evidence_add(&evidence));
    assert_null(evidence_add(&evidence));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_loop_has_a_rate_and_no_users),
        cmocka_unit_test(evidence_of_our_own_run_has_what_was_measured),
        cmocka_unit_test(evidence_of_our_own_run_has_its_rates_and_corrections),
        cmocka_unit_test(cached_tokens_are_known_only_if_the_server_reports_them),
        cmocka_unit_test(a_cell_without_requests_has_no_figures),
        cmocka_unit_test(json_keeps_what_is_known_and_omits_the_rest),
        cmocka_unit_test(json_of_facts_keeps_what_is_known_and_omits_the_rest),
        cmocka_unit_test(cells_beyond_the_limit_are_not_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
