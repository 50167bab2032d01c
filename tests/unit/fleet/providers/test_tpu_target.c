/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a target on Cloud TPU (the list of its machines, and the checks of its permissions,
 * quotas and places), and of a machine's API key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/tpu_world.h"

static void test_lists_are_read_page_by_page_and_warn_about_unreachable_places(void **state)
{
    struct google_world *world = *state;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    fake_server_add(world->fake.objects, ZONE "/nodes/theirs",
                    "{\"name\":\"projects/p/locations/us-east5-a/nodes/theirs\",\"state\":"
                    "\"READY\",\"networkEndpoints\":[{\"ipAddress\":\"10.0.0.9\"}],\"metadata\":"
                    "{\"startup-script\":\"docker run vllm --port=9000\"}}");
    fake_server_add(world->fake.objects, ZONE "/queuedResources/waits",
                    "{\"name\":\"projects/p/locations/us-east5-a/queuedResources/waits\","
                    "\"state\":{\"state\":\"WAITING_FOR_RESOURCES\"},\"tpu\":{\"nodeSpec\":"
                    "[{\"nodeId\":\"later\",\"node\":{\"acceleratorType\":\"v6e-8\"}}]}}");
    world->fake.has_pages = true;
    assert_true(world->life.provider->list(world->life.cloud, &world->target, &list, &count,
                                           warnings, &world->life.error));
    assert_int_equal(count, 3);
    assert_string_equal(list[0].deployment, "gemma");
    assert_string_equal(list[0].address, "http://203.0.113.9:8080"); /* the node's address */
    assert_string_equal(list[1].name, "waits");
    assert_string_equal(list[1].state, "pending");
    assert_string_equal(list[1].machine, "v6e-8");
    assert_string_equal(list[2].name, "theirs");
    assert_string_equal(list[2].address, "http://10.0.0.9:9000");
    assert_string_equal(list[2].state, "ready");
    assert_non_null(strstr(list[2].resource, "/nodes/theirs"));
    assert_true(json_array_size(warnings) > 0);
    observed_list_free(list, count);
}

#define QUOTAS "/v1/projects/p/locations/global/services/tpu.googleapis.com/quotaInfos/"

static void test_a_missing_permission_is_named_and_quotas_are_shown(void **state)
{
    struct google_world *world = *state;
    json_auto_t *findings = NULL;
    FREE_AUTO char *text = NULL;

    fake_server_add(world->fake.objects,
                    "/v1/projects/p/serviceAccounts/server@p.iam.gserviceaccount.com", "{}");
    fake_server_add(world->fake.objects, QUOTAS "TPUV6EPerProjectPerZoneForTPUAPI",
                    "{\"dimensionsInfos\":[{\"dimensions\":{\"zone\":\"us-east5-b\"},\"details\":"
                    "{\"value\":\"4\"}},{\"details\":{\"value\":\"-1\"},\"applicableLocations\":"
                    "[\"us-east5-a\"]}]}");
    fake_server_add(world->fake.objects, QUOTAS "TPUV6EPreemptiblePerProjectPerZoneForTPUAPI",
                    "{\"dimensionsInfos\":[{\"dimensions\":{\"zone\":\"us-east5-a\"},\"details\":"
                    "{\"value\":\"64\"}},{\"details\":{\"value\":\"0\"},\"applicableLocations\":"
                    "[\"us-east5-a\"]}]}");
    findings = check_permissions(world, "tpu.nodes.delete");
    text = json_write(findings);
    assert_non_null(strstr(text,
                           "an accelerator quota in us-east5-a: TPUV6EPerProjectPerZoneForTPUAPI "
                           "without a limit, TPUV6EPreemptiblePerProjectPerZoneForTPUAPI "
                           "64\""));
    assert_non_null(strstr(text, "the network global/networks/default"));
    assert_non_null(strstr(text, "the service account server@p.iam.gserviceaccount.com"));
}

static void test_a_zone_without_quota_is_reported(void **state)
{
    struct google_world *world = *state;
    json_auto_t *findings = json_array();
    FREE_AUTO char *text = NULL;

    text_copy(world->target.places[0], FLEET_PLACE_SIZE, "us-west9-c");
    assert_true(world->life.provider->check(world->life.cloud, &world->target, findings,
                                            &world->life.error));
    text = json_write(findings);
    assert_non_null(strstr(text, "\"need\":\"an accelerator quota in us-west9-c\",\"ok\":false"));
}

/* The other members of a target are the same as on Compute Engine. test_compute_target.c tests
 * them. */
static void test_the_places_of_a_target_must_be_zones(void **state)
{
    struct google_world *world = *state;
    struct error error;

    assert_true(world->life.provider->check_target(&world->target, &error));
    text_copy(world->target.places[0], FLEET_PLACE_SIZE, "us-east5");
    assert_false(world->life.provider->check_target(&world->target, &error));
    assert_non_null(strstr(error.message, "on Cloud TPU each must be a zone"));
}

/* The name of the key's secret contains a digest of the node's place and name, so a label cannot
 * point to the secret of a different machine. */
static void test_the_key_is_read_from_the_secret_of_the_machine(void **state)
{
    static const char bare[] = "{\"state\":\"READY\",\"labels\":{}}";
    struct google_world *world = *state;
    struct observed now, door = { 0 };
    char key[SECRET_VALUE_SIZE];

    must_apply(world, VERB_CREATE);
    now = wait_for(world, "ready");
    text_copy(door.name, sizeof door.name, now.name);
    text_copy(door.place, sizeof door.place, now.place);
    text_copy(door.resource, sizeof door.resource, now.resource);
    observed_finish(&now);
    assert_true(world->life.provider->key(world->life.cloud, &door, key, &world->life.error));
    assert_string_equal(key, "canary-door");
    text_copy(door.name, sizeof door.name, "other");
    assert_false(world->life.provider->key(world->life.cloud, &door, key, &world->life.error));
    fake_server_add(world->fake.objects, ZONE "/nodes/theirs", bare);
    text_copy(door.resource, sizeof door.resource,
              "https://tpu.googleapis.com" ZONE "/nodes/theirs");
    assert_true(world->life.provider->key(world->life.cloud, &door, key, &world->life.error));
    assert_string_equal(key, "");
    text_copy(door.resource, sizeof door.resource, "https://run.googleapis.com/v2/projects/p");
    assert_false(world->life.provider->key(world->life.cloud, &door, key, &world->life.error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_lists_are_read_page_by_page_and_warn_about_unreachable_places),
        LIVE(test_a_missing_permission_is_named_and_quotas_are_shown),
        LIVE(test_a_zone_without_quota_is_reported),
        LIVE(test_the_places_of_a_target_must_be_zones),
        LIVE(test_the_key_is_read_from_the_secret_of_the_machine),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
