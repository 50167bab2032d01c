/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of target_register, target_list, target_show and target_remove. */
#include "tests/unit/support/fleet_tools.h"

static void targets_are_registered_by_admins_checked_and_shown(void **state)
{
    struct world *world = *state;
    json_auto_t *listed = NULL, *shown = NULL;

    as(world, "alice", ROLE_OPERATOR, NULL);
    world_refused(world, "target_register", "{" LAB "}", ERROR_FORBIDDEN, "role admin");
    register_lab(world, "");
    as(world, "root", ROLE_ADMIN, NULL);
    world_refused(world, "target_register",
                  "{\"name\":\"x\",\"provider\":\"azure\",\"credential\":\"none\"}", ERROR_INVALID,
                  "it must be one of kubernetes");
    world_refused(world, "target_register",
                  "{\"name\":\"x\",\"provider\":\"kubernetes\",\"credential\":\"none\"}",
                  ERROR_INVALID, "\"project\" is needed");
    world_refused(world, "target_register",
                  "{\"name\":\"x\",\"provider\":\"kubernetes\",\"credential\":\"kubeconfig\","
                  "\"credential_file\":\"../../etc/passwd\",\"project\":\"p\"}",
                  ERROR_INVALID, "file");
    listed = world_ok(world, "target_list", "{}");
    assert_int_equal(json_array_size(json_object_get(listed, "targets")), 1);
    shown = world_ok(world, "target_show", "{\"target\":\"lab\"}");
    world_says(world, "Regions: east, west; at most 10.00 USD per hour");
    assert_non_null(strstr(text_string(&world->text), "MISSING: create services"));
    world_refused(world, "target_show", "{\"target\":\"labs\"}", ERROR_NOT_FOUND,
                  "existing targets: lab");
}

static void a_target_is_removed_once_it_has_no_deployments(void **state)
{
    struct world *world = *state;
    json_auto_t *gone = NULL;

    deploy(world);
    as(world, "root", ROLE_ADMIN, NULL);
    world_refused(world, "target_remove", "{\"target\":\"lab\",\"confirm\":\"lab\"}",
                  ERROR_CONFLICT, "the managed deployment gemma");
    gone =
        world_ok(world, "deployment_destroy", "{\"deployment\":\"gemma\",\"confirm\":\"gemma\"}");
    await(world, gone, "completed");
    world_do(world, "target_remove", "{\"target\":\"lab\",\"confirm\":\"lab\"}");
    world_refused(world, "target_show", "{\"target\":\"lab\"}", ERROR_NOT_FOUND,
                  "there are no targets");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLEET_TEST(targets_are_registered_by_admins_checked_and_shown),
        FLEET_TEST(a_target_is_removed_once_it_has_no_deployments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
