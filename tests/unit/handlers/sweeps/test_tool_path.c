/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the product's main task through the tools alone, with the real load generator: register,
 * sweep, wait, report, cancel, resume. */
#include "tests/unit/support/tool_sweeps.h"

static int set_up(void **state)
{
    static const char *const flags[] = { "--ttft-ms", "20", "--step-ms", "5", NULL };

    world_set_up_with(state, flags, job_kinds);
    return 0;
}

static json_t *wait_for(struct world *world, const char *sweep)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"job\":\"%s\",\"wait_s\":50}", sweep);
    return world_ok(world, "job_show", text_string(&arguments));
}

/* Checks that run_show also has figures from the server's own metrics. */
static void check_server_figures(struct world *world)
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *runs = world_ok(world, "run_list", "{}"), *run = NULL;
    const json_t *figures;

    text_addf(&arguments, "{\"run\":\"%s\",\"cell\":0}",
              json_get_text(json_array_get(json_object_get(runs, "runs"), 0), "id", ""));
    run = world_ok(world, "run_show", text_string(&arguments));
    figures = json_object_get(json_object_get(run, "detail"), "witness");
    assert_true(json_get_number(figures, "output_tokens_per_s", 0) > 0);
}

static void measures_a_grid_and_reports_it(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *job = NULL, *show = NULL, *report = NULL;
    TEXT_AUTO arguments = { 0 };
    size_t i;
    json_t *cell;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    job = wait_for(world, sweep);
    assert_string_equal(json_get_text(json_object_get(job, "job"), "state", ""), "completed");
    assert_true(world->progress_count > 0);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    show = world_ok(world, "sweep_show", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(show, "sweep"), "state", ""), "completed");
    assert_int_equal(json_array_size(json_object_get(show, "cells")), 4);
    json_array_foreach(json_object_get(show, "cells"), i, cell) {
        assert_string_equal(json_get_text(cell, "state", ""), "measured");
        assert_true(json_get_number(cell, "ttft_p50_ms", 0) >= 20);
        assert_true(json_get_number(cell, "ttft_p50_ms", 0) < 200);
        assert_true(json_get_number(cell, "success_rate", 0) == 1);
    }
    check_server_figures(world);
    report = world_ok(world, "run_report", "{}");
    assert_string_equal(json_get_text(json_object_get(report, "sweep"), "id", ""), sweep);
    world_says(world, "simserve/toy");
}

static void a_cancelled_sweep_stops_and_can_be_resumed(void **state)
{
    struct world *world = *state;
    char sweep[ID_SIZE];
    json_auto_t *job = NULL, *resumed = NULL, *again = NULL;
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    world_do(world, "sweep_cancel", text_string(&arguments));
    job = wait_for(world, sweep);
    assert_string_equal(json_get_text(json_object_get(job, "job"), "state", ""), "cancelled");
    resumed = world_ok(world, "sweep_resume", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(resumed, "sweep"), "id", ""), sweep);
    again = wait_for(world, sweep);
    assert_string_equal(json_get_text(json_object_get(again, "job"), "state", ""), "completed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_a_grid_and_reports_it),
        cmocka_unit_test(a_cancelled_sweep_stops_and_can_be_resumed),
    };

    return world_run_all(tests, sizeof tests / sizeof tests[0], set_up);
}
