/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a queued resource (a request for a TPU machine) from its creation to its destruction,
 * and of what happens when the platform fails. They run against a strict fake of Cloud TPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/tpu_world.h"

static json_t *node_of(struct google_world *world)
{
    return json_object_get(world->fake.objects, NODE);
}

static void test_all_supported_verbs_work_on_a_queued_resource(void **state)
{
    struct google_world *world = *state;
    size_t before = json_object_size(world->fake.objects);
    char key[SECRET_VALUE_SIZE];
    struct observed now;

    assert_true(life_plan(&world->life, VERB_CREATE));
    assert_int_equal(json_object_size(world->fake.objects), before);
    must_apply(world, VERB_CREATE);
    assert_int_equal(json_object_size(world->fake.objects),
                     before + 4); /* queued resource, node, firewall, secret */
    now = wait_for(world, "ready");
    assert_true(now.ours);
    assert_string_equal(now.name, "gemma");
    assert_string_equal(now.address, "http://203.0.113.9:8080");
    assert_string_equal(now.machine, "v6e-4");
    assert_string_equal(now.revision, "v2-alpha-tpuv6e");
    assert_string_equal(now.place, "us-east5-a");
    assert_string_equal(now.image_digest, "sha256:0123456789abcdef0123456789abcdef");
    assert_int_equal(now.ends_ms, INT64_C(1764003600000));
    assert_string_equal(now.at_end, "destroy");
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "canary-door");
    observed_finish(&now);
    must_apply(world, VERB_STOP);
    must_apply(world, VERB_STOP); /* a stop can be repeated, for example after a lost answer */
    check_state(world, "stopped", "");
    must_apply(world, VERB_START);
    must_apply(world, VERB_START);
    expect(world, "ready");
    world->life.desired.ends_ms += 3600000;
    must_apply(world, VERB_EXTEND);
    now = look(world);
    assert_int_equal(now.ends_ms, INT64_C(1764007200000));
    observed_finish(&now);
    must_apply(world, VERB_DESTROY);
    check_state(world, "absent", "");
    assert_int_equal(json_object_size(world->fake.objects), before);
    must_apply(world, VERB_DESTROY); /* nothing is left to do */
}

static void test_phases_the_last_log_line_and_the_nodes_health_are_shown(void **state)
{
    static const char *const phases[] = { "image", "weights", "compile" };
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    for (size_t i = 0; i < 3; i++) {
        struct observed now = look(world);

        assert_string_equal(now.state, "starting");
        assert_string_equal(now.phase, phases[i]);
        assert_string_equal(now.log_line, "Loading weights: 50%");
        observed_finish(&now);
    }
    check_state(world, "ready", "");
    json_object_set_new(node_of(world), "health", json_string("UNHEALTHY_MAINTENANCE"));
    json_object_set_new(node_of(world), "healthDescription", json_string("a chip is down"));
    check_state(world, "ready", "a chip is down");
    world->fake.server_fails = true;
    check_state(world, "failed", "Loading weights: 50%");
}

static void test_an_internal_machine_has_no_external_address(void **state)
{
    struct google_world *world = *state;
    struct observed now;

    text_copy(world->target.door, sizeof world->target.door, "internal");
    must_apply(world, VERB_CREATE);
    now = wait_for(world, "ready");
    assert_string_equal(now.address, "http://10.0.0.7:8080");
    assert_false(json_get_boolean(now.fields, "enableExternalIps", true));
    observed_finish(&now);
}

/* ---- The queue ---- */

static void check_phase(struct google_world *world, const char *state, const char *phase)
{
    struct observed now = look(world);

    assert_string_equal(now.state, state);
    assert_string_equal(now.phase, phase);
    observed_finish(&now);
}

static void test_flex_start_waits_for_capacity_and_the_platform_ends_it(void **state)
{
    struct google_world *world = *state;

    world->life.desired.kind = "flex_start";
    world->fake.gpus = 0; /* a flex-start request is accepted without quota */
    world->fake.lacks_capacity = true;
    assert_false(life_apply(&world->life, VERB_CREATE));
    assert_string_equal(world->life.step, "machine");
    assert_int_equal(world->life.state, STEP_WAIT);
    check_phase(world, "pending", "capacity");
    world->fake.lacks_capacity = false;
    expect(world, "ready");
    world->life.desired.ends_ms += 1000;
    check_refused(world, VERB_EXTEND, "flex-start lasts for a fixed time");
    world->life.desired.ends_ms -= 2000;
    must_apply(world, VERB_EXTEND); /* opsbrain can end the machine earlier */
    world->fake.now_ms += 3600000;
    check_state(world, "failed", "took its machine back");
    assert_null(node_of(world));
    check_refused(world, VERB_START, "only a request for one");
    must_apply(world, VERB_DESTROY);
    check_state(world, "absent", "");
}

