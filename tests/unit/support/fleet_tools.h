/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet tools, used on a simulated cloud, with a job thread that carries out plans. */
#pragma once

#include "tests/unit/support/fleet_world.h"
#include "tests/unit/support/tool_world.h"

/* Both belong to the current test. */
static struct fleet_world *cloud;
static struct fleet_frame frame;

static inline int fleet_set_up(void **state)
{
    struct world *world;

    world_set_up_alone(state, job_kinds);
    world = *state;
    cloud = fleet_world_create();
    frame = fleet_world_frame(cloud, world->services.store);
    frame.catalog = world->services.catalog;
    world->services.fleet = &frame;
    return 0;
}

static inline int fleet_tear_down(void **state)
{
    world_tear_down(state);
    munmap(cloud, sizeof *cloud);
    return 0;
}

#define FLEET_TEST(function)                                                                       \
    cmocka_unit_test_setup_teardown(function, fleet_set_up, fleet_tear_down)

#define LAB                                                                                        \
    "\"name\":\"lab\",\"provider\":\"kubernetes\",\"credential\":\"none\",\"project\":\"p\","      \
    "\"regions\":[\"east\",\"west\"],\"usd_per_hour\":10,\"total_usd_per_hour\":20,"               \
    "\"life_limit_s\":86400"
#define GEMMA                                                                                      \
    "\"deployment\":\"gemma\",\"target\":\"lab\",\"recipe\":\"gemma-small\",\"life_s\":7200"
#define YES "{\"action\":\"accept\",\"content\":{\"agree\":true}}"
#define NO "{\"action\":\"decline\"}"

/* From now on, calls come from this principal. `reply`: what the principal's client answers to
 * questions; NULL: the client cannot be asked. */
static inline void as(struct world *world, const char *principal, enum role role, const char *reply)
{
    world->principal = principal;
    world->role = role;
    world->reply = reply;
}

/* Registers the target "lab" as an admin. From then on, calls come from alice, an operator. */
static inline void register_lab(struct world *world, const char *more)
{
    char arguments[600];

    as(world, "root", ROLE_ADMIN, NULL);
    snprintf(arguments, sizeof arguments, "{" LAB "%s}", more);
    world_do(world, "target_register", arguments);
    as(world, "alice", ROLE_OPERATOR, NULL);
}

/* Calls deployment_plan for GEMMA and returns the answer. */
static inline json_t *plan(struct world *world, const char *more)
{
    char arguments[600];

    snprintf(arguments, sizeof arguments, "{" GEMMA "%s}", more);
    return world_ok(world, "deployment_plan", arguments);
}

/* Returns arguments that name the plan. The string is valid until with_plan is called again. */
static inline const char *with_plan(const json_t *made, const char *more)
{
    static char arguments[300];

    snprintf(arguments, sizeof arguments, "{\"plan\":\"%s\"%s}", json_get_text(made, "plan", ""),
             more);
    return arguments;
}

/* Waits up to 20 s for the job that `begun` names to end, then checks that it is in `state`. */
static inline void await(struct world *world, const json_t *begun, const char *state)
{
    char arguments[120];
    json_auto_t *shown = NULL;

    snprintf(arguments, sizeof arguments, "{\"job\":\"%s\",\"wait_s\":20}",
             json_get_text(begun, "job", ""));
    shown = world_ok(world, "job_show", arguments);
    if (strstr(text_string(&world->text), state) == NULL)
        fail_msg("the job is not %s: %s", state, text_string(&world->text));
}

static inline void deploy(struct world *world)
{
    json_auto_t *made = NULL, *begun = NULL;

    register_lab(world, "");
    made = plan(world, "");
    world->reply = YES;
    begun = world_ok(world, "deployment_apply", with_plan(made, ""));
    await(world, begun, "completed");
}
