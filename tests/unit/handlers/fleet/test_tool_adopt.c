/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of deployment_adopt and of deployment_discover, which lists the servers on a target and
 * says who manages them. */
#include "tests/unit/support/fleet_tools.h"

static struct fleet_resource *put_server(const char *name)
{
    struct fleet_resource *server;
    char url[128];

    snprintf(url, sizeof url, "https://test/service/%s", name);
    server = fleet_world_put(cloud, url);
    server->exists = true;
    server->replicas = 1;
    return server;
}

static void expect_whose(struct world *world, const char *target, const char *name,
                         const char *whose)
{
    json_auto_t *found = NULL;
    const json_t *server;
    char arguments[80];
    size_t i;

    snprintf(arguments, sizeof arguments, "{\"target\":\"%s\"}", target);
    found = world_ok(world, "deployment_discover", arguments);
    json_array_foreach(json_object_get(found, "servers"), i, server)
        if (strcmp(json_get_text(server, "name", ""), name) == 0) {
            assert_string_equal(json_get_text(server, "whose", ""), whose);
            return;
        }
    fail_msg("%s is not listed", name);
}

static void adopt(struct world *world, const char *name, const char *more)
{
    char arguments[200];

    as(world, "root", ROLE_ADMIN, NULL);
    snprintf(arguments, sizeof arguments,
             "{\"deployment\":\"%s\",\"target\":\"lab\",\"confirm\":\"%s\"%s}", name, name, more);
    world_do(world, "deployment_adopt", arguments);
}

static const json_t *managed_of(const json_t *shown)
{
    return json_object_get(shown, "managed");
}

static void servers_on_a_target_are_listed_and_adopted(void **state)
{
    struct world *world = *state;
    json_auto_t *shown = NULL, *stopped = NULL;

    register_lab(world, "");
    put_server("theirs");
    put_server("asleep")->replicas = 0;
    expect_whose(world, "lab", "theirs", "foreign");
    world_refused(world, "deployment_adopt",
                  "{\"deployment\":\"theirs\",\"target\":\"lab\",\"confirm\":\"theirs\"}",
                  ERROR_FORBIDDEN, "role admin");
    adopt(world, "theirs", "");
    expect_whose(world, "lab", "theirs", "managed");
    shown = world_ok(world, "deployment_show", "{\"deployment\":\"theirs\"}");
    assert_string_equal(json_get_text(managed_of(shown), "rights", ""), "watched");
    assert_string_equal(json_get_text(managed_of(shown), "actual", ""), "starting");
    assert_non_null(json_get_text(managed_of(shown), "seen_at", NULL));
    adopt(world, "asleep", ",\"may_end\":true");
    stopped = world_ok(world, "deployment_show", "{\"deployment\":\"asleep\"}");
    assert_string_equal(json_get_text(managed_of(stopped), "rights", ""), "adopted");
    assert_string_equal(json_get_text(managed_of(stopped), "state", ""), "stopped");
    assert_int_equal(cloud->writes, 0);
}

/* This opsbrain created the first two servers in `cases`, but its database has no rows for them, as
 * after the restore of an older backup. The second server has no label that says whether it is to
 * be stopped or destroyed at its planned end. The third server belongs to another opsbrain, so its
 * planned end is ignored. */
static void an_adopted_server_keeps_the_end_that_this_opsbrain_set(void **state)
{
    static const struct {
        const char *name, *instance, *at_end, *expected;
    } cases[] = {
        { "lost", NULL, "destroy", "; destroy at " },
        { "older", NULL, "", "; stop at " },
        { "theirs", "ins_another", "destroy", "; no end" },
    };
    struct world *world = *state;

    register_lab(world, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fleet_resource *resource = put_server(cases[i].name);
        json_auto_t *shown = NULL;
        char arguments[80], guard[64];

        text_copy(resource->instance, sizeof resource->instance,
                  cases[i].instance != NULL ? cases[i].instance : frame.instance);
        text_copy(resource->deployment, sizeof resource->deployment, cases[i].name);
        text_copy(resource->at_end, sizeof resource->at_end, cases[i].at_end);
        snprintf(guard, sizeof guard, "https://test/guard/%s", cases[i].name);
        fleet_world_put(cloud, guard)->ends_ms = clock_utc_ms() + 3600000;
        adopt(world, cases[i].name, ",\"may_end\":true");
        snprintf(arguments, sizeof arguments, "{\"deployment\":\"%s\"}", cases[i].name);
        shown = world_ok(world, "deployment_show", arguments);
        if (strstr(text_string(&world->text), cases[i].expected) == NULL)
            fail_msg("%s: %s", cases[i].name, text_string(&world->text));
    }
}

static void move_server(void)
{
    text_copy(cloud->address, sizeof cloud->address, "http://127.0.0.1:8");
}

static void replace_server(void)
{
    fleet_world_find(cloud, "https://test/service/theirs")->created++;
}

