/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the provider "kubernetes": resources in the namespace that belong to others, what a verb
 * changes and does not change, faults, and what a target must have. */
#include "tests/unit/support/kubernetes_world.h"

/* ---- Resources that belong to others, changes, and faults ---- */

static void test_resources_that_belong_to_others_survive(void **state)
{
    struct world *world = *state;
    size_t before;

    for (int i = 0; i < 50; i++) {
        char path[128];

        snprintf(path, sizeof path, "%sforeign-%d",
                 i % 2 == 0 ? DEPLOYMENTS : "/api/v1/namespaces/llm/services/", i);
        fake_server_add(world->fake.objects, path,
                        "{\"metadata\":{\"labels\":{\"opsbrain/instance\":\"inst-2\","
                        "\"opsbrain/deployment\":\"gemma\"}},\"spec\":{\"replicas\":1}}");
    }
    fake_server_add(world->fake.objects, "/api/v1/namespaces/llm/serviceaccounts/gemma-endless",
                    "{\"metadata\":{\"name\":\"gemma-endless\"}}");
    before = json_object_size(world->fake.objects);
    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    must_apply(world, VERB_START);
    must_apply(world, VERB_EXTEND);
    must_apply(world, VERB_DESTROY);
    assert_int_equal(json_object_size(world->fake.objects), before);
}

static void test_a_resource_with_the_same_name_that_belongs_to_others_is_not_changed(void **state)
{
    struct world *world = *state;

    fake_server_add(world->fake.objects, DEPLOYMENTS "gemma",
                    "{\"metadata\":{\"name\":\"gemma\"},\"spec\":{\"replicas\":1}}");
    assert_false(life_apply(&world->life, VERB_CREATE));
    assert_non_null(strstr(world->life.error.message, "opsbrain did not make"));
    /* if the resource was created only after the plan was made, the request conflicts with it */
    {
        size_t count = 0;
        struct step *steps = make_steps(world, VERB_CREATE, &count);

        assert_int_equal(life_do(&world->life, find_step(steps, count, "deployment")), STEP_EXISTS);
        assert_non_null(strstr(world->life.error.message, "kubectl-client-side-apply"));
        step_list_free(steps, count);
    }
}

static void test_a_start_writes_the_end_that_the_plan_shows(void **state)
{
    struct world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    world->life.desired.ends_ms += 3600500;
    must_apply(world, VERB_START);
    now = look(world);
    assert_string_equal(now.state, "ready");
    assert_int_equal(now.ends_ms, INT64_C(1764007200000));
    observed_finish(&now);
    {
        FREE_AUTO char *job = json_write(json_object_get(
            world->fake.objects, "/apis/batch/v1/namespaces/llm/cronjobs/gemma-end"));

        assert_non_null(strstr(job, "-ge 1764007200 ]"));
    }
    world->fake.changes = 0; /* a second start does not write the end again */
    must_apply(world, VERB_START);
    assert_int_equal(world->fake.changes, 1);
}

static void test_an_account_that_belongs_to_others_is_not_used(void **state)
{
    static const char path[] = "/api/v1/namespaces/llm/serviceaccounts/gemma-end";
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    const struct step *step = find_step(steps, count, "end-account");

    fake_server_add(world->fake.objects, path, "{\"metadata\":{\"name\":\"gemma-end\"}}");
    assert_int_equal(life_do(&world->life, step), STEP_EXISTS);
    assert_non_null(strstr(world->life.error.message, "already exists"));
    assert_null(json_object_get(
        json_object_get(json_object_get(world->fake.objects, path), "metadata"), "labels"));
    assert_string_equal(step->resource, path); /* opsbrain reads this after a conflict */
    assert_string_equal(step->undo_url, path);
    step_list_free(steps, count);
}

/* For a deployment without an end, opsbrain has made no CronJob or account. If objects with the
 * names of these exist, they belong to others, and must not be overwritten. */
