/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduled end of a machine on Compute Engine, and how it is changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/compute_world.h"

static const char *scheduled(struct google_world *world, const char *member)
{
    return json_get_text(
        json_object_get(json_object_get(world->fake.objects, INSTANCE), "scheduling"), member, "");
}

static void test_the_platform_deletes_a_machine_at_its_end(void **state)
{
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    assert_non_null(
        strstr(world->life.provider->describe_guard(&world->life.desired), "itself deletes"));
    world->fake.now_ms = world->life.desired.ends_ms - 1;
    expect(world, "ready");
    world->fake.now_ms++;
    check_state(world, "absent", "");
}

static void test_the_platform_stops_a_machine_at_its_end(void **state)
{
    struct google_world *world = *state;

    world->life.desired.end_destroys = false;
    must_apply(world, VERB_CREATE);
    assert_non_null(
        strstr(world->life.provider->describe_guard(&world->life.desired), "itself stops"));
    world->fake.now_ms = world->life.desired.ends_ms;
    check_state(world, "stopped", "");
}

static void test_the_time_of_a_flex_start_machine_starts_only_when_it_gets_capacity(void **state)
{
    struct google_world *world = *state;
    json_t *instance;

    world->life.desired.kind = "flex_start";
    world->fake.lacks_capacity = true;
    assert_false(apply(world, VERB_CREATE));
    assert_int_equal(world->life.state, STEP_WAIT);
    check_state(world, "pending", "");
    world->fake.lacks_capacity = false;
    expect(world, "ready");
    instance = json_object_get(world->fake.objects, INSTANCE);
    assert_string_equal(
        json_get_text(json_object_get(json_object_get(instance, "scheduling"), "maxRunDuration"),
                      "seconds", ""),
        "3600");
    assert_string_equal(json_get_text(json_object_get(json_object_get(instance, "params"),
                                                      "requestValidForDuration"),
                                      "seconds", ""),
                        "7200");
    world->fake.now_ms += 3600000;
    check_state(world, "absent", "");
}

static void test_ends_that_the_platform_cannot_carry_out_are_refused(void **state)
{
    struct google_world *world = *state;

    world->life.desired.kind = "flex_start";
    world->life.desired.ends_ms = 0;
    check_refused(world, VERB_CREATE, "at most 7 days away: give \"life_s\"");
    world->life.desired.ends_ms = world->life.desired.made_ms + INT64_C(8) * 86400000;
    check_refused(world, VERB_CREATE,
                  "at most 7 days (604800 s), but this one would live 691200 s");
    world->life.desired.ends_ms = world->life.desired.made_ms + 3600000;
    world->life.desired.end_destroys = false;
    check_refused(world, VERB_CREATE, "\"at_end\" is stop, but a flex-start machine is deleted");
    world->life.desired.kind = "on_demand";
    world->life.desired.ends_ms = world->life.desired.made_ms + INT64_C(121) * 86400000;
    check_refused(world, VERB_CREATE,
                  "at most 120 days (10368000 s), but this one would live 10454400");
}

/* Labels that others wrote are kept, and so is the kind of purchase (spot). */
static void test_an_extension_moves_the_end_of_a_running_machine(void **state)
{
    struct google_world *world = *state;
    struct observed now;

    world->life.desired.kind = "spot";
    must_apply(world, VERB_CREATE);
    json_object_set_new(json_object_get(json_object_get(world->fake.objects, INSTANCE), "labels"),
                        "team", json_string("search"));
    world->life.desired.ends_ms += 3600000;
    world->life.desired.kind = "";
    must_apply(world, VERB_EXTEND);
    assert_string_equal(scheduled(world, "terminationTime"), "2025-11-24T18:00:00Z");
    assert_string_equal(scheduled(world, "provisioningModel"), "SPOT");
    now = wait_for(world, "ready");
    assert_int_equal(now.ends_ms, world->life.desired.ends_ms);
    assert_string_equal(json_get_text(now.labels, "team", ""), "search");
    assert_string_equal(json_get_text(now.labels, "opsbrain-port", ""), "8080");
    observed_finish(&now);
    world->fake.now_ms = world->life.desired.ends_ms;
    check_state(world, "absent", "");
}

static void test_a_stopped_machine_is_extended_without_a_start(void **state)
{
    struct google_world *world = *state;

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    world->life.desired.ends_ms += 3600000;
    must_apply(world, VERB_EXTEND);
    check_state(world, "stopped", "");
    assert_string_equal(scheduled(world, "terminationTime"), "2025-11-24T18:00:00Z");
    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_EXTEND);
    assert_string_equal(scheduled(world, "terminationTime"), "");
    assert_string_equal(scheduled(world, "instanceTerminationAction"), "");
}

static void test_a_start_writes_the_end_that_the_plan_shows(void **state)
{
    struct google_world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    world->life.desired.ends_ms += 3600000;
    must_apply(world, VERB_START);
    now = wait_for(world, "ready");
    assert_int_equal(now.ends_ms, world->life.desired.ends_ms);
    observed_finish(&now);
    assert_string_equal(scheduled(world, "terminationTime"), "2025-11-24T18:00:00Z");
}

static void test_labels_that_others_changed_are_not_replaced(void **state)
{
    struct google_world *world = *state;
    struct observed now;
    struct step *steps;
    size_t count;

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    now = look(world);
    json_object_set_new(json_object_get(world->fake.objects, INSTANCE), "labelFingerprint",
                        json_string("another"));
    assert_true(world->life.provider->steps(VERB_EXTEND, &world->life.desired, &now, &steps, &count,
                                            &world->life.error));
    assert_int_equal(life_do(&world->life, find_step(steps, count, "label")), STEP_FAILED);
    assert_non_null(strstr(world->life.error.message, "fingerprint"));
    step_list_free(steps, count);
    observed_finish(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_the_platform_deletes_a_machine_at_its_end),
        LIVE(test_the_platform_stops_a_machine_at_its_end),
        LIVE(test_the_time_of_a_flex_start_machine_starts_only_when_it_gets_capacity),
        LIVE(test_ends_that_the_platform_cannot_carry_out_are_refused),
        LIVE(test_an_extension_moves_the_end_of_a_running_machine),
        LIVE(test_a_stopped_machine_is_extended_without_a_start),
        LIVE(test_a_start_writes_the_end_that_the_plan_shows),
        LIVE(test_labels_that_others_changed_are_not_replaced),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