static void test_a_request_that_expired_is_shown_as_failed(void **state)
{
    struct google_world *world = *state;

    world->fake.lacks_capacity = true;
    assert_false(life_apply(&world->life, VERB_CREATE));
    world->fake.now_ms += 3600000; /* the deployment's end, when the request expires */
    check_phase(world, "pending", "capacity");
    check_state(world, "failed", "not fulfilled before it expired");
    must_apply(world, VERB_DESTROY);
}

static void test_creation_fails_in_a_zone_without_spot_capacity(void **state)
{
    struct google_world *world = *state;

    world->life.desired.kind = "spot";
    world->fake.lacks_capacity = true;
    check_refused(world, VERB_CREATE, "There is no more capacity in the zone");
    assert_string_equal(world->life.step, "machine");
    assert_int_equal(world->life.state, STEP_FAILED);
}

static void test_a_machine_that_the_platform_took_back_is_shown_as_failed(void **state)
{
    struct google_world *world = *state;

    world->life.desired.kind = "spot";
    must_apply(world, VERB_CREATE);
    json_object_set_new(node_of(world), "state", json_string("PREEMPTED"));
    check_state(world, "failed", "");
    json_object_del(world->fake.objects, NODE);
    json_object_set_new(json_object_get(world->fake.objects, QUEUED), "state",
                        json_pack("{s:s}", "state", "SUSPENDING"));
    check_phase(world, "stopping", "");
    json_object_set_new(json_object_get(world->fake.objects, QUEUED), "state",
                        json_pack("{s:s}", "state", "SUSPENDED"));
    check_state(world, "failed", "costs nothing");
    must_apply(world, VERB_STOP); /* deletes the request */
    check_state(world, "absent", "");
}

static void test_a_stop_deletes_a_request_that_still_waits(void **state)
{
    struct google_world *world = *state;

    world->fake.lacks_capacity = true;
    assert_false(life_apply(&world->life, VERB_CREATE));
    must_apply(world, VERB_STOP);
    check_state(world, "absent", "");
}

static void test_unknown_states_are_not_shown_as_failed(void **state)
{
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    json_object_set_new(node_of(world), "state", json_string("A_NEW_WORD"));
    check_phase(world, "starting", "");
    json_object_set_new(json_object_get(world->fake.objects, QUEUED), "state",
                        json_pack("{s:s}", "state", "A_NEW_WORD"));
    check_phase(world, "pending", "capacity");
    json_object_set_new(json_object_get(world->fake.objects, QUEUED), "state", json_integer(5));
    check_phase(world, "pending", "capacity");
}

/* ---- Faults ---- */

static void test_a_lack_of_quota_is_found_in_an_answer_and_in_an_operation(void **state)
{
    struct google_world *world = *state;

    world->fake.gpus = 3;
    check_refused(world, VERB_CREATE, "TPUV6EPerProjectPerZoneForTPUAPI");
    assert_int_equal(world->life.state, STEP_FAILED); /* a retry would fail, too */
    assert_non_null(strstr(world->life.error.message, "another zone"));
    must_apply(world, VERB_DESTROY);
    world->fake.gpus = 8;
    world->life.desired.request_seed = "plan-2";
    text_copy(world->fake.operation_error, sizeof world->fake.operation_error,
              "the reservation is exhausted");
    check_refused(world, VERB_CREATE, "the reservation is exhausted");
    assert_string_equal(world->life.step, "queued-resource");
    assert_int_equal(world->life.state, STEP_FAILED);
}

static void test_faults_are_distinguished(void **state)
{
    struct google_world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    struct step *queued = find_step(steps, count, "queued-resource");

    check_faults(world, queued, QUEUED);
    assert_int_equal(life_do(&world->life, queued), STEP_DONE); /* the same requestId again */
    memcpy(strstr(queued->url, "requestId=") + 10, "00", 2);
    assert_int_equal(life_do(&world->life, queued), STEP_EXISTS);
    check_unknown_member(world, queued);
    step_list_free(steps, count);
}

