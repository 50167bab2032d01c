/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sweep_resume. */
#include "tests/unit/support/tool_sweeps.h"

static void resumes_with_the_missing_cells(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    sweep_started(world, "", id);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    world_refused(world, "sweep_resume", text_string(&arguments), ERROR_CONFLICT,
                  "has not ended (planned)");
    sweep_measured(world, id, 3, "stopped", "the time limit passed");
    answer = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(answer, "sweep"), "state", ""), "planned");
    assert_int_equal(json_get_integer(json_object_get(answer, "sweep"), "cells_done", 0), 3);
    sweep_claimed(world, id); /* fails unless there is a new job to claim */
}

/* Makes a stopped sweep of two repetitions. In the first, one cell failed and the others were
 * measured; in the second, one failed, one was measured, and the others are pending. */
static void make_stopped_sweep(struct world *world, char id[ID_SIZE], char first_run[ID_SIZE])
{
    struct store *store = world->services.store;
    struct cell_row *cells;
    struct claim claim;
    size_t total, seen[2] = { 0 };

    sweep_started(world, ",\"repetitions\":2", id);
    claim = sweep_claimed(world, id);
    assert_stored(world, cell_list(store, id, NULL, &cells, &total, &world->error));
    assert_int_equal(total, 8);
    for (size_t i = 0; i < total; i++) {
        size_t nth = seen[cells[i].repetition]++;

        if (cells[i].repetition == 0)
            memcpy(first_run, cells[i].run_id, ID_SIZE);
        if (nth == 1)
            cell_failed(world, &claim, &cells[i]);
        else if (cells[i].repetition == 0 || nth == 0)
            cell_measured(world, &claim, &cells[i]);
    }
    cell_rows_free(cells, total);
    assert_stored(world, job_finish(store, &claim,
                                    &(struct job_ending){ .state = JOB_COMPLETED,
                                                          .outcome_json = "{}",
                                                          .sweep_state = "stopped",
                                                          .sweep_reason = "the time limit passed" },
                                    clock_utc_ms(), &world->error));
}

static void resuming_lists_the_failed_cells_that_it_leaves_as_they_are(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE], first_run[ID_SIZE], correction[128];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;
    const json_t *left;

    world_register(world, "demo");
    make_stopped_sweep(world, id, first_run);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    answer = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_int_equal(json_get_integer(answer, "left_failed", 0), 2);
    left = json_array_get(json_object_get(answer, "left"), 0);
    assert_string_equal(json_get_text(left, "run", ""), first_run);
    assert_true(json_get_boolean(left, "run_finished", false));
    assert_string_equal(json_get_text(left, "reason", ""), "timeout: no token within 9 s");
    assert_false(
        json_get_boolean(json_array_get(json_object_get(answer, "left"), 1), "run_finished", true));
    world_says(world, "Failed or skipped cells in unfinished runs, not measured again: 1.");
    snprintf(correction, sizeof correction, "repetitions 1, \"corrects\": \"%s\"", first_run);
    world_says(world, correction);
}

static void if_failures_are_retried_only_failed_cells_of_finished_runs_stay_failed(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE], first_run[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    make_stopped_sweep(world, id, first_run);
    text_addf(&arguments, "{\"sweep\":\"%s\",\"retry_failed\":true}", id);
    answer = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_int_equal(json_get_integer(answer, "left_failed", 0), 1);
    assert_int_equal(json_get_integer(json_object_get(answer, "sweep"), "cells_done", 0), 5);
    assert_null(strstr(text_string(&world->text), "unfinished runs"));
}

static void does_not_resume_after_the_hardware_was_changed(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", id);
    sweep_measured(world, id, 1, "stopped", "the time limit passed");
    world_do(world, "deployment_update", "{\"hardware\":\"2x L4\"}");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    world_refused(world, "sweep_resume", text_string(&arguments), ERROR_CONFLICT,
                  "the sweep would mix cells of two revisions");
}

/* A label has no effect on what is measured. */
static void resumes_even_if_a_label_was_changed(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    world_register(world, "demo");
    sweep_started(world, "", id);
    sweep_measured(world, id, 1, "stopped", "the time limit passed");
    world_do(world, "deployment_update", "{\"labels\":{\"team\":\"blue\"}}");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    answer = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(answer, "sweep"), "id", ""), id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumes_with_the_missing_cells),
        cmocka_unit_test(resuming_lists_the_failed_cells_that_it_leaves_as_they_are),
        cmocka_unit_test(if_failures_are_retried_only_failed_cells_of_finished_runs_stay_failed),
        cmocka_unit_test(does_not_resume_after_the_hardware_was_changed),
        cmocka_unit_test(resumes_even_if_a_label_was_changed),
    };

    return world_run(tests);
}