static void test_a_first_end_is_created_without_force(void **state)
{
    static const enum provider_verb verbs[] = { VERB_EXTEND, VERB_UPDATE };
    struct world *world = *state;

    for (size_t i = 0; i < 4; i++) {
        struct observed now = { .exists = true,
                                .ends_ms = i % 2 == 0 ? 0 : INT64_C(1764000000000) };
        struct step *steps;
        size_t count;
        const struct step *end;

        assert_true(world->life.provider->steps(verbs[i / 2], &world->life.desired, &now, &steps,
                                                &count, &world->life.error));
        end = find_step(steps, count, "end");
        assert_int_equal(end->creates, now.ends_ms == 0);
        assert_int_equal(strstr(end->url, "force=true") == NULL, now.ends_ms == 0);
        step_list_free(steps, count);
    }
    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_CREATE);
    fake_server_add(world->fake.objects, "/apis/batch/v1/namespaces/llm/cronjobs/gemma-end",
                    "{\"metadata\":{\"name\":\"gemma-end\"}}");
    world->life.desired.ends_ms = INT64_C(1764003600000);
    assert_false(life_apply(&world->life, VERB_EXTEND));
    assert_string_equal(world->life.step, "end");
    assert_int_equal(world->life.state, STEP_EXISTS);
}

static void test_an_update_keeps_the_number_of_replicas_that_an_autoscaler_set(void **state)
{
    struct world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    assert_int_equal(
        json_object_set_new(
            json_object_get(json_object_get(world->fake.objects, DEPLOYMENTS "gemma"), "spec"),
            "replicas", json_integer(5)),
        0);
    must_apply(world, VERB_UPDATE);
    now = look(world);
    assert_int_equal(now.replicas, 5);
    observed_finish(&now);
}

static void
test_an_update_starts_a_stopped_deployment_with_the_recipes_number_of_replicas(void **state)
{
    struct world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    must_apply(world, VERB_UPDATE);
    now = look(world);
    assert_int_equal(now.replicas, 1);
    observed_finish(&now);
}

static void test_a_later_deployment_with_the_same_name_is_not_deleted(void **state)
{
    struct world *world = *state;
    struct step *steps;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    steps = make_steps(world, VERB_DESTROY, &count); /* these steps expect a different uid */
    assert_int_equal(life_do(&world->life, find_step(steps, count, "remove-deployment")),
                     STEP_FAILED);
    assert_non_null(json_object_get(world->fake.objects, DEPLOYMENTS "gemma"));
    step_list_free(steps, count);
}

static void test_faults_are_distinguished(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    struct step *step = (struct step *)(uintptr_t)find_step(steps, count, "deployment");

    world->fake.status = 429;
    assert_int_equal(life_do(&world->life, step), STEP_RETRY);
    world->fake.status = 503;
    assert_int_equal(life_do(&world->life, step), STEP_LOST);
    world->fake.loses_reply = true;
    assert_int_equal(life_do(&world->life, step), STEP_LOST);
    assert_non_null(json_object_get(world->fake.objects, DEPLOYMENTS "gemma"));
    assert_int_equal(life_do(&world->life, step), STEP_DONE); /* an apply can be repeated */
    json_object_set_new(json_object_get(step->body, "spec"), "gpus", json_integer(1));
    assert_int_equal(life_do(&world->life, step), STEP_FAILED); /* status 500, no "reason" */
    assert_non_null(strstr(world->life.error.message, ".spec.gpus: field not declared"));
    step_list_free(steps, count);
}

/* ---- Targets ---- */

static void test_lists_are_read_page_by_page(void **state)
{
    struct world *world = *state;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    fake_server_add(world->fake.objects, DEPLOYMENTS "web",
                    "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"template\":{\"spec\":"
                    "{\"containers\":[{\"image\":\"nginx\"}]}}}}");
    fake_server_add(world->fake.objects, DEPLOYMENTS "theirs",
                    "{\"metadata\":{\"name\":\"theirs\"},\"spec\":{\"template\":{\"spec\":"
                    "{\"containers\":[{\"image\":\"ollama/ollama\"}]}}}}");
    for (int pages = 0; pages < 2; pages++) {
        world->fake.has_pages = pages == 1;
        assert_true(world->life.provider->list(world->life.cloud, &world->target, &list, &count,
                                               warnings, &world->life.error));
        assert_int_equal(count, 2);
        assert_string_equal(list[0].name, "gemma");
        assert_string_equal(list[0].instance, "inst-1");
        assert_string_equal(list[1].name, "theirs");
        assert_string_equal(list[1].instance, "");
        observed_list_free(list, count);
    }
    assert_int_equal(json_array_size(warnings), 0);
}

