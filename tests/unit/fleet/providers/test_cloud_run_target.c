/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a target on Cloud Run: the list of its services, and the checks of its permissions,
 * resources and quotas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/cloud_run_world.h"

static void test_lists_are_read_page_by_page_and_warn_of_unreachable_places(void **state)
{
    struct google_world *world = *state;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    fake_server_add(world->fake.objects, "/v2/projects/p/locations/us-east4/services/theirs",
                    "{\"name\":\"projects/p/locations/us-east4/services/theirs\",\"generation\":7,"
                    "\"ingress\":\"A_NEW_WORD\",\"template\":{\"containers\":[{\"resources\":"
                    "{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}");
    world->fake.has_pages = true;
    assert_true(world->life.provider->list(world->life.cloud, &world->target, &list, &count,
                                           warnings, &world->life.error));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].deployment, "gemma");
    assert_string_equal(list[1].name, "theirs");
    assert_string_equal(list[1].generation, "7");
    assert_true(json_array_size(warnings) > 0);
    observed_list_free(list, count);
}

static void test_a_page_token_that_is_too_long_ends_the_list_with_a_warning(void **state)
{
    struct google_world *world = *state;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    char token[600];
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    memset(token, 'a', sizeof token - 1);
    token[sizeof token - 1] = '\0';
    world->fake.page_token = token;
    assert_true(world->life.provider->list(world->life.cloud, &world->target, &list, &count,
                                           warnings, &world->life.error));
    assert_int_equal(count, 1);
    assert_int_equal(json_array_size(warnings), 1);
    observed_list_free(list, count);
}

static void test_a_missing_permission_is_named(void **state)
{
    json_decref(check_permissions(*state, "run.services.delete"));
}

static void test_the_resources_and_quotas_of_a_target_are_checked(void **state)
{
    struct google_world *world = *state;
    json_auto_t *findings = json_array();
    FREE_AUTO char *text = NULL;

    json_object_del(world->fake.objects, "/storage/v1/b/weights");
    assert_true(world->life.provider->check(world->life.cloud, &world->target, findings,
                                            &world->life.error));
    text = json_write(findings);
    assert_non_null(strstr(text, "{\"need\":\"the bucket weights\",\"ok\":false,"));
    assert_non_null(strstr(text, "\"the service account server@p.iam.gserviceaccount.com\",\"ok\":"
                                 "true"));
    assert_non_null(strstr(text, "in us-east4: NvidiaRtxPro6000GpuAllocNoZonalRedundancyPerProject"
                                 "Region 3\",\"ok\":true"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_lists_are_read_page_by_page_and_warn_of_unreachable_places),
        LIVE(test_a_page_token_that_is_too_long_ends_the_list_with_a_warning),
        LIVE(test_a_missing_permission_is_named),
        LIVE(test_the_resources_and_quotas_of_a_target_are_checked),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
