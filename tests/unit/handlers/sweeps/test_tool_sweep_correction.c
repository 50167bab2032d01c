/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sweeps that correct earlier runs. */
#include "tests/unit/support/tool_sweeps.h"

static void run_of_sweep(struct world *world, const char *sweep, size_t index, char out[ID_SIZE])
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *runs = NULL;

    text_addf(&arguments, "{\"sweep\":\"%s\"}", sweep);
    runs = world_ok(world, "run_list", text_string(&arguments));
    snprintf(out, ID_SIZE, "%s",
             json_get_text(json_array_get(json_object_get(runs, "runs"), index), "id", ""));
}

static void a_run_and_its_correction_name_each_other(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], second[ID_SIZE], before[ID_SIZE], after[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO words = { 0 };
    json_auto_t *shown = NULL, *report = NULL;

    world_register(world, "demo");
    sweep_started(world, "", first);
    sweep_measured(world, first, 4, "completed", "");
    run_of_sweep(world, first, 0, before);
    text_addf(&arguments, ",\"corrects\":\"%s\"", first);
    sweep_started(world, text_string(&arguments), second);
    run_of_sweep(world, second, 0, after);
    text_addf(&words, "%s corrects %s.", after, before);
    world_says(world, text_string(&words));
    sweep_measured(world, second, 4, "completed", "");
    text_clear(&arguments);
    text_addf(&arguments, "{\"run\":\"%s\"}", before);
    shown = world_ok(world, "run_show", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(shown, "run"), "corrected_by", ""), after);
    assert_int_equal(json_get_integer(json_object_get(shown, "run"), "cells_done", 0), 4);
    text_clear(&words);
    text_addf(&words, "%s was corrected by %s: use that one.", before, after);
    world_says(world, text_string(&words));
    report = world_ok(world, "run_report", text_string(&arguments));
    assert_non_null(report);
    world_says(world, "was corrected by run_");
    text_clear(&arguments);
    text_addf(&arguments, "{\"baseline\":[\"%s\"],\"candidate\":[\"%s\"]}", before, after);
    world_do(world, "run_compare", text_string(&arguments));
    world_says(world, "was corrected by run_");
}

static void
a_correction_needs_an_ended_uncorrected_sweep_with_equal_cells_and_deployment(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], run[ID_SIZE], second[ID_SIZE];
    TEXT_AUTO same = { 0 };
    TEXT_AUTO more = { 0 };
    TEXT_AUTO other = { 0 };

    world_register(world, "demo");
    sweep_started(world, "", first);
    text_addf(&same, "{" SMALL_GRID ",\"deployment\":\"demo\",\"corrects\":\"%s\"}", first);
    world_refused(world, "sweep_start", text_string(&same), ERROR_CONFLICT, "has not ended");
    sweep_measured(world, first, 4, "completed", "");
    text_addf(&more, "{" SMALL_GRID ",\"repetitions\":2,\"corrects\":\"%s\"}", first);
    world_refused(world, "sweep_start", text_string(&more), ERROR_INVALID,
                  "differ from those of this call");
    world_refused(world, "sweep_start", "{" SMALL_GRID ",\"corrects\":\"run_nobody\"}",
                  ERROR_NOT_FOUND, "run_nobody");
    world_register(world, "new");
    text_addf(&other, "{" SMALL_GRID ",\"deployment\":\"new\",\"corrects\":\"%s\"}", first);
    world_refused(world, "sweep_start", text_string(&other), ERROR_INVALID,
                  "was measured on demo, not on the deployments of this call");
    run_of_sweep(world, first, 0, run);
    text_clear(&more);
    text_addf(&more, ",\"deployment\":\"demo\",\"corrects\":\"%s\"", run);
    sweep_started(world, text_string(&more), second);
    sweep_measured(world, second, 4, "completed", "");
    world_refused(world, "sweep_start", text_string(&same), ERROR_CONFLICT,
                  ": correct that run instead");
}

static void corrects_one_run_or_all_runs_of_a_sweep_over_two_deployments(void **state)
{
    struct world *world = *state;
    char first[ID_SIZE], second[ID_SIZE], third[ID_SIZE], run[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO of_one = { 0 };
    json_auto_t *runs = NULL;
    const json_t *rows, *row;
    size_t i;

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH_DEPLOYMENTS ",\"repetitions\":2", first);
    sweep_measured(world, first, 16, "completed", "");
    text_addf(&arguments, "," BOTH_DEPLOYMENTS ",\"repetitions\":2,\"corrects\":\"%s\"", first);
    sweep_started(world, text_string(&arguments), second);
    text_clear(&arguments);
    text_addf(&arguments, "{\"sweep\":\"%s\"}", second);
    runs = world_ok(world, "run_list", text_string(&arguments));
    rows = json_object_get(runs, "runs");
    assert_int_equal(json_array_size(rows), 4);
    json_array_foreach(rows, i, row) {
        json_auto_t *earlier = NULL;

        text_clear(&arguments);
        text_addf(&arguments, "{\"run\":\"%s\"}", json_get_text(row, "corrects", ""));
        earlier = world_ok(world, "run_show", text_string(&arguments));
        assert_string_equal(json_get_text(json_object_get(earlier, "run"), "deployment", "1"),
                            json_get_text(row, "deployment", "2"));
        assert_int_equal(json_get_integer(json_object_get(earlier, "run"), "repetition", -1),
                         json_get_integer(row, "repetition", -2));
    }
    run_of_sweep(world, second, 3, run);
    sweep_measured(world, second, 16, "completed", "");
    text_addf(&of_one, ",\"deployment\":\"%s\",\"corrects\":\"%s\"",
              json_get_text(json_array_get(rows, 3), "deployment", ""), run);
    sweep_started(world, text_string(&of_one), third);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_and_its_correction_name_each_other),
        cmocka_unit_test(
            a_correction_needs_an_ended_uncorrected_sweep_with_equal_cells_and_deployment),
        cmocka_unit_test(corrects_one_run_or_all_runs_of_a_sweep_over_two_deployments),
    };

    return world_run(tests);
}
