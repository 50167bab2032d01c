/* SPDX-License-Identifier: Apache-2.0 */
/* The requests to Compute Engine for the tests' recipe and for each Compute Engine recipe in the
 * catalogue, and the plans that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/recipes/recipe_book.h"
#include "tests/clouds/compute_world.h"
#include "tests/clouds/fake_description.h"

static void test_the_steps_of_each_verb(void **state)
{
    struct google_world *world = *state;

    check_names(world, VERB_CREATE,
                "secret-hf-token image key key-right firewall instance running");
    check_names(world, VERB_STOP, "stop stopped");
    check_names(world, VERB_START, "start running");
    check_names(world, VERB_EXTEND, "stop stopped scheduling label start running");
    check_names(world, VERB_DESTROY, "remove-instance gone remove-firewall remove-key");
    world->life.desired.ends_ms += 3600000;
    check_names(world, VERB_START, "scheduling label start running");
}

/* Returns the body of the creation's step called `name`. The startup script in it is replaced with
 * "SCRIPT": test_google_machine.c tests the script. The caller releases the body. */
static json_t *body_of(struct google_world *world, const char *name)
{
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    json_t *body = json_deep_copy(find_step(steps, count, name)->body);
    json_t *items = json_object_get(json_object_get(body, "metadata"), "items");

    if (items != NULL)
        json_object_set_new(json_array_get(items, 0), "value", json_string("SCRIPT"));
    step_list_free(steps, count);
    return body;
}

/* Checks that the body of the creation's step called `name` is `json`, except for names and tags
 * that contain a digest. */
static void check_body(struct google_world *world, const char *name, const char *json)
{
    json_auto_t *expected = json_loads(json, 0, NULL);
    json_auto_t *given = body_of(world, name);

    assert_non_null(expected);
    if (strcmp(name, "firewall") == 0) {
        assert_string_equal(
            json_get_text(given, "name", ""),
            json_string_value(json_array_get(json_object_get(given, "targetTags"), 0)));
        json_object_del(given, "name");
        json_object_del(given, "targetTags");
    }
    json_object_del(given, "tags");
    if (!json_equal(given, expected)) {
        FREE_AUTO char *text = json_write(given);

        fail_msg("%s", text);
    }
}

static void test_the_request_bodies_of_a_creation(void **state)
{
    struct google_world *world = *state;

    check_body(
        world, "instance",
        "{\"name\":\"gemma\",\"description\":\"A small "
        "one\",\"labels\":{\"managed-by\":\"opsbrain\","
        "\"opsbrain-instance\":\"inst-1\",\"opsbrain-deployment\":\"gemma\","
        "\"opsbrain-ends\":\"1764003600\",\"opsbrain-at-end\":\"destroy\",\"opsbrain-port\":"
        "\"8080\"},"
        "\"machineType\":\"zones/us-central1-a/machineTypes/g2-standard-4\","
        "\"disks\":[{\"boot\":true,\"autoDelete\":true,\"initializeParams\":{\"sourceImage\":"
        "\"projects/deeplearning-platform-release/global/images/family/common-cu129\","
        "\"diskSizeGb\":\"150\",\"diskType\":\"zones/us-central1-a/diskTypes/pd-balanced\"}}],"
        "\"networkInterfaces\":[{\"network\":\"global/networks/default\",\"nicType\":\"GVNIC\","
        "\"accessConfigs\":[{\"type\":\"ONE_TO_ONE_NAT\",\"name\":\"External NAT\"}]}],"
        "\"scheduling\":{\"provisioningModel\":\"STANDARD\",\"onHostMaintenance\":\"TERMINATE\","
        "\"terminationTime\":\"2025-11-24T17:00:00Z\",\"instanceTerminationAction\":\"DELETE\","
        "\"automaticRestart\":false},"
        "\"serviceAccounts\":[{\"email\":\"server@p.iam.gserviceaccount.com\",\"scopes\":"
        "[\"https://www.googleapis.com/auth/cloud-platform\"]}],"
        "\"metadata\":{\"items\":[{\"key\":\"startup-script\",\"value\":\"SCRIPT\"},"
        "{\"key\":\"enable-guest-attributes\",\"value\":\"TRUE\"},"
        "{\"key\":\"block-project-ssh-keys\",\"value\":\"TRUE\"},"
        "{\"key\":\"install-nvidia-driver\",\"value\":\"True\"}]},"
        "\"shieldedInstanceConfig\":{\"enableVtpm\":true,\"enableIntegrityMonitoring\":true},"
        "\"reservationAffinity\":{\"consumeReservationType\":\"NO_RESERVATION\"}}");
    check_body(
        world, "firewall",
        "{\"description\":\"opsbrain inst-1 gemma\",\"network\":\"global/networks/default\","
        "\"direction\":\"INGRESS\",\"allowed\":[{\"IPProtocol\":\"tcp\",\"ports\":[\"8080\"]}],"
        "\"sourceRanges\":[\"203.0.113.4/32\",\"10.0.0.0/8\"]}");
    check_body(world, "key",
               "{\"replication\":{\"automatic\":{}},\"labels\":{\"managed-by\":\"opsbrain\","
               "\"opsbrain-instance\":\"inst-1\",\"opsbrain-deployment\":\"gemma\","
               "\"opsbrain-ends\":\"1764003600\",\"opsbrain-at-end\":\"destroy\"}}");
    check_body(world, "key-right",
               "{\"policy\":{\"bindings\":[{\"role\":\"roles/secretmanager.secretVersionAdder\","
               "\"members\":[\"serviceAccount:server@p.iam.gserviceaccount.com\"]},"
               "{\"role\":\"roles/secretmanager.secretAccessor\",\"members\":"
               "[\"serviceAccount:server@p.iam.gserviceaccount.com\"]}]}}");
}

