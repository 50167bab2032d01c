/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a target on Compute Engine: the list of its machines, the checks of its permissions,
 * quotas and members, and the key of a machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/clouds/compute_world.h"

static void test_lists_are_read_page_by_page_and_warn_of_unreachable_places(void **state)
{
    struct google_world *world = *state;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    fake_server_add(world->fake.objects, ZONE "/instances/theirs",
                    "{\"name\":\"theirs\",\"id\":77,\"status\":\"RUNNING\",\"machineType\":"
                    "\"zones/us-central1-a/machineTypes/g2-standard-8\",\"networkInterfaces\":"
                    "[{\"networkIP\":\"10.0.0.9\"}],\"metadata\":{\"items\":[{\"key\":"
                    "\"startup-script\",\"value\":\"docker run vllm --port=9000\"}]}}");
    fake_server_add(world->fake.objects, ZONE "/instances/web",
                    "{\"name\":\"web\",\"status\":\"A_NEW_WORD\",\"machineType\":\"x/e2-small\"}");
    world->fake.has_pages = true;
    assert_true(world->life.provider->list(world->life.cloud, &world->target, &list, &count,
                                           warnings, &world->life.error));
    assert_int_equal(count, 2);
    assert_string_equal(list[0].deployment, "gemma");
    assert_string_equal(list[1].name, "theirs");
    assert_string_equal(list[1].address, "http://10.0.0.9:9000");
    assert_string_equal(list[1].state, "ready");
    assert_string_equal(list[1].uid, "77");
    assert_true(json_array_size(warnings) > 0);
    observed_list_free(list, count);
}

static void test_a_missing_permission_is_named_and_quotas_are_shown(void **state)
{
    struct google_world *world = *state;
    json_auto_t *findings = NULL;
    FREE_AUTO char *text = NULL;

    findings = check_permissions(world, "compute.instances.delete");
    text = json_write(findings);
    assert_non_null(strstr(text, "in us-central1: NVIDIA_L4_GPUS 8 (2 used), "
                                 "TPUS-PER-TPU-FAMILY-per-project-region CT6E 16\""));
    assert_non_null(strstr(text, "the service account server@p"));
}

static void test_the_quotas_of_a_region_are_shown_once(void **state)
{
    static const char *const zones[] = { "us-central1-a", "europe-west4-a", "us-central1-b" };
    struct google_world *world = *state;
    json_auto_t *findings = json_array();
    FREE_AUTO char *text = NULL;
    const char *first;

    world->target.place_count = 3;
    for (size_t i = 0; i < 3; i++)
        snprintf(world->target.places[i], sizeof world->target.places[i], "%s", zones[i]);
    assert_true(world->life.provider->check(world->life.cloud, &world->target, findings,
                                            &world->life.error));
    text = json_write(findings);
    first = strstr(text, "in us-central1:");
    assert_non_null(first);
    assert_null(strstr(first + 1, "in us-central1:"));
}

#define AT(member) offsetof(struct fleet_target, member)

static void test_the_members_of_a_target_are_checked(void **state)
{
    static const struct {
        size_t at;
        const char *value;
        const char *part; /* a part of the error message; "": the value is accepted */
    } rows[] = {
        { AT(project), "P", "\"project\" is \"P\"" },
        { AT(places), "us-central1",
          "\"regions\" has \"us-central1\": on Compute Engine each must be a" },
        { AT(source_ranges), "0.0.0.0/0", "no server is open to everybody" },
        { AT(source_ranges), "128.0.0.0/1", "\"source_ranges\" has \"128.0.0.0/1\"" },
        { AT(source_ranges), "::/0", "no server is open to everybody" },
        { AT(source_ranges), "10.0.0.1", "a range looks like" },
        { AT(source_ranges), "2001:db8::/32", "" },
        { AT(service_account), "", "needs a \"service_account\"" },
        { AT(service_account), "a'b@p", "\"service_account\" is \"a'b@p\"" },
        { AT(network), "../x", "\"network\" is \"../x\"" },
        { AT(network), "projects/host/global/networks/shared", "" },
        { AT(reservation), "a/b", "\"reservation\" is \"a/b\"" },
        { AT(reservation), "team-v6e", "" },
        { AT(door), "proxy", "\"door\" is \"proxy\": on Compute Engine it must be external" },
        { AT(door), "internal", "" },
    };
    struct google_world *world = *state;
    struct error error;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fleet_target target = world->target;
        bool good;

        text_copy((char *)&target + rows[i].at, FLEET_PLACE_SIZE, rows[i].value);
        good = world->life.provider->check_target(&target, &error);
        assert_int_equal(good, rows[i].part[0] == '\0');
        if (!good && strstr(error.message, rows[i].part) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", rows[i].part, error.message);
    }
    world->target.source_range_count = 0;
    assert_false(world->life.provider->check_target(&world->target, &error));
    assert_non_null(strstr(error.message, "needs \"source_ranges\""));
    world->target.place_count = 0;
    assert_false(world->life.provider->check_target(&world->target, &error));
    assert_non_null(strstr(error.message, "needs \"regions\""));
}

static void
test_an_invalid_key_is_refused_and_a_machine_that_opsbrain_did_not_make_has_none(void **state)
{
    struct google_world *world = *state;
    struct observed now;
    char key[SECRET_VALUE_SIZE];
    const char *path;
    json_t *secret;

    must_apply(world, VERB_CREATE);
    now = wait_for(world, "ready");
    json_object_foreach(world->fake.objects, path, secret)
        if (strstr(path, "/secrets/ob-") != NULL)
            json_object_set_new(secret, ".version",
                                json_pack("{s:{s:s}}", "payload", "data", "AAAA"));
    assert_false(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_non_null(strstr(world->life.error.message, "has no valid key"));
    assert_string_equal(key, "");
    /* a machine that opsbrain did not make lacks opsbrain's labels */
    json_object_del(json_object_get(world->fake.objects, INSTANCE), "labels");
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "");
    observed_finish(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_lists_are_read_page_by_page_and_warn_of_unreachable_places),
        LIVE(test_a_missing_permission_is_named_and_quotas_are_shown),
        LIVE(test_the_quotas_of_a_region_are_shown_once),
        LIVE(test_the_members_of_a_target_are_checked),
        LIVE(test_an_invalid_key_is_refused_and_a_machine_that_opsbrain_did_not_make_has_none),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
