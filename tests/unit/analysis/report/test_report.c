/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analysis/report/report.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "tests/unit/support/cells.h"

/* Not const, because the row members that point here are declared as char *. */
static char plan[] =
    "{\"concurrency\":[1,8],\"input_tokens\":[4,16384],\"output_tokens\":[100],\"repetitions\":1,"
    "\"api\":\"chat\",\"seed\":7,\"window_s\":5.0,\"warmup_limit_s\":30.0}";
static char document[] =
    "{\"model\":\"gemma\",\"engine\":\"vllm\",\"engine_version\":\"0.11.0\",\"hardware\":\"\","
    "\"limits\":{\"max_running\":256},\"workload_digest\":\"abc123\"}";
static char other_document[] =
    "{\"model\":\"gemma\",\"engine\":\"vllm\",\"engine_version\":\"0.12.0\",\"hardware\":\"\","
    "\"limits\":{\"max_running\":256},\"workload_digest\":\"abc123\"}";

struct fixture {
    struct cells cells;
    struct sweep_row sweep;
    struct run_row runs[2];
    struct attempt_row interrupted;
    struct report_input input;
};

static void set_up(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->sweep = (struct sweep_row){ .id = "swp_test",
                                   .subjects = { { .revision = 3, .deployment = "demo" } },
                                   .subject_count = 1,
                                   .state = "completed",
                                   .principal = "alice",
                                   .plan = plan,
                                   .repetitions = 1,
                                   .created_ms = 1795230000000,
                                   .started_ms = 1795230001000,
                                   .finished_ms = 1795230061000 };
    for (size_t i = 0; i < 2; i++) {
        f->runs[i] = (struct run_row){ .repetition = (int64_t)i,
                                       .fingerprint = "feedfacecafebeef0123",
                                       .fingerprint_document = document };
        snprintf(f->runs[i].id, sizeof f->runs[i].id, "run_%zu", i + 1);
    }
    f->input = (struct report_input){
        .sweep = &f->sweep, .runs = f->runs, .run_count = 1, .cells = f->cells.rows
    };
}

/* Adds cells for 1 and 8 users, at a context that fits the model and at one that does not. */
static void add_usual_cells(struct fixture *f)
{
    cell_measured(&f->cells, 1, 4, 50, 2200);
    cell_measured(&f->cells, 8, 4, 390, 4500);
    for (int64_t users = 1; users <= 8; users += 7)
        strcpy(cell_add(&f->cells, users, 16384, 100, 0, CELL_INFEASIBLE)->reason,
               "16484 tokens are more than the model's 8192");
    f->input.cell_count = f->cells.count;
}

static void assert_has(const struct text *text, const char *part)
{
    if (strstr(text_string(text), part) == NULL)
        fail_msg("\"%s\" is not in the report:\n%s", part, text_string(text));
}

static void assert_lacks(const struct text *text, const char *part)
{
    if (strstr(text_string(text), part) != NULL)
        fail_msg("\"%s\" is in the report:\n%s", part, text_string(text));
}

static struct text markdown(const struct fixture *f)
{
    struct text text = { 0 };

    report_markdown(&f->input, &text);
    return text;
}

static void shows_what_was_measured_and_how(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };

    (void)state;
    set_up(&f);
    add_usual_cells(&f);
    text = markdown(&f);
    assert_has(&text, "# Sweep swp_test of demo\n");
    assert_has(&text, "- state: completed\n");
    assert_has(&text, "- cells: 2 of 4 measured, 2 infeasible\n");
    assert_has(&text, "- measured from 2026-11-21T03:00:01.000Z to 2026-11-21T03:01:01.000Z");
    assert_has(&text, "- run: run_1\n");
    assert_has(&text, "- fingerprint: feedfacecafebeef\n");
    assert_has(&text, "- engine version: 0.11.0\n");
    assert_has(&text, "- limits: max_running=256\n");
    assert_has(&text, "- workload digest: abc123\n");
    assert_lacks(&text, "hardware");
    assert_has(&text, "/v1/chat/completions, streamed");
    assert_has(&text, "a window of 5 s, then drain; 1 repetition; seed 7\n");
    assert_has(&text, "- users: 1, 8\n");
}