/* ---- Kinds of purchase ---- */

/* Checks that the string at `path` in the instance's body, such as "scheduling.provisioningModel",
 * is `value`. If `value` is "(none)", there must be no string. */
static void check_kind(struct google_world *world, const char *kind, const char *path,
                       const char *value)
{
    json_auto_t *body = NULL;
    const json_t *found;
    char first[64];

    world->life.desired.kind = kind;
    body = body_of(world, "instance");
    snprintf(first, sizeof first, "%.*s", (int)strcspn(path, "."), path);
    found = json_object_get(body, first);
    if (strchr(path, '.') != NULL)
        found = json_object_get(found, strchr(path, '.') + 1);
    assert_string_equal(json_is_string(found) ? json_string_value(found) : "(none)", value);
}

static void test_kinds_of_purchase_become_scheduling_and_reservations(void **state)
{
    struct google_world *world = *state;

    check_kind(world, "spot", "scheduling.provisioningModel", "SPOT");
    check_kind(world, "spot", "scheduling.instanceTerminationAction", "DELETE");
    check_kind(world, "spot", "scheduling.terminationTime", "2025-11-24T17:00:00Z");
    check_kind(world, "reserved", "reservationAffinity.consumeReservationType", "ANY_RESERVATION");
    check_kind(world, "reserved", "scheduling.provisioningModel", "STANDARD");
    text_copy(world->target.reservation, sizeof world->target.reservation, "ours");
    check_kind(world, "reserved", "reservationAffinity.consumeReservationType",
               "SPECIFIC_RESERVATION");
    check_kind(world, "reserved", "reservationAffinity.key",
               "compute.googleapis.com/reservation-name");
    check_kind(world, "on_demand", "reservationAffinity.consumeReservationType", "NO_RESERVATION");
    check_kind(world, "flex_start", "scheduling.provisioningModel", "FLEX_START");
    check_kind(world, "flex_start", "scheduling.terminationTime", "(none)");
    world->life.desired.end_destroys = false;
    check_kind(world, "spot", "scheduling.instanceTerminationAction", "STOP");
    world->life.desired.ends_ms = 0;
    check_kind(world, "on_demand", "scheduling.instanceTerminationAction", "(none)");
    world->life.desired.kind = "sustained";
    check_refused(world, VERB_CREATE, "cannot be bought as sustained");
}

/* ---- Recipes ---- */

/* If the recipe can work, checks for each kind of purchase that the platform accepts its machine.
 * Otherwise checks that the recipe is refused with its reason. Counts the machines in counts[0],
 * and the refused recipes in counts[1]. */
static void check_recipe(struct google_world *world, const struct recipe *recipe, int counts[2])
{
    const json_t *kinds = recipe_member(recipe, "kinds"), *kind;
    size_t i;

    world->life.desired.recipe = recipe;
    if (strcmp(recipe->status, "cannot_work") == 0) {
        check_refused(world, VERB_CREATE, recipe->reason);
        counts[1]++;
        return;
    }
    json_array_foreach(kinds, i, kind) {
        world->life.desired.kind = json_string_value(kind);
        text_copy(world->target.places[0], FLEET_PLACE_SIZE,
                  json_string_value(json_array_get(recipe_member(recipe, "places"), 0)));
        must_apply(world, VERB_CREATE);
        expect(world, "ready");
        must_apply(world, VERB_DESTROY);
        counts[0]++;
    }
}

