/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a Cloud Run service, on a strict fake of Google's platform: from creation to
 * destruction, faults of the platform, and changes that others make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/cloud_run_world.h"

static void test_a_service_goes_from_creation_to_destruction(void **state)
{
    struct google_world *world = *state;
    size_t before = json_object_size(world->fake.objects);
    char key[SECRET_VALUE_SIZE];
    struct observed now;

    assert_true(life_plan(&world->life, VERB_CREATE));
    assert_int_equal(json_object_size(world->fake.objects), before);
    must_apply(world, VERB_CREATE);
    assert_int_equal(json_object_size(world->fake.objects), before + 3); /* service, job, account */
    now = look(world);
    assert_true(now.ours);
    assert_string_equal(now.state, "ready");
    assert_string_equal(now.address, "https://gemma-abc.a.run.app");
    assert_string_equal(now.revision, "gemma-1");
    assert_string_equal(now.machine, "nvidia-l4");
    assert_string_equal(now.place, "us-east4");
    assert_int_equal(now.ends_ms, INT64_C(1764003600000));
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "id.eyJleHAiOjk5OTk5OTk5OTl9.token");
    observed_finish(&now);
    must_apply(world, VERB_STOP);
    check_state(world, "stopped", "");
    world->life.desired.replicas = 2;
    must_apply(world, VERB_START);
    now = look(world);
    assert_int_equal(now.replicas, 2);
    observed_finish(&now);
    world->life.desired.ends_ms += 3600000;
    must_apply(world, VERB_EXTEND);
    now = look(world);
    assert_int_equal(now.ends_ms, INT64_C(1764007200000));
    observed_finish(&now);
    must_apply(world, VERB_UPDATE);
    must_apply(world, VERB_DESTROY);
    check_state(world, "absent", "");
    assert_int_equal(json_object_size(world->fake.objects), before);
}

static void test_quota_errors_are_read_in_all_three_places(void **state)
{
    struct google_world *world = *state;

    world->fake.gpus = 0; /* the error is in the answer to the request */
    check_refused(world, VERB_CREATE, "requested: 1 allowed: 0");
    assert_int_equal(world->life.state, STEP_FAILED);
    world->fake.gpus = 3; /* the error is in the operation */
    snprintf(world->fake.operation_error, sizeof world->fake.operation_error,
             "Quota violated: CpuAllocPerProjectRegion requested: 60000 allowed: 20000");
    check_refused(world, VERB_CREATE, "CpuAllocPerProjectRegion (thousandths of a vCPU)");
    world->fake.operation_error[0] = '\0'; /* the error is in the service's condition */
    snprintf(world->fake.condition_error, sizeof world->fake.condition_error,
             "Quota exceeded for total allowable count of GPUs per project per region.");
    check_refused(world, VERB_CREATE, "total allowable count of GPUs");
    check_state(world, "failed", "HEALTH_CHECK_CONTAINER_ERROR");
}

static void test_faults_are_distinguished(void **state)
{
    struct google_world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    struct step *service = &steps[4];

    assert_string_equal(service->name, "service");
    check_faults(world, service, SERVICE);
    assert_int_equal(life_do(&world->life, service), STEP_EXISTS);
    check_unknown_member(world, service);
    step_list_free(steps, count);
}

static void test_a_service_that_others_changed_is_not_destroyed(void **state)
{
    struct google_world *world = *state;
    struct observed now;
    struct step *steps = NULL;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    now = look(world);
    must_apply(world, VERB_SCALE); /* as if by somebody else */
    assert_true(world->life.provider->steps(VERB_DESTROY, &world->life.desired, &now, &steps,
                                            &count, &world->life.error));
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_FAILED);
    assert_non_null(strstr(world->life.error.message, "etag"));
    step_list_free(steps, count);
    observed_finish(&now);
    assert_non_null(json_object_get(world->fake.objects, SERVICE));
}

