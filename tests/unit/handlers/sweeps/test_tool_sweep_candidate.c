/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sweeps over two deployments, which are measured alternately. The second deployment is
 * called the candidate. */
#include "tests/unit/support/tool_sweeps.h"

static void plans_a_sweep_over_two_different_registered_deployments(void **state)
{
    struct world *world = *state;
    json_auto_t *alone = NULL, *both = NULL;

    world_register(world, "demo");
    alone = world_ok(world, "sweep_plan", "{" SMALL_GRID "}");
    assert_true(json_is_null(json_object_get(alone, "candidate"))
                || json_object_get(alone, "candidate") == NULL);
    world_register(world, "new");
    both = world_ok(world, "sweep_plan",
                    "{\"deployment\":\"demo\",\"candidate\":\"new\",\"repetitions\":2," SMALL_GRID
                    "}");
    assert_string_equal(json_get_text(both, "candidate", ""), "new");
    assert_int_equal(json_get_integer(both, "cells", 0), 16);
    assert_string_not_equal(json_get_text(both, "plan_digest", ""),
                            json_get_text(alone, "plan_digest", ""));
    world_says(world, "Plan for demo (revision 1), alternating with new (revision 1): 16 cells.");
    world_says(world, "fewer than 5 pairs of runs");
    world_says(world, "both deployments have the same host and port");
    world_refused(world, "sweep_plan",
                  "{\"deployment\":\"demo\",\"candidate\":\"demo\"," SMALL_GRID "}", ERROR_INVALID,
                  "\"candidate\" is demo, the deployment itself");
    world_refused(world, "sweep_start",
                  "{\"deployment\":\"demo\",\"candidate\":\"nobody\"," SMALL_GRID "}",
                  ERROR_NOT_FOUND, "nobody");
}

static void starts_shows_and_lists_a_sweep_over_two_deployments(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    json_auto_t *shown = NULL, *page = NULL, *of_candidate = NULL, *runs = NULL;
    const json_t *sweep;

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH_DEPLOYMENTS, id);
    world_says(world, "on demo (revision 1) alternating with new (revision 1) is planned: 0 of 8");
    world_says(world, "then run_compare with this sweep");
    sweep_measured(world, id, 8, "completed", "");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    shown = world_ok(world, "sweep_show", text_string(&arguments));
    sweep = json_object_get(shown, "sweep");
    assert_string_equal(json_get_text(sweep, "deployment", ""), "demo");
    assert_string_equal(json_get_text(sweep, "candidate", ""), "new");
    assert_int_equal(json_get_integer(sweep, "candidate_revision", 0), 1);
    assert_string_equal(
        json_get_text(json_array_get(json_object_get(shown, "cells"), 1), "deployment", ""), "new");
    world_says(world, "Deployment");
    text_clear(&arguments);
    text_addf(&arguments, "{\"sweep\":\"%s\",\"limit\":1}", id);
    page = world_ok(world, "sweep_show", text_string(&arguments));
    assert_string_equal(
        json_get_text(json_array_get(json_object_get(page, "cells"), 0), "deployment", ""), "demo");
    world_says(world, "Deployment");
    world_says(world, "Next: run_compare with this sweep");
    of_candidate = world_ok(world, "sweep_list", "{\"deployment\":\"new\"}");
    assert_int_equal(json_array_size(json_object_get(of_candidate, "sweeps")), 1);
    runs = world_ok(world, "run_list", "{\"deployment\":\"new\"}");
    assert_int_equal(json_array_size(json_object_get(runs, "runs")), 1);
}

static void a_candidate_cannot_be_removed_while_a_sweep_uses_it(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH_DEPLOYMENTS, id);
    world_refused(world, "deployment_remove", "{\"deployment\":\"new\",\"confirm\":\"new\"}",
                  ERROR_CONFLICT, "is using new");
}

static void does_not_resume_after_the_hardware_of_one_deployment_was_changed(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH_DEPLOYMENTS, id);
    sweep_measured(world, id, 1, "stopped", "the time limit passed");
    world_do(world, "deployment_update", "{\"deployment\":\"new\",\"hardware\":\"2x L4\"}");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    world_refused(world, "sweep_resume", text_string(&arguments), ERROR_CONFLICT,
                  "measured revision 1 of new, which is now at revision 2");
}

static void reports_two_deployments_separately(void **state)
{
    struct world *world = *state;
    char id[ID_SIZE];
    TEXT_AUTO arguments = { 0 };
    TEXT_AUTO one = { 0 };
    json_auto_t *report = NULL, *of_new = NULL;
    const json_t *first, *second;

    world_register(world, "demo");
    world_register(world, "new");
    sweep_started(world, "," BOTH_DEPLOYMENTS, id);
    sweep_measured(world, id, 8, "completed", "");
    text_addf(&arguments, "{\"sweep\":\"%s\"}", id);
    report = world_ok(world, "run_report", text_string(&arguments));
    first = json_object_get(report, "report");
    second = json_object_get(report, "candidate_report");
    assert_string_equal(json_get_text(json_object_get(first, "sweep"), "deployment", ""), "demo");
    assert_string_equal(json_get_text(json_object_get(second, "sweep"), "deployment", ""), "new");
    assert_int_equal(json_get_integer(first, "repetitions", 0), 1);
    assert_int_equal(json_array_size(json_object_get(report, "runs")), 2);
    world_says(world, " of demo\n");
    world_says(world, " of new\n");
    world_says(world, "each cell is also measured on new");
    text_addf(&one, "{\"sweep\":\"%s\",\"deployment\":\"new\"}", id);
    of_new = world_ok(world, "run_report", text_string(&one));
    assert_null(json_object_get(of_new, "candidate_report"));
    assert_string_equal(json_get_text(json_object_get(json_object_get(of_new, "report"), "sweep"),
                                      "deployment", ""),
                        "new");
    text_clear(&one);
    text_addf(&one, "{\"sweep\":\"%s\",\"deployment\":\"else\"}", id);
    world_refused(world, "run_report", text_string(&one), ERROR_INVALID,
                  "measures demo and new, not else");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_a_sweep_over_two_different_registered_deployments),
        cmocka_unit_test(starts_shows_and_lists_a_sweep_over_two_deployments),
        cmocka_unit_test(a_candidate_cannot_be_removed_while_a_sweep_uses_it),
        cmocka_unit_test(does_not_resume_after_the_hardware_of_one_deployment_was_changed),
        cmocka_unit_test(reports_two_deployments_separately),
    };

    return world_run(tests);
}
