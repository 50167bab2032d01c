/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a Compute Engine machine, on a strict fake of the platform: from creation to
 * destruction, faults of the platform, and resources that belong to others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/compute_world.h"

static void test_a_machine_is_created_stopped_started_and_destroyed(void **state)
{
    struct google_world *world = *state;
    size_t before = json_object_size(world->fake.objects);
    char key[SECRET_VALUE_SIZE];
    struct observed now;

    assert_true(life_plan(&world->life, VERB_CREATE));
    assert_int_equal(json_object_size(world->fake.objects), before);
    must_apply(world, VERB_CREATE);
    assert_int_equal(json_object_size(world->fake.objects),
                     before + 3); /* machine, firewall, secret */
    now = wait_for(world, "ready");
    assert_true(now.ours);
    assert_string_equal(now.address, "http://203.0.113.9:8080");
    assert_string_equal(now.machine, "g2-standard-4");
    assert_string_equal(now.place, "us-central1-a");
    assert_string_equal(now.image_digest, "sha256:0123456789abcdef0123456789abcdef");
    assert_int_equal(now.ends_ms, INT64_C(1764003600000));
    assert_string_equal(now.at_end, "destroy");
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "canary-door");
    observed_finish(&now);
    must_apply(world, VERB_STOP);
    check_state(world, "stopped", "");
    must_apply(world, VERB_START);
    expect(world, "ready");
    must_apply(world, VERB_DESTROY);
    check_state(world, "absent", "");
    assert_int_equal(json_object_size(world->fake.objects), before);
    must_apply(world, VERB_DESTROY); /* there is nothing left to do */
}

static void test_phases_and_the_last_log_line_are_shown(void **state)
{
    static const char *const phases[] = { "image", "weights", "compile" };
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    for (size_t i = 0; i < 3; i++) {
        struct observed now = look(world);

        assert_string_equal(now.state, "starting");
        assert_string_equal(now.phase, phases[i]);
        assert_string_equal(now.log_line, i == 0 ? "Loading weights: 50%" : "Capturing graphs");
        observed_finish(&now);
    }
    check_state(world, "ready", "");
    world->fake.server_fails = true;
    check_state(world, "failed", "Capturing graphs");
}

static void test_an_internal_machine_has_no_external_address(void **state)
{
    struct google_world *world = *state;
    struct observed now;

    text_copy(world->target.door, sizeof world->target.door, "internal");
    must_apply(world, VERB_CREATE);
    now = wait_for(world, "ready");
    assert_string_equal(now.address, "http://10.0.0.7:8080");
    observed_finish(&now);
    assert_null(json_object_get(
        json_array_get(
            json_object_get(json_object_get(world->fake.objects, INSTANCE), "networkInterfaces"),
            0),
        "accessConfigs"));
}

/* ---- Faults ---- */

static void test_a_creation_fails_in_a_zone_without_capacity(void **state)
{
    struct google_world *world = *state;

    world->fake.lacks_capacity = true;
    check_refused(world, VERB_CREATE, "does not have enough resources");
    assert_non_null(strstr(world->life.error.message, "another of the target's zones"));
    assert_string_equal(world->life.step, "instance");
    assert_null(json_object_get(world->fake.objects, INSTANCE));
}

static void test_quota_errors_are_read_from_an_answer_and_from_an_operation(void **state)
{
    struct google_world *world = *state;

    world->fake.gpus = 0;
    check_refused(world, VERB_CREATE, "Quota 'NVIDIA_L4_GPUS' exceeded");
    assert_int_equal(world->life.state, STEP_FAILED);
    must_apply(world, VERB_DESTROY);
    world->fake.gpus = 3;
    text_copy(world->fake.operation_code, sizeof world->fake.operation_code, "QUOTA_EXCEEDED");
    text_copy(world->fake.operation_error, sizeof world->fake.operation_error,
              "Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally.");
    check_refused(world, VERB_CREATE, "GPUS_ALL_REGIONS");
    assert_int_equal(world->life.state, STEP_FAILED);
}

static void test_faults_are_distinguished(void **state)
{
    struct google_world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    struct step *instance = find_step(steps, count, "instance");

    check_faults(world, instance, INSTANCE);
    /* the platform recognizes the requestId */
    assert_int_equal(life_do(&world->life, instance), STEP_DONE);
    strchr(instance->url, '?')[0] = '\0';
    assert_int_equal(life_do(&world->life, instance), STEP_EXISTS);
    check_unknown_member(world, instance);
    step_list_free(steps, count);
}

static void test_a_request_to_a_resource_that_is_not_ready_is_repeated(void **state)
{
    static const struct step step = { .name = "remove-firewall", .method = "DELETE" };
    struct google_world *world = *state;
    struct cloud_reply reply = { .status = 400, .verdict = CLOUD_REFUSED };
    char poll_url[1024];

    reply.body = json_loads("{\"error\":{\"code\":400,\"message\":\"The resource is not ready\","
                            "\"errors\":[{\"reason\":\"resourceNotReady\"}]}}",
                            0, NULL);
    assert_int_equal(world->life.provider->outcome(&step, &reply, poll_url, &world->life.error),
                     STEP_RETRY);
    cloud_reply_finish(&reply);
}

/* ---- Resources that belong to others ---- */

static void test_resources_that_belong_to_others_survive_and_are_not_taken_over(void **state)
{
    struct google_world *world = *state;

    check_others_survive(world, ZONE "/instances", "/compute/v1/projects/p/global/firewalls",
                         "{\"name\":\"foreign\",\"id\":\"5\"}");
    fake_server_add(world->fake.objects, INSTANCE, "{\"name\":\"gemma\"}");
    check_refused(world, VERB_CREATE, "opsbrain did not make");
}

/* Somebody might replace the machine after it was observed. */
static void test_another_machine_with_the_same_name_is_not_deleted(void **state)
{
    struct google_world *world = *state;
    struct observed now;
    struct step *steps;
    size_t count;

    must_apply(world, VERB_CREATE);
    now = look(world);
    json_object_set_new(json_object_get(world->fake.objects, INSTANCE), "id", json_string("42"));
    assert_true(world->life.provider->steps(VERB_DESTROY, &world->life.desired, &now, &steps,
                                            &count, &world->life.error));
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_DONE); /* ours is gone */
    assert_non_null(json_object_get(world->fake.objects, INSTANCE));
    step_list_free(steps, count);
    observed_finish(&now);
}

static void test_verbs_that_a_machine_lacks_are_refused_with_a_reason(void **state)
{
    struct google_world *world = *state;
    struct error error;

    assert_false(provider_check_verb(world->life.provider, VERB_SCALE, &error));
    assert_non_null(strstr(error.message, "one machine"));
    assert_false(provider_check_verb(world->life.provider, VERB_UPDATE, &error));
    assert_non_null(strstr(error.message, "beside it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_a_machine_is_created_stopped_started_and_destroyed),
        LIVE(test_phases_and_the_last_log_line_are_shown),
        LIVE(test_an_internal_machine_has_no_external_address),
        LIVE(test_a_creation_fails_in_a_zone_without_capacity),
        LIVE(test_quota_errors_are_read_from_an_answer_and_from_an_operation),
        LIVE(test_faults_are_distinguished),
        LIVE(test_a_request_to_a_resource_that_is_not_ready_is_repeated),
        LIVE(test_resources_that_belong_to_others_survive_and_are_not_taken_over),
        LIVE(test_another_machine_with_the_same_name_is_not_deleted),
        LIVE(test_verbs_that_a_machine_lacks_are_refused_with_a_reason),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
