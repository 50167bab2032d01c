/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the scheduled end of a Cloud Run service. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/cloud_run_world.h"

static void check_schedule(struct google_world *world, const char *schedule)
{
    const char *path;
    const json_t *object;
    int jobs = 0;

    json_object_foreach(world->fake.objects, path, object)
        if (strstr(path, "/jobs/") != NULL) {
            assert_string_equal(json_get_text(object, "schedule", ""), schedule);
            jobs++;
        }
    assert_int_equal(jobs, 1);
}

static void test_the_end_is_a_request_to_delete_this_service(void **state)
{
    struct google_world *world = *state;
    const char *path;
    json_t *object;
    int jobs = 0;

    must_apply(world, VERB_CREATE);
    json_object_foreach(world->fake.objects, path, object) {
        const json_t *request = json_object_get(object, "httpTarget");

        if (strstr(path, "/jobs/") == NULL)
            continue;
        jobs++;
        assert_string_equal(json_get_text(request, "httpMethod", ""), "DELETE");
        assert_string_equal(json_get_text(request, "uri", ""),
                            "https://run.googleapis.com/v2/projects/p/locations/us-east4/services/"
                            "gemma");
        assert_string_equal(json_get_text(object, "schedule", ""), "0 17 24 11 *");
        assert_null(
            strstr(json_get_text(json_object_get(request, "oauthToken"), "serviceAccountEmail", ""),
                   "server@"));
    }
    assert_int_equal(jobs, 1);
}

/* The account and the job that carry out the end have no labels. After a lost answer, opsbrain
 * recognizes them by their descriptions. */
static void test_the_resources_of_the_end_are_marked_and_can_be_undone(void **state)
{
    struct google_world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    const char *path;
    const json_t *object;
    int marked = 0;

    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].name, "end-account") == 0 || strcmp(steps[i].name, "end") == 0) {
            assert_true(steps[i].creates);
            assert_string_equal(steps[i].undo_url, steps[i].resource);
            assert_int_equal(life_do(&world->life, &steps[i]), STEP_DONE);
        }
    step_list_free(steps, count);
    json_object_foreach(world->fake.objects, path, object)
        marked += strcmp(json_get_text(object, "description", ""), "opsbrain inst-1 gemma") == 0;
    assert_int_equal(marked, 2);
}

/* No step of an extension counts as a creation. Undoing a failed extension therefore does not
 * delete the job. */
static void test_an_extension_changes_the_schedule_of_the_job(void **state)
{
    struct google_world *world = *state;
    size_t count = 0;
    struct step *steps;

    must_apply(world, VERB_CREATE);
    world->life.desired.ends_ms += 3600000;
    steps = make_steps(world, VERB_EXTEND, &count);
    for (size_t i = 0; i < count; i++)
        assert_false(steps[i].creates);
    assert_string_equal(steps[0].method, "PATCH");
    world->fake.loses_reply = true;
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_LOST);
    assert_int_equal(life_do(&world->life, &steps[0]), STEP_DONE); /* the request can be repeated */
    step_list_free(steps, count);
    check_schedule(world, "0 18 24 11 *");
}

/* Setting rights on a service replaces all the rights that others have on it, so opsbrain sets them
 * only on a new service. */
static void test_a_service_created_without_an_end_cannot_get_one(void **state)
{
    struct google_world *world = *state;

    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_CREATE);
    world->life.desired.ends_ms = INT64_C(1764003600000);
    check_refused(world, VERB_EXTEND, "would replace the rights that others have");
    assert_int_equal(world->life.error.kind, ERROR_UNSUPPORTED);
    check_refused(world, VERB_START, "would replace the rights that others have");
    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_EXTEND);
    must_apply(world, VERB_START);
}

static void test_a_start_and_an_update_write_the_end_that_the_plan_shows(void **state)
{
    struct google_world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    world->life.desired.ends_ms += 3600000;
    check_names(world, VERB_START, "end label scale ready");
    check_names(world, VERB_UPDATE, "secret-hf-token end service ready");
    must_apply(world, VERB_START);
    now = look(world);
    assert_int_equal(now.ends_ms, world->life.desired.ends_ms);
    observed_finish(&now);
    world->life.desired.ends_ms += 3600000;
    must_apply(world, VERB_UPDATE);
    now = look(world);
    assert_int_equal(now.ends_ms, world->life.desired.ends_ms);
    observed_finish(&now);
    check_schedule(world, "0 19 24 11 *");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_the_end_is_a_request_to_delete_this_service),
        LIVE(test_the_resources_of_the_end_are_marked_and_can_be_undone),
        LIVE(test_an_extension_changes_the_schedule_of_the_job),
        LIVE(test_a_service_created_without_an_end_cannot_get_one),
        LIVE(test_a_start_and_an_update_write_the_end_that_the_plan_shows),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