static char open_plan[] =
    "{\"arrival\":\"gamma\",\"burstiness\":0.5,\"request_rate\":[2.5,10],\"concurrency\":[500],"
    "\"input_tokens\":[4],\"output_tokens\":[100],\"window_s\":5,\"ramp_s\":3,\"ci_width\":0.03}";

static void shows_how_the_load_of_an_open_loop_arrived(void **state)
{
    static const double rates[] = { 2.5, 10 };
    struct fixture f;
    TEXT_AUTO text = { 0 };

    (void)state;
    set_up(&f);
    f.sweep.plan = open_plan;
    for (int i = 0; i < 2; i++) {
        struct cell_row *cell = cell_measured(&f.cells, 500, 4, 50 + 100 * i, 2200 + 4000 * i);

        cell->request_rate = rates[i];
        cell->measurement.concurrency_actual = 5;
        cell->measurement.concurrency_expected = NAN;
    }
    f.cells.rows[1].measurement.overloaded = true;
    f.input.cell_count = f.cells.count;
    text = markdown(&f);
    assert_has(&text, "- open loop over /v1/completions, streamed: requests arrive on a schedule "
                      "(gamma, burstiness 0.5)");
    assert_has(&text, "ramp of 3 s, warm-up of at most 0 s, then a window of 5 s, extended (up to "
                      "window_limit_s) until output tokens/s are known to \xc2\xb1"
                      "3 %, then drain");
    assert_has(&text, "- requests per second: 2.5, 10\n- limit on requests in flight: 500\n");
    assert_has(&text, "there is no steady state");
}

static char plan_with_limits[] =
    "{\"concurrency\":[1,2,4,8],\"input_tokens\":[4],\"output_tokens\":[100],\"search\":"
    "\"adaptive\",\"limit_e2e_ms\":6000.0,\"limit_ttft_ms\":5000}";

/* The p99 of these cells is twice their median. */
static void shows_the_largest_load_that_meets_the_limits(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 }, lines = { 0 };

    (void)state;
    set_up(&f);
    f.sweep.plan = plan_with_limits;
    cell_measured(&f.cells, 1, 4, 50, 2200);
    cell_add(&f.cells, 2, 4, 100, 0, CELL_INFERRED);
    cell_measured(&f.cells, 4, 4, 160, 2500);
    cell_measured(&f.cells, 8, 4, 162, 4500);
    f.input.cell_count = f.cells.count;
    text = markdown(&f);
    assert_has(&text, "- cells: 3 of 4 measured, 1 inferred\n");
    assert_has(&text, "- adaptive search: only the loads that determine");
    assert_has(&text, "Limits: TTFT p99 <= 5000 ms, E2E p99 <= 6000 ms, at most 1 % of the "
                      "requests failed.\n");
    assert_has(&text, "|           4 | E2E 5000 of 6000 ms |         8 | E2E 9000 of 6000 ms |\n");
    report_findings(&f.input, &lines);
    assert_string_equal(lines.data,
                        "- 4 tokens in, 100 out: saturated between 4 and 8 users "
                        "(measure 6 next); limits met up to 4 users (8: E2E 9000 of 6000 "
                        "ms)\n");
    json_auto_t *json = report_json(&f.input);
    const json_t *row = json_array_get(
        json_object_get(json_array_get(json_object_get(json, "outputs"), 0), "limits"), 0);
    assert_int_equal(json_get_integer(json_object_get(row, "met"), "users", 0), 4);
    assert_int_equal(json_get_integer(json_object_get(row, "missed"), "users", 0), 8);
    assert_true(json_is_true(json_object_get(row, "exact")));
}