static void test_each_compute_engine_recipe_is_accepted_or_refused_with_its_reason(void **state)
{
    struct google_world *world = *state;
    struct recipe_book *book;
    const struct recipe *recipes;
    struct error error;
    int counts[2] = { 0, 0 };
    size_t count;

    world->fake.gpus = 8;
    if (!recipe_book_create("", &book, &error))
        fail_msg("%s", error.message);
    recipes = recipe_book_all(book, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(recipes[i].provider, "compute_engine") == 0)
            check_recipe(world, &recipes[i], counts);
    assert_true(counts[0] >= 40);
    assert_int_equal(counts[1], 3);
    recipe_book_destroy(book);
}

/* The fake knows only part of the API, so the bodies are also checked against Google's description
 * of it. */
static void test_instances_and_firewalls_conform_to_googles_description(void **state)
{
    static const char *const types[][2] = { { "instance", "Instance" },
                                            { "firewall", "Firewall" } };
    json_auto_t *description = fake_description_load("compute-v1.json");
    struct google_world *world = *state;
    struct recipe_book *book;
    const struct recipe *recipes;
    struct error error;
    size_t count;

    if (description == NULL) {
        puts("skipped: ../shared/data/cloud-apis does not exist");
        return;
    }
    assert_true(recipe_book_create("", &book, &error));
    recipes = recipe_book_all(book, &count);
    for (size_t i = 0; i < 2 * count; i++) {
        const struct recipe *recipe = &recipes[i / 2];
        json_auto_t *body = NULL;
        TEXT_AUTO path = { 0 };

        if (strcmp(recipe->provider, "compute_engine") != 0
            || strcmp(recipe->status, "cannot_work") == 0)
            continue;
        world->life.desired.recipe = recipe;
        world->life.desired.kind =
            json_string_value(json_array_get(recipe_member(recipe, "kinds"), 0));
        body = body_of(world, types[i % 2][0]);
        if (!fake_description_check(description, types[i % 2][1], body, &path))
            fail_msg("%s: %s", recipe->name, text_string(&path));
    }
    recipe_book_destroy(book);
}

static void test_plans_that_cannot_be_carried_out_are_refused(void **state)
{
    static const struct {
        const char *member, *json, *part;
    } rows[] = {
        { "chips", "2", "g2-standard-4 has 1 nvidia-l4, but the recipe needs 2" },
        { "host", "{\"machine\":\"n2-standard-4\"}", "\"host.machine\" is \"n2-standard-4\"" },
        { "host", "{\"machine\":\"ct6e-standard-1t\"}", "has 1 google-tpu-v6e" },
        { "engine", "\"sglang\"", "sglang reads none" },
        { "weights", "{\"from\":\"bucket\",\"folder\":\"x\"}", "from the hub" },
        { "environment", "{\"T\":{\"secret\":\"x/versions/1\"}}",
          "must name a secret in Secret Manager" },
        { "compute_engine", "{\"image_project\":\"x/y\",\"image_family\":\"f\"}", "image_project" },
        { "compute_engine", "{\"image_project\":\"x\",\"image_family\":\"f\",\"wait_s\":10}",
          "wait_s\" is 10: Compute Engine waits 90 to 7200 s" },
    };
    struct google_world *world = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_member_refused(world, rows[i].member, rows[i].json, rows[i].part);
    world->life.desired.deployment = "Gemma";
    check_refused(world, VERB_CREATE, "at most 63");
}

static void test_a_missing_secret_is_found_by_the_first_step(void **state)
{
    check_missing_secret(*state);
}

static void test_commands_contain_no_secret(void **state)
{
    struct google_world *world = *state;
    TEXT_AUTO out = { 0 };

    add_commands(world, &out);
    assert_non_null(strstr(out.data, "gcloud secrets describe hf-token --project p"));
    assert_non_null(strstr(out.data, "gcloud compute instances stop gemma --zone us-central1-a"));
    assert_non_null(strstr(out.data, "gcloud compute instances delete gemma"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_the_steps_of_each_verb),
        LIVE(test_the_request_bodies_of_a_creation),
        LIVE(test_kinds_of_purchase_become_scheduling_and_reservations),
        LIVE(test_each_compute_engine_recipe_is_accepted_or_refused_with_its_reason),
        LIVE(test_instances_and_firewalls_conform_to_googles_description),
        LIVE(test_plans_that_cannot_be_carried_out_are_refused),
        LIVE(test_a_missing_secret_is_found_by_the_first_step),
        LIVE(test_commands_contain_no_secret),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
