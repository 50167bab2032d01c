/* SPDX-License-Identifier: Apache-2.0 */
/* What opsbrain knows about the platform that a deployment's server runs on, such as its region and
 * zone. The fingerprint of each measurement contains these facts. */
#include "fleet/managed/managed_document.h"
#include "fleet/managed/managed_platform.h"
#include "tests/unit/support/fleet_world.h"
#include "tests/unit/support/test_database.h"

struct rig {
    char folder[FOLDER_SIZE];
    struct fleet_world *world;
    struct store *store;
    struct fleet_frame frame;
    struct error error;
};

#define assert_done(rig, call)                                                                     \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (rig)->error.message);                                                  \
    } while (0)

static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct fleet_target_row target = {
        .name = "lab",
        .provider = "kubernetes",
        .place = "{\"project\":\"p\"}",
        .regions = "[\"us-central1-a\",\"us-east-1a\",\"europe-west4\",\"rack\"]",
        .source_ranges = "[]",
        .recipes = "[]",
        .credential = "none",
    };
    bool changed;

    folder_create(rig->folder);
    rig->world = fleet_world_create();
    assert_done(rig,
                store_open(rig->folder, test_database(rig->folder), 2, &rig->store, &rig->error));
    rig->frame = fleet_world_frame(rig->world, rig->store);
    assert_done(rig,
                fleet_target_put(rig->store, &target, 1, NULL, &target, &changed, &rig->error));
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;

    store_close(rig->store);
    munmap(rig->world, sizeof *rig->world);
    folder_remove(rig->folder);
    free(rig);
    return 0;
}

static void manage(struct rig *rig, const char *name, const char *place)
{
    json_auto_t *wish_json = json_pack("{s:s}", "place", place);
    FREE_AUTO char *wish = json_write(wish_json);
    struct observed at = { 0 };
    char url[128];
    struct fleet_resource *resource;

    snprintf(url, sizeof url, "https://test/service/%s", name);
    resource = fleet_world_put(rig->world, url);
    resource->exists = true;
    resource->replicas = 2;
    snprintf(at.address, sizeof at.address, "http://127.0.0.1:9/%s", name);
    json_auto_t *door_json = managed_document_door(&at);
    FREE_AUTO char *door = json_write(door_json);
    struct fleet_managed_row row = {
        .target = "lab", .rights = "watched", .wish = wish, .door = door
    };
    text_copy(row.deployment, sizeof row.deployment, name);
    assert_done(rig, fleet_managed_adopt(rig->store, &row, 1, NULL, &rig->error));
}

static json_t *platform_of(const struct rig *rig, const char *name, const char *url)
{
    struct deployment deployment = { 0 };

    snprintf(deployment.name, sizeof deployment.name, "%s", name);
    snprintf(deployment.url, sizeof deployment.url, "%s", url);
    return managed_platform(&rig->frame, &deployment);
}

static void the_region_and_any_zone_are_found_in_the_name_of_a_place(void **state)
{
    static const struct {
        const char *name, *place, *region, *zone;
    } cases[] = {
        { "a", "us-central1-a", "us-central1", "us-central1-a" },
        { "b", "us-east-1a", "us-east-1", "us-east-1a" },
        { "c", "europe-west4", "europe-west4", "" },
        { "d", "rack", "rack", "" },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_auto_t *platform = NULL;
        char url[64];

        manage(rig, cases[i].name, cases[i].place);
        snprintf(url, sizeof url, "http://127.0.0.1:9/%s", cases[i].name);
        platform = platform_of(rig, cases[i].name, url);
        assert_non_null(platform);
        assert_string_equal(json_get_text(platform, "region", ""), cases[i].region);
        assert_string_equal(json_get_text(platform, "zone", ""), cases[i].zone);
        assert_int_equal(json_get_integer(platform, "replicas", 0), 2);
    }
}

static void nothing_is_shown_for_a_server_with_a_different_address_or_name(void **state)
{
    struct rig *rig = *state;

    manage(rig, "gemma", "rack");
    assert_null(platform_of(rig, "gemma", "http://127.0.0.1:9/other"));
    assert_null(platform_of(rig, "other", "http://127.0.0.1:9/gemma"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_region_and_any_zone_are_found_in_the_name_of_a_place),
        TEST(nothing_is_shown_for_a_server_with_a_different_address_or_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