static void test_resources_that_belong_to_others_survive_and_are_not_taken_over(void **state)
{
    static const char services[] = "/v2/projects/p/locations/us-east4/services";
    struct google_world *world = *state;

    check_others_survive(world, services, services, "{\"name\":\"x/services/foreign\"}");
    fake_server_add(world->fake.objects, SERVICE, "{\"name\":\"x\"}");
    check_refused(world, VERB_CREATE, "opsbrain did not make");
}

static void test_labels_that_others_wrote_are_kept(void **state)
{
    static const enum provider_verb verbs[] = { VERB_EXTEND, VERB_UPDATE };
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    json_object_set_new(json_object_get(json_object_get(world->fake.objects, SERVICE), "labels"),
                        "team", json_string("search"));
    for (size_t i = 0; i < 2; i++) {
        const json_t *labels;

        must_apply(world, verbs[i]);
        labels = json_object_get(json_object_get(world->fake.objects, SERVICE), "labels");
        assert_string_equal(json_get_text(labels, "team", ""), "search");
        assert_string_equal(json_get_text(labels, "opsbrain-ends", ""), "1764003600");
        assert_string_equal(json_get_text(labels, "opsbrain-at-end", ""), "destroy");
    }
}

static void test_labels_of_a_service_that_others_changed_are_not_replaced(void **state)
{
    struct google_world *world = *state;
    struct observed before;
    struct step *steps;
    size_t count;

    must_apply(world, VERB_CREATE);
    before = look(world);
    must_apply(world, VERB_SCALE); /* as if by somebody else */
    assert_true(world->life.provider->steps(VERB_EXTEND, &world->life.desired, &before, &steps,
                                            &count, &world->life.error));
    assert_int_equal(life_do(&world->life, &steps[count - 1]), STEP_FAILED);
    assert_non_null(strstr(world->life.error.message, "etag"));
    step_list_free(steps, count);
    observed_finish(&before);
}

static void test_removing_the_end_removes_its_labels(void **state)
{
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_EXTEND);
    for (size_t i = 0; i < 2; i++)
        assert_null(json_object_get(
            json_object_get(json_object_get(world->fake.objects, SERVICE), "labels"),
            i == 0 ? "opsbrain-ends" : "opsbrain-at-end"));
}

static void test_a_service_that_can_scale_to_zero_is_marked_as_sleeping(void **state)
{
    static const struct {
        const char *scaling, *template_scaling;
        bool sleeps;
    } rows[] = {
        { "{}", "{}", true },
        { "{\"minInstanceCount\":0}", "{\"minInstanceCount\":0}", true },
        { "{\"minInstanceCount\":1}", "{}", false },
        { "{}", "{\"minInstanceCount\":1}", false },
        { "{\"scalingMode\":\"MANUAL\",\"manualInstanceCount\":1}", "{}", false },
    };
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *service = json_object_get(world->fake.objects, SERVICE);
        struct observed now;

        json_object_set_new(service, "scaling", json_loads(rows[i].scaling, 0, NULL));
        json_object_set_new(json_object_get(service, "template"), "scaling",
                            json_loads(rows[i].template_scaling, 0, NULL));
        now = look(world);
        assert_int_equal(now.sleeps, rows[i].sleeps);
        observed_finish(&now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_a_service_goes_from_creation_to_destruction),
        LIVE(test_quota_errors_are_read_in_all_three_places),
        LIVE(test_faults_are_distinguished),
        LIVE(test_a_service_that_others_changed_is_not_destroyed),
        LIVE(test_resources_that_belong_to_others_survive_and_are_not_taken_over),
        LIVE(test_labels_that_others_wrote_are_kept),
        LIVE(test_labels_of_a_service_that_others_changed_are_not_replaced),
        LIVE(test_removing_the_end_removes_its_labels),
        LIVE(test_a_service_that_can_scale_to_zero_is_marked_as_sleeping),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