static void test_the_fake_is_strict(void **state)
{
    static const struct {
        const char *kind, *member, *json, *part;
    } rows[] = {
        { "spot", "guaranteed", "{}", "oneof field 'tier' is already set" },
        { "spot", "runDuration", "{\"maxRunDuration\":\"60s\"}", "Unknown name \"runDuration\"" },
        { "flex_start", "provisioningModel", "\"FLEXIBLE\"",
          "Invalid value at 'provisioningModel'" },
        { "flex_start", "runDuration", "{\"maxRunDuration\":\"700000s\"}", "at most 7 days" },
        { "on_demand", "queueingPolicy", "{\"validUntilDuration\":\"1 hour\"}", "Duration" },
        { "on_demand", "reservationName", "\"x\"", "guaranteed tier" },
    };
    struct google_world *world = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct step *steps, *queued;
        size_t count = 0;

        world->life.desired.kind = rows[i].kind;
        steps = make_steps(world, VERB_CREATE, &count);
        queued = find_step(steps, count, "queued-resource");
        json_object_set_new(queued->body, rows[i].member,
                            json_loads(rows[i].json, JSON_DECODE_ANY, NULL));
        assert_int_equal(life_do(&world->life, queued), STEP_FAILED);
        if (strstr(world->life.error.message, rows[i].part) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", rows[i].part, world->life.error.message);
        step_list_free(steps, count);
    }
}

/* ---- Resources that opsbrain did not make ---- */

static void test_resources_that_are_not_ours_survive_and_are_not_taken_over(void **state)
{
    struct google_world *world = *state;

    check_others_survive(world, ZONE "/queuedResources", ZONE "/nodes",
                         "{\"name\":\"foreign\",\"state\":{}}");
    fake_server_add(world->fake.objects, QUEUED, "{\"name\":\"gemma\"}");
    check_refused(world, VERB_CREATE, "opsbrain did not make");
    json_object_del(world->fake.objects, QUEUED);
    fake_server_add(world->fake.objects, NODE, "{\"name\":\"gemma\",\"state\":\"READY\"}");
    check_refused(world, VERB_CREATE, "opsbrain did not make");
}

/* After a lost reply, and before an undo, opsbrain reads a resource's labels to see whether it is
 * ours. A queued resource has its labels on its node. A secret, for example, has them
 * itself. */
static void test_a_queued_resource_is_recognized_by_the_labels_of_its_node(void **state)
{
    struct google_world *world = *state;
    const json_t *labelled, *plain;
    json_auto_t *secret = json_pack("{s:{s:s}}", "labels", "opsbrain-instance", "inst-1");

    must_apply(world, VERB_CREATE);
    labelled = world->life.provider->labelled(json_object_get(world->fake.objects, QUEUED));
    assert_string_equal(json_get_text(json_object_get(labelled, "labels"), "opsbrain-instance", ""),
                        "inst-1");
    plain = world->life.provider->labelled(secret);
    assert_ptr_equal(plain, secret);
}

static void test_a_node_without_a_queued_resource_is_stopped_and_destroyed(void **state)
{
    struct google_world *world = *state;

    fake_server_add(world->fake.objects, NODE,
                    "{\"name\":\"projects/p/locations/us-east5-a/nodes/gemma\",\"state\":"
                    "\"READY\",\"acceleratorType\":\"v6e-1\",\"networkEndpoints\":[{\"ipAddress\":"
                    "\"10.0.0.8\"}],\"metadata\":{\"startup-script\":\"vllm serve --port 9000\"}}");
    check_state(world, "ready", "");
    must_apply(world, VERB_STOP);
    check_state(world, "stopped", "");
    must_apply(world, VERB_DESTROY);
    check_state(world, "absent", "");
}

