/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the go-ahead for a plan: who can give it, for which plans, and what happens then. */
#include "tests/unit/support/fleet_tools.h"

static const char *with_confirmation(const json_t *made)
{
    char more[100];

    snprintf(more, sizeof more, ",\"confirm\":\"%s\"", json_get_text(made, "digest", ""));
    return with_plan(made, more);
}

static void nothing_is_deployed_without_a_users_consent_where_agents_may_not_approve(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL;

    register_lab(world, "");
    made = plan(world, "");
    world_refused(world, "deployment_apply", with_plan(made, ""), ERROR_FORBIDDEN,
                  "opsbrain plan approve");
    world_refused(world, "deployment_apply", with_confirmation(made), ERROR_FORBIDDEN,
                  "an agent may not approve it on this target");
    world_refused(world, "plan_approve", with_plan(made, ""), ERROR_FORBIDDEN,
                  "opsbrain plan approve");
    world->reply = NO;
    world_refused(world, "deployment_apply", with_plan(made, ""), ERROR_CANCELLED,
                  "did not consent");
    assert_int_equal(cloud->writes, 0);
}

static void an_agent_applies_a_plan_within_the_cost_ceiling_by_giving_its_digest(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL, *begun = NULL;

    register_lab(world, ",\"options\":[\"agent_usd_per_hour=1\",\"agent_usd_per_life=2\"]");
    made = plan(world, "");
    world_refused(world, "deployment_apply",
                  with_plan(made, ",\"confirm\":\"0123456789abcdef0123456789abcdef0123456789abcdef"
                                  "0123456789abcdef\""),
                  ERROR_INVALID, "the digest of the plan");
    begun = world_ok(world, "deployment_apply", with_confirmation(made));
    await(world, begun, "completed");
    assert_int_equal(fleet_world_existing(cloud), 3);
}

static void a_plan_for_a_target_that_needs_two_approvals_waits_for_a_second_user(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL, *first = NULL, *begun = NULL, *again = NULL;

    register_lab(world, ",\"options\":[\"needs_two=true\"]");
    made = plan(world, "");
    world->reply = YES;
    first = world_ok(world, "deployment_apply", with_plan(made, ""));
    assert_false(json_get_boolean(first, "started", true));
    again = world_ok(world, "deployment_apply", with_plan(made, ""));
    assert_false(json_get_boolean(again, "started", true));
    assert_int_equal(cloud->writes, 0);
    as(world, "bob", ROLE_OPERATOR, YES);
    world_do(world, "plan_approve", with_plan(made, ""));
    world->reply = NULL;
    begun = world_ok(world, "deployment_apply", with_plan(made, ""));
    assert_true(json_get_boolean(begun, "started", false));
    await(world, begun, "completed");
}

static void an_outdated_plan_is_refused_with_the_difference(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL;
    struct fleet_resource *other;

    register_lab(world, "");
    made = plan(world, "");
    world->reply = YES;
    cloud->recipe_revision = 2;
    world_refused(world, "deployment_apply", with_plan(made, ""), ERROR_CONFLICT, "the recipe");
    cloud->recipe_revision = 1;
    cloud->usd = 1.5;
    world_refused(world, "deployment_apply", with_plan(made, ""), ERROR_CONFLICT,
                  "usd_per_hour 1.0 -> 1.5");
    cloud->usd = 1;
    other = fleet_world_put(cloud, "https://test/service/gemma");
    other->exists = true;
    world_refused(world, "deployment_apply", with_plan(made, ""), ERROR_CONFLICT,
                  "is not opsbrain's");
    other->exists = false;
    register_lab(world, ",\"options\":[\"needs_two=true\"]");
    world->reply = YES;
    world_refused(world, "deployment_apply", with_plan(made, ""), ERROR_CONFLICT,
                  "revision 1 -> 2");
    assert_int_equal(cloud->writes, 0);
}

