/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of deployment_plan: what a plan shows, and what is refused. */
#include "tests/unit/support/fleet_tools.h"

static void the_price_is_for_the_maximum_number_of_servers_that_the_recipe_allows(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL;

    cloud->scale_max = 3;
    register_lab(world, "");
    made = plan(world, "");
    assert_true(json_get_number(made, "usd_per_hour", 0) > 2.9);
}

static void a_plan_shows_requests_cost_end_and_access_and_changes_nothing(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL;

    register_lab(world, "");
    made = plan(world, ",\"replicas\":2");
    assert_int_equal(json_array_size(json_object_get(made, "requests")), 3);
    assert_true(json_get_number(made, "usd_per_hour", 0) > 1.9);
    assert_string_equal(json_get_text(made, "ends_by", ""), "the guard ends it");
    assert_string_equal(json_get_text(made, "lock", ""), "only the test can call it.");
    assert_non_null(strstr(text_string(&world->text), "POST https://test/service/gemma"));
    assert_non_null(strstr(text_string(&world->text), "1 x L4 (the test, today)"));
    assert_int_equal(cloud->writes, 0);
    world_audited(world, "deployment_plan", "ok", json_get_text(made, "plan", ""));
}

static void a_plan_that_is_impossible_or_not_allowed_is_refused(void **state)
{
    struct world *world = *state;

    register_lab(world, ",\"recipes\":[\"gemma-small\"]");
    world_refused(world, "deployment_plan",
                  "{\"deployment\":\"g\",\"target\":\"lab\",\"recipe\":\"other\"}", ERROR_FORBIDDEN,
                  "does not allow the recipe other");
    world_refused(world, "deployment_plan",
                  "{" GEMMA ",\"overrides\":{\"max_model_len\":\"110000\"}}", ERROR_INVALID,
                  "does not fit");
    world_refused(world, "deployment_plan", "{" GEMMA ",\"overrides\":{\"image\":\"evil\"}}",
                  ERROR_INVALID, "image");
    world_refused(world, "deployment_plan", "{" GEMMA ",\"region\":\"north\"}", ERROR_INVALID,
                  "east, west");
    world_refused(world, "deployment_plan", "{" GEMMA ",\"replicas\":11}", ERROR_FORBIDDEN,
                  "allows 10.00");
    world_refused(world, "deployment_plan",
                  "{\"deployment\":\"g\",\"target\":\"lab\",\"recipe\":\"gemma-small\"}",
                  ERROR_FORBIDDEN, "requires an end");
    world_refused(world, "deployment_plan",
                  "{\"deployment\":\"unguarded\",\"target\":\"lab\",\"recipe\":\"gemma-small\","
                  "\"life_s\":7200}",
                  ERROR_FORBIDDEN, "nothing will stop unguarded");
    cloud->usd = -1;
    world_refused(world, "deployment_plan", "{" GEMMA "}", ERROR_FORBIDDEN, "is not known");
    cloud->usd = 1;
    cloud->fault = FAULT_REFUSE;
    world_refused(world, "deployment_plan", "{" GEMMA "}", ERROR_CONFLICT, "quota of 0");
    assert_int_equal(cloud->writes, 0);
}

/* A server that is already running can still be extended, but the answer has a warning. */
static void no_new_server_is_planned_from_a_recipe_that_breaks_a_rule(void **state)
{
    static const char rule[] = "lets anyone who can reach the server reconfigure it";
    struct world *world = *state;
    json_auto_t *extended = NULL;

    deploy(world);
    cloud->recipe_breaks_rule = true;
    world_refused(world, "deployment_plan",
                  "{\"deployment\":\"g\",\"target\":\"lab\",\"recipe\":\"gemma-small\","
                  "\"life_s\":7200}",
                  ERROR_INVALID, rule);
    world_refused(world, "deployment_update",
                  "{\"deployment\":\"gemma\",\"recipe\":\"gemma-small\"}", ERROR_INVALID, rule);
    extended = world_ok(world, "deployment_extend", "{\"deployment\":\"gemma\",\"life_s\":9000}");
    world_says(world, "Warning: A new server would be refused: ");
    world_says(world, rule);
}

static void a_plan_for_a_server_that_only_opsbrain_can_stop_says_so_first(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL;

    register_lab(world, ",\"options\":[\"allows_no_guard=true\"]");
    made = world_ok(world, "deployment_plan",
                    "{\"deployment\":\"unguarded\",\"target\":\"lab\",\"recipe\":\"gemma-small\","
                    "\"life_s\":7200}");
    assert_ptr_equal(strstr(text_string(&world->text),
                            "If opsbrain is gone, NOTHING WILL STOP unguarded at its planned end."),
                     text_string(&world->text));
}

static void refuses_unmanaged_deployments_unknown_plans_and_plans_if_deploying_is_off(void **state)
{
    struct world *world = *state;

    register_lab(world, "");
    world_refused(world, "deployment_scale", "{\"deployment\":\"gemma\",\"replicas\":2}",
                  ERROR_CONFLICT, "is not managed by opsbrain");
    world_refused(world, "deployment_apply", "{\"plan\":\"pln_none\"}", ERROR_NOT_FOUND,
                  "no plan has the id");
    world->services.fleet = NULL;
    world_refused(world, "deployment_plan", "{" GEMMA "}", ERROR_UNSUPPORTED,
                  "cannot deploy anything");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLEET_TEST(the_price_is_for_the_maximum_number_of_servers_that_the_recipe_allows),
        FLEET_TEST(a_plan_shows_requests_cost_end_and_access_and_changes_nothing),
        FLEET_TEST(a_plan_that_is_impossible_or_not_allowed_is_refused),
        FLEET_TEST(no_new_server_is_planned_from_a_recipe_that_breaks_a_rule),
        FLEET_TEST(a_plan_for_a_server_that_only_opsbrain_can_stop_says_so_first),
        FLEET_TEST(refuses_unmanaged_deployments_unknown_plans_and_plans_if_deploying_is_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