/* A queued resource that opsbrain did not make can have a node with another name than its own. */
static void test_a_node_with_a_different_name_is_stopped_and_destroyed(void **state)
{
    struct google_world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    json_object_set(world->fake.objects, ZONE "/nodes/theirs", node_of(world));
    json_object_del(world->fake.objects, NODE);
    json_object_set_new(
        json_array_get(
            json_object_get(json_object_get(json_object_get(world->fake.objects, QUEUED), "tpu"),
                            "nodeSpec"),
            0),
        "nodeId", json_string("theirs"));
    json_object_set_new(json_object_get(world->fake.objects, ZONE "/nodes/theirs"), "name",
                        json_string("projects/p/locations/us-east5-a/nodes/theirs"));
    must_apply(world, VERB_STOP);
    now = look(world);
    assert_string_equal(now.name, "gemma");
    assert_string_equal(now.state, "stopped");
    observed_finish(&now);
    must_apply(world, VERB_DESTROY);
    assert_null(json_object_get(world->fake.objects, ZONE "/nodes/theirs"));
}

static void test_unsupported_verbs_are_refused_with_the_reason(void **state)
{
    struct google_world *world = *state;
    struct error error;

    assert_false(provider_check_verb(world->life.provider, VERB_SCALE, &error));
    assert_non_null(strstr(error.message, "one machine"));
    assert_false(provider_check_verb(world->life.provider, VERB_UPDATE, &error));
    assert_non_null(strstr(error.message, "beside it"));
}

/* After a lost answer, opsbrain repeats the request, and the platform refuses the repetition. Only
 * the node's state shows whether the first request was carried out. */
static void test_after_a_lost_answer_the_node_shows_whether_it_stopped_or_started(void **state)
{
    static const struct {
        enum provider_verb verb;
        const char *before;
    } rows[] = { { VERB_STOP, "READY" }, { VERB_START, "STOPPED" } };
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    for (size_t i = 0; i < 2; i++) {
        struct observed now = wait_for(world, i == 0 ? "ready" : "stopped");
        struct step *steps;
        size_t count;

        assert_true(world->life.provider->steps(rows[i].verb, &world->life.desired, &now, &steps,
                                                &count, &world->life.error));
        json_object_set_new(node_of(world), "state", json_string("REPAIRING"));
        assert_int_equal(life_do(&world->life, &steps[0]), STEP_FAILED);
        assert_non_null(strstr(world->life.error.message, "the TPU is REPAIRING"));
        json_object_set_new(node_of(world), "state", json_string(rows[i].before));
        world->fake.loses_reply = true;
        assert_int_equal(life_do(&world->life, &steps[0]), STEP_LOST);
        assert_int_equal(life_do(&world->life, &steps[0]), STEP_DONE);
        step_list_free(steps, count);
        observed_finish(&now);
    }
}

/* A failed destruction can be repeated. */
static void test_a_deletion_that_fails_deletes_nothing(void **state)
{
    struct google_world *world = *state;
    size_t before = json_object_size(world->fake.objects);

    must_apply(world, VERB_CREATE);
    text_copy(world->fake.operation_error, sizeof world->fake.operation_error, "an internal error");
    check_refused(world, VERB_DESTROY, "an internal error");
    world->fake.operation_error[0] = '\0';
    expect(world, "ready");
    must_apply(world, VERB_DESTROY);
    assert_int_equal(json_object_size(world->fake.objects), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_all_supported_verbs_work_on_a_queued_resource),
        LIVE(test_phases_the_last_log_line_and_the_nodes_health_are_shown),
        LIVE(test_an_internal_machine_has_no_external_address),
        LIVE(test_flex_start_waits_for_capacity_and_the_platform_ends_it),
        LIVE(test_a_request_that_expired_is_shown_as_failed),
        LIVE(test_creation_fails_in_a_zone_without_spot_capacity),
        LIVE(test_a_machine_that_the_platform_took_back_is_shown_as_failed),
        LIVE(test_a_stop_deletes_a_request_that_still_waits),
        LIVE(test_unknown_states_are_not_shown_as_failed),
        LIVE(test_a_lack_of_quota_is_found_in_an_answer_and_in_an_operation),
        LIVE(test_faults_are_distinguished),
        LIVE(test_the_fake_is_strict),
        LIVE(test_resources_that_are_not_ours_survive_and_are_not_taken_over),
        LIVE(test_a_queued_resource_is_recognized_by_the_labels_of_its_node),
        LIVE(test_a_node_without_a_queued_resource_is_stopped_and_destroyed),
        LIVE(test_a_node_with_a_different_name_is_stopped_and_destroyed),
        LIVE(test_unsupported_verbs_are_refused_with_the_reason),
        LIVE(test_after_a_lost_answer_the_node_shows_whether_it_stopped_or_started),
        LIVE(test_a_deletion_that_fails_deletes_nothing),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