/* A server with the same name that was created after the plan has a different id. */
static void a_plan_applies_to_one_server_only(void **state)
{
    struct world *world = *state;
    json_auto_t *scaled = NULL;

    deploy(world);
    scaled = world_ok(world, "deployment_scale", "{\"deployment\":\"gemma\",\"replicas\":2}");
    fleet_world_find(cloud, "https://test/service/gemma")->created++;
    world->reply = YES;
    world_refused(world, "deployment_apply", with_plan(scaled, ""), ERROR_CONFLICT,
                  "uid \"1\" -> \"2\"");
}

/* ---- Changes before the user answers ---- */

static void raise_price(void)
{
    cloud->usd = 1.5;
}

static void create_other_server(void)
{
    fleet_world_put(cloud, "https://test/service/gemma")->exists = true;
}

/* Acts as if the database had been restored from a backup: opsbrain then changes nothing in the
 * clouds. */
static void restore_database(void)
{
    static const atomic_bool only_reads = true;

    frame.only_reads = &only_reads;
}

static void a_plan_that_can_no_longer_be_applied_is_refused_although_the_user_agreed(void **state)
{
    static const struct {
        void (*thinks)(void);
        enum error_kind kind;
        const char *says;
    } cases[] = {
        { raise_price, ERROR_CONFLICT, "usd_per_hour 1.0 -> 1.5" },
        { create_other_server, ERROR_CONFLICT, "is not opsbrain's" },
        { restore_database, ERROR_FORBIDDEN, "only reads the clouds" },
    };
    struct world *world = *state;

    register_lab(world, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *made = plan(world, "");

        world->reply = YES;
        world->thinks = cases[i].thinks;
        world_refused(world, "deployment_apply", with_plan(made, ""), cases[i].kind, cases[i].says);
        world->thinks = NULL;
        cloud->usd = 1;
        fleet_world_put(cloud, "https://test/service/gemma")->exists = false;
        frame.only_reads = NULL;
    }
    assert_int_equal(cloud->writes, 0);
}

static void replace_server(void)
{
    fleet_world_find(cloud, "https://test/service/gemma")->created++;
}

static void a_server_that_replaced_the_shown_one_before_the_answer_is_not_destroyed(void **state)
{
    struct world *world = *state;
    json_auto_t *gone = NULL;

    deploy(world);
    world->reply = "{\"action\":\"accept\",\"content\":{\"end\":true}}";
    world->thinks = replace_server;
    world_refused(world, "deployment_destroy", "{\"deployment\":\"gemma\"}", ERROR_CONFLICT,
                  "is no longer the server that was shown");
    world->thinks = NULL;
    assert_int_equal(fleet_world_existing(cloud), 3);
    gone = world_ok(world, "deployment_destroy", "{\"deployment\":\"gemma\"}");
    await(world, gone, "completed");
}

/* The key of the question depends on the server. If the server was replaced, a repeated call thus
 * asks a new question and cannot use the answer that was given for the first server. */
static void an_answer_applies_only_to_the_server_that_was_shown(void **state)
{
    static const struct {
        const char *tool, *arguments;
    } calls[] = {
        { "deployment_destroy", "{\"deployment\":\"gemma\"}" },
        { "deployment_adopt", "{\"deployment\":\"gemma\",\"target\":\"lab\"}" },
    };
    struct world *world = *state;
    char first[sizeof world->asked];

    deploy(world);
    as(world, "root", ROLE_ADMIN, NO);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        world_refused(world, calls[i].tool, calls[i].arguments, ERROR_CANCELLED, "did not consent");
        text_copy(first, sizeof first, world->asked);
        world_refused(world, calls[i].tool, calls[i].arguments, ERROR_CANCELLED, "did not consent");
        assert_string_equal(world->asked, first);
        replace_server();
        world_refused(world, calls[i].tool, calls[i].arguments, ERROR_CANCELLED, "did not consent");
        assert_string_not_equal(world->asked, first);
    }
}