/* Rates need not be whole numbers; all cells have the same limit on requests in flight. */
static void shows_the_rates_of_an_open_loop(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 }, lines = { 0 };

    (void)state;
    set_up(&f);
    f.sweep.plan = plan_with_limits;
    cell_measured(&f.cells, 10000, 4, 50, 2200)->request_rate = 0.5;
    cell_measured(&f.cells, 10000, 4, 250, 2500)->request_rate = 2.5;
    cell_measured(&f.cells, 10000, 4, 260, 4500)->request_rate = 10;
    f.input.cell_count = f.cells.count;
    text = markdown(&f);
    assert_has(&text, "| requests/s | tokens/s | req/s |");
    assert_has(&text, "|        2.5 |      250 |  2.50 |");
    assert_has(&text, "at 10 requests/s at context 4.");
    report_findings(&f.input, &lines);
    assert_string_equal(lines.data, "- 4 tokens in, 100 out: saturated between 2.433 and 10 "
                                    "requests/s (measure 3, 4, 6 next); limits met up to 2.5 "
                                    "requests/s (10: E2E 9000 of 6000 ms)\n");
    json_auto_t *json = report_json(&f.input);
    const json_t *row = json_array_get(
        json_object_get(json_array_get(json_object_get(json, "outputs"), 0), "saturation"), 0);
    assert_true(json_get_number(row, "request_rate", 0) == 10);
    assert_true(json_get_number(row, "high_request_rate", 0) == 10);
    assert_float_equal(json_get_number(row, "low_request_rate", 0), 2.433, 0.001);
    assert_int_equal(json_array_size(json_object_get(row, "measure_next")), 3);
    assert_int_equal(json_array_size(json_object_get(json, "request_rates")), 3);
}

static void limits_are_met_up_to_at_least_a_load_if_the_next_is_unknown(void **state)
{
    struct fixture f;
    TEXT_AUTO lines = { 0 };

    (void)state;
    set_up(&f);
    f.sweep.plan = plan_with_limits;
    cell_measured(&f.cells, 1, 4, 50, 2200);
    cell_measured(&f.cells, 2, 4, 99, 2300);
    cell_add(&f.cells, 4, 4, 100, 0, CELL_PENDING);
    cell_failed(&f.cells, 8, 4, FAILURE_RESET, "");
    cell_measured(&f.cells, 1, 64, 50, 9000);
    cell_measured(&f.cells, 8, 64, 55, 9900);
    f.input.cell_count = f.cells.count;
    report_findings(&f.input, &lines);
    assert_has(&lines,
               "- 4 tokens in, 100 out: not saturated below 2; throughput may still be growing at "
               "2 users, the largest measured load that did not lose requests; limits met up to at "
               "least 2 users (8: 80 % failed)\n");
    assert_has(&lines, "no measured load meets the limits (1: E2E 18000 of 6000 ms)\n");
}

static void a_larger_load_with_traffic_from_other_clients_did_not_lose_requests(void **state)
{
    struct fixture f;
    TEXT_AUTO lines = { 0 };

    (void)state;
    set_up(&f);
    cell_measured(&f.cells, 1, 4, 50, 2200);
    cell_measured(&f.cells, 2, 4, 99, 2300);
    cell_measured(&f.cells, 4, 4, 198, 2400)->measurement.contaminated = true;
    f.input.cell_count = f.cells.count;
    report_findings(&f.input, &lines);
    assert_has(&lines,
               "throughput may still be growing at 2 users, the largest measured load without "
               "traffic from other clients (measure ");
}