/* Copies to `out` the name of the role that `command` creates, and returns `out`. */
static const char *role_in(const char *command, char out[128])
{
    assert_int_equal(sscanf(command, "kubectl create role %127s", out), 1);
    return out;
}

static void test_each_missing_right_is_named(void **state)
{
    struct world *world = *state;
    json_auto_t *findings = json_array(), *roles = json_object();
    const json_t *finding;
    size_t i, missing = 0;
    char role[128];

    snprintf(world->fake.denied, sizeof world->fake.denied, "cronjobs");
    assert_true(world->life.provider->check(world->life.cloud, &world->target, findings,
                                            &world->life.error));
    json_array_foreach(findings, i, finding) {
        bool is_cronjob = strstr(json_get_text(finding, "need", ""), "cronjobs") != NULL;

        assert_int_equal(json_get_boolean(finding, "ok", false), !is_cronjob);
        missing += is_cronjob;
        if (is_cronjob)
            assert_non_null(strstr(json_get_text(finding, "fix", ""), "--resource=cronjobs.batch"));
        if (is_cronjob)
            json_object_set_new(roles, role_in(json_get_text(finding, "fix", ""), role),
                                json_true());
    }
    assert_int_equal(missing, 4); /* one of them is "get", for reading after a lost answer */
    assert_int_equal(json_object_size(roles), 4);
}

static void test_targets_are_checked(void **state)
{
    struct world *world = *state;
    const struct provider *provider = world->life.provider;
    struct error error;

    assert_true(provider->check_target(&world->target, &error));
    text_copy(world->target.proxy, sizeof world->target.proxy, "http://proxy.lab:3128");
    assert_true(provider->check_target(&world->target, &error));
    snprintf(world->target.door, sizeof world->target.door, "proxy");
    assert_false(provider->check_target(&world->target, &error));
    assert_non_null(strstr(error.message, "does not use the target's \"proxy\" for that"));
    world->target.proxy[0] = '\0';
    assert_true(provider->check_target(&world->target, &error));
    snprintf(world->target.door, sizeof world->target.door, "open");
    assert_false(provider->check_target(&world->target, &error));
    world->target.door[0] = '\0';
    snprintf(world->target.namespace, sizeof world->target.namespace, "a/b");
    assert_false(provider->check_target(&world->target, &error));
    snprintf(world->target.namespace, sizeof world->target.namespace, "llm");
    world->target.credential.kind = CLOUD_NONE;
    assert_false(provider->check_target(&world->target, &error));
}

static void test_only_a_deployment_with_an_end_has_a_guard(void **state)
{
    struct world *world = *state;
    const struct provider *provider = world->life.provider;

    assert_null(provider->describe_guard(&(struct desired){ .ends_ms = 0 }));
    assert_non_null(provider->describe_guard(&world->life.desired));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_resources_that_belong_to_others_survive),
        LIVE(test_a_resource_with_the_same_name_that_belongs_to_others_is_not_changed),
        LIVE(test_a_start_writes_the_end_that_the_plan_shows),
        LIVE(test_an_account_that_belongs_to_others_is_not_used),
        LIVE(test_a_first_end_is_created_without_force),
        LIVE(test_an_update_keeps_the_number_of_replicas_that_an_autoscaler_set),
        LIVE(test_an_update_starts_a_stopped_deployment_with_the_recipes_number_of_replicas),
        LIVE(test_a_later_deployment_with_the_same_name_is_not_deleted),
        LIVE(test_faults_are_distinguished),
        LIVE(test_lists_are_read_page_by_page),
        LIVE(test_each_missing_right_is_named),
        LIVE(test_targets_are_checked),
        LIVE(test_only_a_deployment_with_an_end_has_a_guard),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