/* Stores a copy of the plan as if it had been made a day ago. */
static void add_expired_plan(struct world *world, const json_t *made, char id[ID_SIZE])
{
    struct change change = { .actor = { "alice", "operator", "test/1", "req_1" },
                             .tool = "deployment_plan",
                             .arguments = "{}" };
    struct fleet_plan_row row, stored;

    assert_true(fleet_plan_find(world->services.store, json_get_text(made, "plan", ""), &row,
                                &world->error));
    row.id[0] = '\0';
    row.created_ms -= PLAN_GOOD_MS;
    row.good_until_ms -= PLAN_GOOD_MS;
    row.ends_ms -= PLAN_GOOD_MS;
    assert_true(fleet_plan_add(world->services.store, &row, &change, &stored, &world->error));
    text_copy(id, ID_SIZE, stored.id);
    fleet_plan_finish(&row);
    fleet_plan_finish(&stored);
}

static void an_expired_plan_is_neither_applied_nor_approved(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL, *shown = NULL;
    char id[ID_SIZE], arguments[80];

    register_lab(world, "");
    made = plan(world, "");
    add_expired_plan(world, made, id);
    snprintf(arguments, sizeof arguments, "{\"plan\":\"%s\"}", id);
    shown = world_ok(world, "plan_show", arguments);
    assert_string_equal(json_get_text(shown, "next_step", ""), "deployment_plan again");
    world->reply = YES;
    world_refused(world, "deployment_apply", arguments, ERROR_CONFLICT, "make a new plan");
    world_refused(world, "plan_approve", arguments, ERROR_CONFLICT, "24 hours");
    assert_int_equal(cloud->writes, 0);
}

/* ---- After the go-ahead ---- */

static void applying_a_plan_again_returns_its_job(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL, *first = NULL, *second = NULL;

    register_lab(world, "");
    made = plan(world, "");
    world->reply = YES;
    first = world_ok(world, "deployment_apply", with_plan(made, ""));
    as(world, "bob", ROLE_OPERATOR, YES);
    second = world_ok(world, "deployment_apply", with_plan(made, ""));
    assert_string_equal(json_get_text(first, "job", "1"), json_get_text(second, "job", "2"));
    assert_false(json_get_boolean(second, "started", true));
    await(world, first, "completed");
    assert_int_equal(fleet_world_find(cloud, "https://test/service/gemma")->created, 1);
}

static void a_plan_that_failed_says_why(void **state)
{
    struct world *world = *state;
    json_auto_t *made = NULL, *begun = NULL, *shown = NULL;

    register_lab(world, "");
    made = plan(world, "");
    cloud->fault = FAULT_REFUSE;
    cloud->faults_left = 1;
    snprintf(cloud->fault_at, sizeof cloud->fault_at, "/service/");
    world->reply = YES;
    begun = world_ok(world, "deployment_apply", with_plan(made, ""));
    await(world, begun, "failed");
    shown = world_ok(world, "plan_show", with_plan(made, ""));
    assert_string_equal(json_get_text(shown, "reason", ""), "service: not allowed");
    world_says(world, "state: failed: service: not allowed, planned by alice");
    world_says(world, "agreed: alice (person)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLEET_TEST(nothing_is_deployed_without_a_users_consent_where_agents_may_not_approve),
        FLEET_TEST(an_agent_applies_a_plan_within_the_cost_ceiling_by_giving_its_digest),
        FLEET_TEST(a_plan_for_a_target_that_needs_two_approvals_waits_for_a_second_user),
        FLEET_TEST(an_outdated_plan_is_refused_with_the_difference),
        FLEET_TEST(a_plan_applies_to_one_server_only),
        FLEET_TEST(a_plan_that_can_no_longer_be_applied_is_refused_although_the_user_agreed),
        FLEET_TEST(a_server_that_replaced_the_shown_one_before_the_answer_is_not_destroyed),
        FLEET_TEST(an_answer_applies_only_to_the_server_that_was_shown),
        FLEET_TEST(an_expired_plan_is_neither_applied_nor_approved),
        FLEET_TEST(applying_a_plan_again_returns_its_job),
        FLEET_TEST(a_plan_that_failed_says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