static void shows_matrices_peak_saturation_failures_and_takeaways(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };

    (void)state;
    set_up(&f);
    add_usual_cells(&f);
    text = markdown(&f);
    assert_has(&text, "## 100 output tokens\n");
    assert_has(&text, "### E2E latency p50, ms\n");
    assert_has(&text, "|               4 |     2200 |     4500 |\n"
                      "|           16384 | too long | too long |\n");
    assert_has(&text, "### Throughput, requests/s\n");
    assert_has(&text, "### TTFT p99, ms\n");
    assert_has(&text, "### ITL p50, ms\n");
    assert_lacks(&text, "Goodput");
    assert_has(&text, "390 output tokens/s (3.90 requests/s) with 8 users at context 4.\n");
    assert_has(
        &text,
        "|       4 |          >=8 |            390 |           390 |       8 |          8 |");
    assert_has(&text, "- context 16384, at 1 user: too long for the model, too_long; 1 larger load "
                      "not measured: 16484 tokens are more than the model's 8192\n");
    assert_has(&text, "- only one repetition, so the spread is unknown");
    assert_has(&text, "- no point has a warning\n");
    assert_has(&text, "## Key takeaways\n\n- Peak: 390 output tokens/s");
    assert_has(&text, "throughput may still be growing at 8 users, the largest measured load");
    assert_has(&text, "- 2 of 4 points of the grid were measured, 2 are too long for the model.\n");
}

/* A reader who stops after a few lines knows the conclusions. */
static void begins_with_the_verdict_and_the_takeaways(void **state)
{
    static const char *const order[] = {
        "# Sweep swp_test of demo\n\n- state: completed\n\n## Verdict\n\n"
        "- 4 tokens in, 100 out: ",
        "\n\n## Key takeaways\n\n- Peak: ",
        "\n\n## 100 output tokens\n\n",
        "\n\n## Warnings\n\n",
        "\n\n## What was measured\n\n- cells: 2 of 4",
        "\n\n## How it was measured\n\n"
    };
    struct fixture f;
    TEXT_AUTO text = { 0 };
    const char *at;

    (void)state;
    set_up(&f);
    add_usual_cells(&f);
    text = markdown(&f);
    at = text_string(&text);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        at = strstr(at, order[i]);
        if (at == NULL)
            fail_msg("\"%s\" is missing, or not in its place, in:\n%s", order[i],
                     text_string(&text));
    }
}

static void with_one_context_all_figures_are_in_one_table(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };

    (void)state;
    set_up(&f);
    cell_measured(&f.cells, 1, 4, 50, 2200);
    cell_measured(&f.cells, 8, 4, 390, 4500)->measurement.client_limited = true;
    cell_failed(&f.cells, 64, 4, FAILURE_RESET, "");
    f.input.cell_count = f.cells.count;
    text = markdown(&f);
    assert_has(
        &text,
        "## 100 output tokens\n\nAt context 4; latencies in ms:\n\n"
        "| users | tokens/s |  req/s | TTFT p50 | TTFT p99 | ITL p50 | ITL p99 | TPOT p50 | E2E "
        "p50 | E2E p99 |\n");
    assert_has(&text, "\n|     1 |     50.0 |   0.50 |      220 |      440 |    20.0 |    40.0 | "
                      "    20.0 |    2200 |    4400 |\n"
                      "|     8 |     390! |  3.90! |     450! |     900! |   40.9! |   81.8! |   "
                      " 40.9! |   4500! |   9000! |\n"
                      "|    64 |   failed | failed |");
    assert_lacks(&text, "### TTFT");
}

static void with_one_load_all_figures_are_in_one_table(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };

    (void)state;
    set_up(&f);
    cell_measured(&f.cells, 8, 4, 390, 4500);
    cell_measured(&f.cells, 8, 512, 300, 5500);
    f.input.cell_count = f.cells.count;
    text = markdown(&f);
    assert_has(&text, "At 8 users; latencies in ms:\n\n| context | tokens/s | ");
    assert_has(&text, "\n|     512 |      300 | ");
}