static void a_server_that_changed_before_the_user_answered_is_not_adopted(void **state)
{
    static const struct {
        void (*thinks)(void);
        const char *says;
    } cases[] = {
        { move_server,
          "is now at \"http://127.0.0.1:8\", but \"http://127.0.0.1:9/theirs\" was shown" },
        { replace_server, "is now a different server (1) than the one that was shown (0)" },
    };
    static const char theirs[] = "{\"deployment\":\"theirs\",\"target\":\"lab\"}";
    struct world *world = *state;

    register_lab(world, "");
    fleet_world_put(cloud, "https://test/service/theirs")->exists = true;
    as(world, "root", ROLE_ADMIN, "{\"action\":\"accept\",\"content\":{\"adopt\":true}}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world->thinks = cases[i].thinks;
        world_refused(world, "deployment_adopt", theirs, ERROR_CONFLICT, cases[i].says);
    }
    world->thinks = NULL;
    world_do(world, "deployment_adopt", theirs);
}

/* The target also has fifty servers that opsbrain does not manage. They are not changed either. */
static void a_watched_deployment_is_never_changed(void **state)
{
    static const struct {
        const char *tool, *more;
    } calls[] = {
        { "deployment_stop", ",\"confirm\":\"theirs\"" },
        { "deployment_destroy", ",\"confirm\":\"theirs\"" },
        { "deployment_start", "" },
        { "deployment_scale", ",\"replicas\":2" },
        { "deployment_extend", ",\"life_s\":7200" },
        { "deployment_update", ",\"recipe\":\"gemma-small\"" },
    };
    struct world *world = *state;
    char arguments[120], name[32];

    register_lab(world, ",\"options\":[\"allows_no_end=true\"]");
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "other-%d", i);
        put_server(name);
    }
    put_server("theirs");
    adopt(world, "theirs", "");
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        snprintf(arguments, sizeof arguments, "{\"deployment\":\"theirs\"%s}", calls[i].more);
        world_refused(world, calls[i].tool, arguments, ERROR_FORBIDDEN, "without the right");
    }
    expect_whose(world, "lab", "theirs", "managed");
    expect_whose(world, "lab", "other-49", "foreign");
    assert_int_equal(cloud->writes, 0);
    assert_int_equal(fleet_world_existing(cloud), 51);
}

/* A second target first shows the same server, then a different server with the same name and
 * labels. */
static void a_different_server_with_the_same_labels_is_not_managed(void **state)
{
    struct world *world = *state;

    deploy(world);
    as(world, "root", ROLE_ADMIN, NULL);
    world_do(world, "target_register",
             "{\"name\":\"attic\",\"provider\":\"kubernetes\",\"credential\":\"none\",\"project\":"
             "\"p\",\"regions\":[\"east\"]}");
    expect_whose(world, "attic", "gemma", "managed");
    text_copy(cloud->twins_on, sizeof cloud->twins_on, "attic");
    expect_whose(world, "attic", "gemma", "orphan");
    expect_whose(world, "lab", "gemma", "managed");
}

/* The server with the name of our deployment first has another opsbrain's label, then no label. */
static void a_server_with_the_same_name_but_without_our_label_is_not_managed(void **state)
{
    struct world *world = *state;

    deploy(world);
    expect_whose(world, "lab", "gemma", "managed");
    snprintf(fleet_world_find(cloud, "https://test/service/gemma")->instance, 64, "ins_another");
    expect_whose(world, "lab", "gemma", "other opsbrain");
    fleet_world_find(cloud, "https://test/service/gemma")->instance[0] = '\0';
    expect_whose(world, "lab", "gemma", "foreign");
}

/* The name becomes part of the paths of requests to the platform. */
static void only_a_deployment_with_a_plain_name_is_adopted(void **state)
{
    static const char *const names[] = {
        "a/scale", "a?b=c", "%2e%2e", "../secrets/x", "-a", "a b"
    };
    struct world *world = *state;
    char arguments[160];

    register_lab(world, "");
    as(world, "root", ROLE_ADMIN, NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(arguments, sizeof arguments,
                 "{\"deployment\":\"%s\",\"target\":\"lab\",\"confirm\":\"%s\"}", names[i],
                 names[i]);
        world_refused(world, "deployment_adopt", arguments, ERROR_INVALID,
                      "must begin with a letter");
    }
    assert_int_equal(cloud->events, 0);
}

static void deployment_remove_forgets_a_watched_deployment(void **state)
{
    struct world *world = *state;

    register_lab(world, "");
    put_server("theirs");
    adopt(world, "theirs", "");
    world_refused(world, "target_remove", "{\"target\":\"lab\",\"confirm\":\"lab\"}",
                  ERROR_CONFLICT, "the managed deployment theirs");
    world_do(world, "deployment_remove", "{\"deployment\":\"theirs\",\"confirm\":\"theirs\"}");
    expect_whose(world, "lab", "theirs", "foreign");
    assert_int_equal(cloud->writes, 0);
    world_do(world, "target_remove", "{\"target\":\"lab\",\"confirm\":\"lab\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FLEET_TEST(servers_on_a_target_are_listed_and_adopted),
        FLEET_TEST(an_adopted_server_keeps_the_end_that_this_opsbrain_set),
        FLEET_TEST(a_server_that_changed_before_the_user_answered_is_not_adopted),
        FLEET_TEST(a_watched_deployment_is_never_changed),
        FLEET_TEST(deployment_remove_forgets_a_watched_deployment),
        FLEET_TEST(a_different_server_with_the_same_labels_is_not_managed),
        FLEET_TEST(a_server_with_the_same_name_but_without_our_label_is_not_managed),
        FLEET_TEST(only_a_deployment_with_a_plain_name_is_adopted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
