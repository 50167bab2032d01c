/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of run_list, run_show and run_report, and of how four tools mark estimated token counts. */
#include "tests/unit/support/tool_sweeps.h"

/* Completes a sweep with two repetitions. Copies its id to `sweep` and the id of its newest run to
 * `run`. */
static void measure(struct world *world, char sweep[ID_SIZE], char run[ID_SIZE])
{
    json_auto_t *list = NULL;
    const json_t *row;

    world_register(world, "demo");
    sweep_started(world, ",\"repetitions\":2,\"purpose\":\"is fp8 worth it?\"", sweep);
    sweep_measured(world, sweep, 8, "completed", "");
    list = world_ok(world, "run_list", "{\"deployment\":\"demo\"}");
    assert_int_equal(json_array_size(json_object_get(list, "runs")), 2);
    row = json_array_get(json_object_get(list, "runs"), 0);
    assert_string_equal(json_get_text(row, "sweep", ""), sweep);
    assert_int_equal(json_get_integer(row, "cells_total", 0), 4);
    assert_int_equal(json_get_integer(row, "cells_done", 0), 4);
    snprintf(run, ID_SIZE, "%s", json_get_text(row, "id", ""));
}

static void says_when_there_are_no_runs(void **state)
{
    struct world *world = *state;
    json_auto_t *list = world_ok(world, "run_list", "{}");

    assert_int_equal(json_array_size(json_object_get(list, "runs")), 0);
    assert_null(json_object_get(list, "next_cursor"));
    world_says(world, "There are no runs.");
    world_refused(world, "run_list", "{\"cursor\":\"soon\"}", ERROR_INVALID, "\"cursor\"");
}

static void a_page_has_all_repetitions_of_a_sweep(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE];
    json_auto_t *page = NULL;

    measure(world, sweep, run);
    page = world_ok(world, "run_list", "{\"limit\":1}");
    assert_int_equal(json_array_size(json_object_get(page, "runs")), 2);
    assert_null(json_object_get(page, "next_cursor"));
}

static void shows_what_was_measured_and_by_whom(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    measure(world, sweep, run);
    text_addf(&arguments, "{\"run\":\"%s\"}", run);
    answer = world_ok(world, "run_show", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(answer, "fingerprint"), "model", ""),
                        "simserve/toy");
    assert_string_equal(json_get_text(json_object_get(answer, "provenance"), "principal", ""),
                        "alice");
    assert_string_equal(json_get_text(json_object_get(answer, "provenance"), "client", ""),
                        "test/1");
    assert_string_equal(json_get_text(json_object_get(answer, "provenance"), "purpose", ""),
                        "is fp8 worth it?");
    assert_int_equal(json_array_size(json_object_get(answer, "cells")), 4);
    assert_null(json_object_get(answer, "detail"));
    world_refused(world, "run_show", "{\"run\":\"run_nobody\"}", ERROR_NOT_FOUND, "run_nobody");
}

static void shows_one_cell_in_detail(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *all = NULL, *answer = NULL;
    const json_t *detail;
    int64_t position;

    measure(world, sweep, run);
    text_addf(&arguments, "{\"run\":\"%s\"}", run);
    all = world_ok(world, "run_show", text_string(&arguments));
    position = json_get_integer(json_array_get(json_object_get(all, "cells"), 0), "position", -1);
    text_clear(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\",\"cell\":%lld}", run, (long long)position);
    answer = world_ok(world, "run_show", text_string(&arguments));
    detail = json_object_get(answer, "detail");
    assert_int_equal(json_get_integer(detail, "position", -1), position);
    assert_non_null(json_object_get(json_object_get(detail, "measurement"), "latency"));
    assert_true(json_get_number(json_object_get(detail, "witness"), "output_tokens_per_s", 0)
                == 160);
    text_clear(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\",\"cell\":999}", run);
    world_refused(world, "run_show", text_string(&arguments), ERROR_NOT_FOUND,
                  "the run has no cell at position 999");
}

/* Completes a sweep in which the token counts of the first cell are estimates. */
static void measure_without_usage(struct world *world, char sweep[ID_SIZE], char run[ID_SIZE])
{
    struct store *store = world->services.store;
    struct claim claim;
    struct cell_row *cells;
    size_t count;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    claim = sweep_claimed(world, sweep);
    assert_stored(world, cell_list(store, sweep, NULL, &cells, &count, &world->error));
    memcpy(run, cells[0].run_id, ID_SIZE);
    for (size_t i = 0; i < count; i++)
        cell_stored(world, &claim, &cells[i], i == 0);
    cell_rows_free(cells, count);
    assert_stored(world, job_finish(store, &claim,
                                    &(struct job_ending){ .state = JOB_COMPLETED,
                                                          .outcome_json = "{}",
                                                          .sweep_state = "completed",
                                                          .sweep_reason = "" },
                                    clock_utc_ms(), &world->error));
}

