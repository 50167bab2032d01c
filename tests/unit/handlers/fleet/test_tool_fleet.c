/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how a managed deployment is shown, changed, extended, stopped and destroyed. */
#include "tests/unit/support/fleet_tools.h"

static void deployment_remove_refuses_a_managed_deployment(void **state)
{
    struct world *world = *state;

    deploy(world);
    world_refused(world, "deployment_remove", "{\"deployment\":\"gemma\",\"confirm\":\"gemma\"}",
                  ERROR_CONFLICT, "call deployment_destroy");
}

static void managed_deployments_are_shown_with_state_cost_and_end(void **state)
{
    struct world *world = *state;
    json_auto_t *listed = NULL, *shown = NULL;
    const json_t *first;

    deploy(world);
    listed = world_ok(world, "fleet_list", "{}");
    first = json_array_get(json_object_get(listed, "managed"), 0);
    assert_string_equal(json_get_text(first, "state", ""), "running");
    assert_string_equal(json_get_text(first, "actual", ""), "ready");
    assert_true(json_get_number(listed, "usd_per_hour", 0) > 0.9);
    assert_non_null(json_get_text(first, "ends_at", NULL));
    shown = world_ok(world, "deployment_show", "{\"deployment\":\"gemma\"}");
    assert_string_equal(json_get_text(json_object_get(shown, "managed"), "target", ""), "lab");
    assert_non_null(strstr(text_string(&world->text), "running on lab (created), 1.00 USD"));
}

static void a_deployment_is_stopped_started_and_destroyed_with_consent(void **state)
{
    struct world *world = *state;
    json_auto_t *stopped = NULL, *started = NULL, *begun = NULL, *gone = NULL;

    deploy(world);
    as(world, "bob", ROLE_OPERATOR, NULL);
    world_refused(world, "deployment_stop", "{\"deployment\":\"gemma\",\"confirm\":\"gemma\"}",
                  ERROR_FORBIDDEN, "belongs to alice");
    as(world, "alice", ROLE_OPERATOR, NULL);
    world_refused(world, "deployment_stop", "{\"deployment\":\"gemma\"}", ERROR_INVALID,
                  "PATCH service gemma");
    stopped =
        world_ok(world, "deployment_stop", "{\"deployment\":\"gemma\",\"confirm\":\"gemma\"}");
    await(world, stopped, "completed");
    started = world_ok(world, "deployment_start", "{\"deployment\":\"gemma\"}");
    world_refused(world, "deployment_apply", with_plan(started, ""), ERROR_FORBIDDEN,
                  "opsbrain plan approve");
    world->reply = YES;
    begun = world_ok(world, "deployment_apply", with_plan(started, ""));
    await(world, begun, "completed");
    gone =
        world_ok(world, "deployment_destroy", "{\"deployment\":\"gemma\",\"confirm\":\"gemma\"}");
    await(world, gone, "completed");
    assert_int_equal(fleet_world_existing(cloud), 0);
    world_refused(world, "deployment_show", "{\"deployment\":\"gemma\"}", ERROR_NOT_FOUND, "gemma");
}

static json_int_t planned_context_tokens(const json_t *updated)
{
    const json_t *requests = json_object_get(json_object_get(updated, "plan"), "requests");

    return json_get_integer(json_object_get(json_array_get(requests, 0), "body"), "max_model_len",
                            0);
}

/* Nothing changes until the plan is applied. A second update with empty overrides plans the
 * original context length. */
static void updating_a_managed_deployment_makes_a_plan(void **state)
{
    struct world *world = *state;
    json_auto_t *updated = NULL, *begun = NULL, *back = NULL;
    int writes;

    deploy(world);
    writes = cloud->writes;
    world_refused(world, "deployment_update",
                  "{\"deployment\":\"gemma\",\"overrides\":{\"image\":\"evil\"}}", ERROR_INVALID,
                  "image");
    world_refused(world, "deployment_update",
                  "{\"deployment\":\"gemma\",\"recipe\":\"gemma-small\",\"hardware\":\"1x H100\"}",
                  ERROR_INVALID, "one call for the");
    updated = world_ok(world, "deployment_update",
                       "{\"deployment\":\"gemma\",\"options\":[\"overrides=max_model_len=2048\"]}");
    assert_int_equal(planned_context_tokens(updated), 2048);
    assert_int_equal(cloud->writes, writes);
    world->reply = YES;
    begun = world_ok(world, "deployment_apply", with_plan(json_object_get(updated, "plan"), ""));
    await(world, begun, "completed");
    assert_true(cloud->writes > writes);
    assert_int_equal(fleet_world_find(cloud, "https://test/service/gemma")->created, 1);
    back = world_ok(world, "deployment_update", "{\"deployment\":\"gemma\",\"overrides\":{}}");
    assert_int_equal(planned_context_tokens(back), 4096);
    as(world, "bob", ROLE_OPERATOR, NULL);
    world_refused(world, "deployment_update", "{\"deployment\":\"gemma\",\"overrides\":{}}",
                  ERROR_FORBIDDEN, "belongs to alice");
}