static void shows_how_near_the_load_generator_was_to_its_ceiling(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };

    (void)state;
    set_up(&f);
    add_usual_cells(&f);
    f.cells.rows[0].measurement.ceiling_chunks_s = 180000;
    f.cells.rows[1].measurement.ceiling_chunks_s = 180000;
    f.cells.rows[1].measurement.ceiling_share = 0.23;
    text = markdown(&f);
    assert_has(&text, "can read 180000 stream chunks/s (calibrated); the busiest cell used 23 %");
}

static void a_failed_cell_has_no_speed_anywhere(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };
    FREE_AUTO char *written = NULL;
    json_auto_t *json = NULL;

    (void)state;
    set_up(&f);
    cell_measured(&f.cells, 1, 4, 50, 2200);
    cell_failed(&f.cells, 8, 4, FAILURE_OVERLOADED_503, "queue\nis |full|");
    f.input.cell_count = f.cells.count;
    text = markdown(&f);
    assert_has(&text, "| failed |");
    assert_has(&text, "- context 4, at 8 users: failed, overloaded_503, 40 of 50 requests failed: "
                      "queue is |full|");
    assert_lacks(&text, "7777"); /* the speed and latency in cell_failed() */
    json = report_json(&f.input);
    written = json_write(json);
    assert_null(strstr(written, "7777"));
}

static void itl_and_tpot_are_not_shown_for_answers_of_one_token(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };

    (void)state;
    set_up(&f);
    for (int64_t users = 1; users <= 2; users++) {
        struct cell_row *cell = cell_measured(&f.cells, users, 4, 50, 2200);

        cell->output_tokens = 1;
        cell->measurement.output_tokens_mean = 1;
        cell->measurement.output_tokens_requested = 1;
        cell->measurement.output_tokens_min = cell->measurement.output_tokens_max = 1;
    }
    f.input.cell_count = f.cells.count;
    text = markdown(&f);
    assert_lacks(&text, "### ITL");
    assert_lacks(&text, "### TPOT");
    assert_lacks(&text, "tokens/s for each user");
    assert_has(&text, "ITL and TPOT are not shown");
    assert_has(&text, "- short_output: fewer than 16 output tokens");
    assert_has(&text, "(every measured point)");
}

static void warns_that_different_runs_are_not_repetitions(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };
    json_auto_t *json = NULL;

    (void)state;
    set_up(&f);
    add_usual_cells(&f);
    strcpy(f.runs[1].fingerprint, "other");
    f.runs[1].fingerprint_document = other_document;
    f.input.run_count = 2;
    text = markdown(&f);
    assert_has(&text, "**The runs differ in [\"engine_version\"]: they are shown as repetitions");
    json = report_json(&f.input);
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(json, "fingerprints_differ"), 0)),
        "engine_version");
}

static void lists_marks_cold_starts_and_interrupted_attempts(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };

    (void)state;
    set_up(&f);
    add_usual_cells(&f);
    strcpy(f.sweep.state, "stopped");
    strcpy(f.sweep.reason, "the time limit of 1 h passed");
    f.cells.rows[0].measurement.cold_ttft_ms = 55000;
    f.cells.rows[1].measurement.client_limited = true;
    f.interrupted = (struct attempt_row){ .number = 1,
                                          .concurrency = 8,
                                          .input_tokens = 4,
                                          .output_tokens = 100,
                                          .started_ms = 1795230001000,
                                          .reason = "the process ended" };
    f.input.interrupted = &f.interrupted;
    f.input.interrupted_count = 1;
    text = markdown(&f);
    assert_has(&text, "- state: stopped: the time limit of 1 h passed\n");
    assert_has(&text, "4500! |");
    assert_has(&text,
               "- ! client_limited: opsbrain itself was late or busy: the server may be faster "
               "than shown (8 x 4)\n");
    assert_has(&text, "at context 4. It has a \"!\": see the warnings.\n");
    assert_has(&text, "at worst 55000 ms to the first token at context 4 (220 ms when warm)");
    assert_has(&text, "- 2026-11-21T03:00:01.000Z: 8 users x 4 x 100 output tokens, repetition 1, "
                      "attempt 1: the process ended\n");
    assert_has(&text, "1 point has a");
}