static void run_show_run_audit_run_export_and_run_report_mark_estimated_token_counts(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *exported = NULL;
    const json_t *marked;

    measure_without_usage(world, sweep, run);
    text_addf(&arguments, "{\"run\":\"%s\"}", run);
    world_do(world, "run_show", text_string(&arguments));
    world_says(world, "tokens estimated");
    world_do(world, "run_audit", text_string(&arguments));
    world_says(world, "answers without usage");
    exported = world_ok(world, "run_export", text_string(&arguments));
    marked = json_object_get(exported, "marked");
    for (size_t i = 0; i < json_array_size(marked); i++) {
        const json_t *cell = json_array_get(marked, i);
        const char *marks = json_get_text(cell, "marks", "");

        assert_int_equal(strstr(marks, "tokens_estimated") != NULL,
                         json_get_integer(cell, "position", -1) == 0);
    }
    assert_true(json_array_size(marked) > 0);
    world_says(world, "in the file with warnings");
    text_clear(&arguments);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    world_do(world, "run_report", text_string(&arguments));
    world_says(
        world,
        "answers lacked usage: their output tokens are estimated from the number of stream chunks");
}

static void shows_no_figures_for_a_cell_that_was_not_measured(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *list = NULL, *answer = NULL;
    const json_t *detail;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    list = world_ok(world, "run_list", "{}");
    text_addf(&arguments, "{\"run\":\"%s\",\"cell\":0}",
              json_get_text(json_array_get(json_object_get(list, "runs"), 0), "id", ""));
    answer = world_ok(world, "run_show", text_string(&arguments));
    detail = json_object_get(answer, "detail");
    assert_string_equal(json_get_text(detail, "state", ""), "pending");
    assert_null(json_object_get(detail, "measurement"));
}

static void reports_the_newest_measured_sweep_or_the_one_named(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE], empty[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *newest = NULL, *named = NULL;

    measure(world, sweep, run);
    sweep_started(world, "", empty); /* has measured nothing yet */
    newest = world_ok(world, "run_report", "{}");
    assert_string_equal(json_get_text(json_object_get(newest, "sweep"), "id", ""), sweep);
    assert_int_equal(json_array_size(json_object_get(newest, "runs")), 2);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    named = world_ok(world, "run_report", text_string(&arguments));
    assert_true(json_equal(json_object_get(named, "report"), json_object_get(newest, "report")));
    world_says(world, "#");
}

static void reports_a_sweep_that_has_measured_nothing_yet(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    world_do(world, "run_report", text_string(&arguments));
}

static void reports_one_run_alone(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE], run[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    measure(world, sweep, run);
    text_addf(&arguments, "{\"run\":\"%s\"}", run);
    answer = world_ok(world, "run_report", text_string(&arguments));
    assert_int_equal(json_array_size(json_object_get(answer, "runs")), 1);
    assert_string_equal(json_get_text(json_array_get(json_object_get(answer, "runs"), 0), "id", ""),
                        run);
    text_clear(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\",\"sweep\":\"swp_other\"}", run);
    world_refused(world, "run_report", text_string(&arguments), ERROR_INVALID,
                  ", not to swp_other");
}

static void says_when_there_is_nothing_to_report(void **state)
{
    struct world *world = *state;

    world_refused(world, "run_report", "{}", ERROR_NOT_FOUND,
                  "no sweep has measured anything yet: start one with sweep_start");
    world_refused(world, "run_report", "{\"deployment\":\"demo\"}", ERROR_NOT_FOUND,
                  "no sweep on demo has measured anything yet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_when_there_are_no_runs),
        cmocka_unit_test(a_page_has_all_repetitions_of_a_sweep),
        cmocka_unit_test(shows_what_was_measured_and_by_whom),
        cmocka_unit_test(shows_one_cell_in_detail),
        cmocka_unit_test(run_show_run_audit_run_export_and_run_report_mark_estimated_token_counts),
        cmocka_unit_test(shows_no_figures_for_a_cell_that_was_not_measured),
        cmocka_unit_test(reports_the_newest_measured_sweep_or_the_one_named),
        cmocka_unit_test(reports_a_sweep_that_has_measured_nothing_yet),
        cmocka_unit_test(reports_one_run_alone),
        cmocka_unit_test(says_when_there_is_nothing_to_report),
    };

    return world_run(tests);
}