/* Extending or scaling a server needs only the stored copy of the recipe it was created from. */
static void a_deployment_can_be_extended_and_scaled_without_its_recipe(void **state)
{
    struct world *world = *state;
    json_auto_t *extended = NULL, *begun = NULL, *scaled = NULL;

    deploy(world);
    cloud->recipe_is_gone = true;
    world_refused(world, "deployment_update", "{\"deployment\":\"gemma\",\"overrides\":{}}",
                  ERROR_NOT_FOUND, "no recipe is named");
    extended = world_ok(world, "deployment_extend", "{\"deployment\":\"gemma\",\"life_s\":9000}");
    assert_true(json_get_number(extended, "usd_per_hour", 0) > 0.9);
    world->reply = YES;
    begun = world_ok(world, "deployment_apply", with_plan(extended, ""));
    await(world, begun, "completed");
    scaled = world_ok(world, "deployment_scale", "{\"deployment\":\"gemma\",\"replicas\":2}");
    assert_true(json_get_number(scaled, "usd_per_hour", 0) > 1.9);
}

/* If the platform can change a server's end only while the server is stopped, an extension would
 * take the server away from a running sweep, so it is refused. */
static void an_extension_does_not_stop_a_server_that_a_sweep_uses(void **state)
{
    static const char *const quick[] = { "--ttft-ms", "5", "--step-ms", "2", NULL };
    struct world *world = *state;
    json_auto_t *extended = NULL, *begun = NULL, *stopping = NULL;

    world->simserve = simserve_start(quick);
    snprintf(cloud->address, sizeof cloud->address, "http://127.0.0.1:%d", world->simserve.port);
    deploy(world);
    world_do(world, "sweep_start",
             "{\"concurrency\":[1],\"input_tokens\":[8],\"output_tokens\":[4],\"window_s\":5}");
    extended = world_ok(world, "deployment_extend", "{\"deployment\":\"gemma\",\"life_s\":9000}");
    begun = world_ok(world, "deployment_apply", with_plan(extended, ""));
    await(world, begun, "completed");
    cloud->extends_stopped = true;
    stopping = world_ok(world, "deployment_extend", "{\"deployment\":\"gemma\",\"life_s\":9900}");
    world_refused(world, "deployment_apply", with_plan(stopping, ""), ERROR_CONFLICT,
                  "is using gemma");
}

static void an_update_is_priced_for_all_existing_replicas(void **state)
{
    struct world *world = *state;
    json_auto_t *updated = NULL;

    deploy(world);
    /* somebody else has scaled the server */
    fleet_world_find(cloud, "https://test/service/gemma")->replicas = 3;
    updated = world_ok(world, "deployment_update",
                       "{\"deployment\":\"gemma\",\"recipe\":\"gemma-small\"}");
    assert_true(json_get_number(json_object_get(updated, "plan"), "usd_per_hour", 0) > 2.9);
}

static void the_url_of_a_managed_deployment_cannot_be_changed(void **state)
{
    struct world *world = *state;

    deploy(world);
    world_refused(world, "deployment_update",
                  "{\"deployment\":\"gemma\",\"url\":\"http://127.0.0.1:9\",\"confirm\":\"gemma\"}",
                  ERROR_FORBIDDEN, "its platform assigns its address");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLEET_TEST(deployment_remove_refuses_a_managed_deployment),
        FLEET_TEST(managed_deployments_are_shown_with_state_cost_and_end),
        FLEET_TEST(a_deployment_is_stopped_started_and_destroyed_with_consent),
        FLEET_TEST(updating_a_managed_deployment_makes_a_plan),
        FLEET_TEST(a_deployment_can_be_extended_and_scaled_without_its_recipe),
        FLEET_TEST(an_extension_does_not_stop_a_server_that_a_sweep_uses),
        FLEET_TEST(an_update_is_priced_for_all_existing_replicas),
        FLEET_TEST(the_url_of_a_managed_deployment_cannot_be_changed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