static void the_json_has_the_figures_of_the_markdown(void **state)
{
    struct fixture f;
    json_auto_t *json = NULL;
    const json_t *output, *peak, *matrix;

    (void)state;
    set_up(&f);
    add_usual_cells(&f);
    json = report_json(&f.input);
    assert_string_equal(json_get_text(json_object_get(json, "sweep"), "state", ""), "completed");
    assert_string_equal(json_get_text(json_object_get(json, "fingerprint"), "engine", ""), "vllm");
    assert_int_equal(json_array_size(json_object_get(json, "users")), 2);
    output = json_array_get(json_object_get(json, "outputs"), 0);
    peak = json_object_get(output, "peak");
    assert_int_equal(json_get_integer(peak, "users", 0), 8);
    assert_float_equal(json_get_number(peak, "output_tokens_per_s", 0), 390, 1e-9);
    matrix = json_array_get(json_object_get(output, "matrices"), 0);
    assert_string_equal(json_get_text(matrix, "name", ""), "e2e_p50_ms");
    assert_int_equal(json_array_size(json_object_get(json, "failures")), 1);
    assert_int_equal(json_array_size(json_object_get(json, "warnings")), 0);
    assert_true(json_array_size(json_object_get(json, "takeaways")) >= 3);
}

static void a_sweep_that_has_not_begun_has_a_report_too(void **state)
{
    struct fixture f;
    TEXT_AUTO text = { 0 };
    json_auto_t *json = NULL;

    (void)state;
    set_up(&f);
    cell_add(&f.cells, 1, 4, 100, 0, CELL_PENDING);
    f.input.cell_count = 1;
    f.runs[0].fingerprint[0] = '\0';
    f.runs[0].fingerprint_document = NULL;
    f.sweep.started_ms = f.sweep.finished_ms = 0;
    f.sweep.plan = NULL;
    text = markdown(&f);
    assert_has(&text, "- not begun; the plan was made at 2026-11-21T03:00:00.000Z");
    assert_has(&text, "\nNo cell has been measured.");
    assert_has(&text, "- 0 of 1 points of the grid were measured, 1 is pending.");
    assert_has(&text, "No point was measured");
    json = report_json(&f.input);
    assert_true(
        json_is_null(json_object_get(json_array_get(json_object_get(json, "outputs"), 0), "peak")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_what_was_measured_and_how),
        cmocka_unit_test(shows_how_the_load_of_an_open_loop_arrived),
        cmocka_unit_test(shows_the_largest_load_that_meets_the_limits),
        cmocka_unit_test(shows_the_rates_of_an_open_loop),
        cmocka_unit_test(limits_are_met_up_to_at_least_a_load_if_the_next_is_unknown),
        cmocka_unit_test(a_larger_load_with_traffic_from_other_clients_did_not_lose_requests),
        cmocka_unit_test(shows_matrices_peak_saturation_failures_and_takeaways),
        cmocka_unit_test(begins_with_the_verdict_and_the_takeaways),
        cmocka_unit_test(with_one_context_all_figures_are_in_one_table),
        cmocka_unit_test(with_one_load_all_figures_are_in_one_table),
        cmocka_unit_test(shows_how_near_the_load_generator_was_to_its_ceiling),
        cmocka_unit_test(a_failed_cell_has_no_speed_anywhere),
        cmocka_unit_test(itl_and_tpot_are_not_shown_for_answers_of_one_token),
        cmocka_unit_test(warns_that_different_runs_are_not_repetitions),
        cmocka_unit_test(lists_marks_cold_starts_and_interrupted_attempts),
        cmocka_unit_test(the_json_has_the_figures_of_the_markdown),
        cmocka_unit_test(a_sweep_that_has_not_begun_has_a_report_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
