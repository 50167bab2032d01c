/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the requests that are sent to Cloud TPU, for the tests' own recipe and for each Cloud
 * TPU recipe in the catalogue, and of the plans that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/llm/catalog.h"
#include "fleet/recipes/recipe_book.h"
#include "fleet/recipes/recipe_fit.h"
#include "tests/clouds/fake_description.h"
#include "tests/clouds/tpu_world.h"

static struct observed machine(const char *resource, int64_t replicas)
{
    struct observed now = {
        .exists = true, .ours = true, .replicas = replicas, .ends_ms = INT64_C(1764003600000)
    };

    text_copy(now.resource, sizeof now.resource, resource);
    text_copy(now.state, sizeof now.state, replicas > 0 ? "ready" : "pending");
    return now;
}

static void check_steps(struct google_world *world, enum provider_verb verb,
                        const struct observed *now, const char *names)
{
    struct step *steps = NULL;
    size_t count = 0;
    TEXT_AUTO found = { 0 };

    if (!world->life.provider->steps(verb, &world->life.desired, now, &steps, &count,
                                     &world->life.error))
        fail_msg("%s", world->life.error.message);
    for (size_t i = 0; i < count; i++)
        text_addf(&found, "%s%s", i > 0 ? " " : "", steps[i].name);
    assert_string_equal(text_string(&found), names);
    step_list_free(steps, count);
}

static void check_no_steps(struct google_world *world, enum provider_verb verb,
                           const struct observed *now, const char *part)
{
    struct step *steps = NULL;
    size_t count = 0;

    assert_false(world->life.provider->steps(verb, &world->life.desired, now, &steps, &count,
                                             &world->life.error));
    if (strstr(world->life.error.message, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, world->life.error.message);
}

static void test_the_steps_are_right_for_each_supported_verb(void **state)
{
    struct google_world *world = *state;
    const struct observed active = machine("https://tpu.googleapis.com" QUEUED, 1);
    const struct observed waiting = machine("https://tpu.googleapis.com" QUEUED, 0);
    struct observed bare = machine("https://tpu.googleapis.com" NODE, 1);

    check_steps(world, VERB_CREATE, NULL,
                "secret-hf-token key key-right firewall queued-resource machine");
    check_steps(world, VERB_STOP, &active, "stop stopped");
    check_steps(world, VERB_START, &active, "start running");
    check_steps(world, VERB_EXTEND, &active, "label");
    check_steps(world, VERB_DESTROY, &active,
                "remove-queued-resource gone node-gone remove-firewall remove-key");
    check_steps(world, VERB_DESTROY, &bare, "remove-node node-gone remove-firewall remove-key");
    text_copy(bare.state, sizeof bare.state, "deleting");
    check_steps(world, VERB_DESTROY, &bare, "node-gone remove-firewall remove-key");
    /* a queued resource without a machine might still get one */
    check_steps(world, VERB_STOP, &waiting, "remove-queued-resource gone node-gone");
    check_no_steps(world, VERB_START, &waiting, "only a request for one");
    check_no_steps(world, VERB_EXTEND, &waiting, "once it has a machine");
    world->life.desired.ends_ms += 3600000;
    check_steps(world, VERB_START, &active, "label start running");
}

/* ---- The body ---- */

/* Returns the body of the request for a queued resource, without the node's tags and with "SCRIPT"
 * in place of the startup script. (test_google_machine.c tests that script.) The caller releases
 * the body. */
static json_t *body_of(struct google_world *world)
{
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    json_t *body = json_deep_copy(find_step(steps, count, "queued-resource")->body);
    json_t *specification =
        json_array_get(json_object_get(json_object_get(body, "tpu"), "nodeSpec"), 0);
    json_t *node = json_object_get(specification, "node");

    assert_non_null(strstr(json_get_text(json_object_get(node, "metadata"), "startup-script", ""),
                           "#!/bin/bash\n"));
    json_object_set_new(json_object_get(node, "metadata"), "startup-script", json_string("SCRIPT"));
    json_object_del(node, "tags");
    step_list_free(steps, count);
    return body;
}

#define NODE_JSON(more)                                                                            \
    "\"tpu\":{\"nodeSpec\":[{\"parent\":\"projects/p/locations/us-east5-a\",\"nodeId\":\"gemma\"," \
    "\"node\":{\"description\":\"A small one\",\"acceleratorType\":\"v6e-4\","                     \
    "\"runtimeVersion\":\"v2-alpha-tpuv6e\",\"networkConfig\":{\"enableExternalIps\":true},"       \
    "\"serviceAccount\":{\"email\":\"server@p.iam.gserviceaccount.com\",\"scope\":"                \
    "[\"https://www.googleapis.com/auth/cloud-platform\"]},"                                       \
    "\"labels\":{\"managed-by\":\"opsbrain\",\"opsbrain-instance\":\"inst-1\","                    \
    "\"opsbrain-deployment\":\"gemma\",\"opsbrain-ends\":\"1764003600\",\"opsbrain-at-end\":"      \
    "\"destroy\","                                                                                 \
    "\"opsbrain-port\":\"8080\"},"                                                                 \
    "\"metadata\":{\"startup-script\":\"SCRIPT\",\"enable-guest-attributes\":\"TRUE\","            \
    "\"block-project-ssh-keys\":\"TRUE\",\"opsbrain-image\":"                                      \
    "\"vllm/vllm-tpu@sha256:0123456789abcdef0123456789abcdef\"}" more "}}]}}"

static void test_the_body_is_right_for_each_kind_of_purchase(void **state)
{
    static const struct {
        const char *kind, *json;
    } rows[] = {
        { "on_demand", "{\"queueingPolicy\":{\"validUntilDuration\":\"3600s\"}," NODE_JSON("") },
        { "spot",
          "{\"spot\":{},\"queueingPolicy\":{\"validUntilDuration\":\"3600s\"}," NODE_JSON("") },
        { "reserved", "{\"guaranteed\":{},\"reservationName\":"
                      "\"projects/p/locations/us-east5-a/reservations/ours\","
                      "\"queueingPolicy\":{\"validUntilDuration\":\"3600s\"}," NODE_JSON(
                          ",\"schedulingConfig\":{\"reserved\":true}") },
        { "flex_start",
          "{\"provisioningModel\":\"FLEX_START\",\"runDuration\":{\"maxRunDuration\":\"3600s\"},"
          "\"queueingPolicy\":{\"validUntilDuration\":\"3600s\"}," NODE_JSON(
              ",\"bootDiskConfig\":{\"diskSizeGb\":\"200\"}") },
    };
    struct google_world *world = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_auto_t *expected = json_loads(rows[i].json, 0, NULL);
        json_auto_t *given = NULL;

        world->life.desired.kind = rows[i].kind;
        text_copy(world->target.reservation, sizeof world->target.reservation, "ours");
        given = body_of(world);
        assert_non_null(expected);
        if (!json_equal(given, expected)) {
            FREE_AUTO char *text = json_write(given);

            fail_msg("%s: %s", rows[i].kind, text);
        }
    }
}

static void test_flex_start_uses_the_alpha_version_of_the_api(void **state)
{
    struct google_world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    struct step *queued = find_step(steps, count, "queued-resource");
    char url[1024];

    assert_non_null(strstr(queued->url, "/v2/projects/p/locations/us-east5-a/queuedResources?"));
    assert_non_null(strstr(queued->url, "requestId="));
    assert_non_null(strstr(queued->url, "&queuedResourceId=gemma"));
    assert_string_equal(queued->undo_url, "https://tpu.googleapis.com" QUEUED "?force=true");
    text_copy(url, sizeof url, queued->url);
    step_list_free(steps, count);
    steps = make_steps(world, VERB_CREATE, &count);
    assert_string_equal(find_step(steps, count, "queued-resource")->url,
                        url); /* with the same requestId */
    step_list_free(steps, count);
    world->life.desired.kind = "flex_start";
    steps = make_steps(world, VERB_CREATE, &count);
    queued = find_step(steps, count, "queued-resource");
    assert_non_null(strstr(queued->url, "https://tpu.googleapis.com/v2alpha1/projects/p/"));
    assert_string_equal(queued->resource, "https://tpu.googleapis.com" QUEUED);
    step_list_free(steps, count);
}

static void test_without_an_end_a_request_waits_as_long_as_the_recipe_says(void **state)
{
    struct google_world *world = *state;
    json_auto_t *body = NULL;

    world->life.desired.ends_ms = 0;
    body = body_of(world);
    assert_string_equal(
        json_get_text(json_object_get(body, "queueingPolicy"), "validUntilDuration", ""), "7200s");
}

/* ---- Recipes ---- */

/* Checks that the fake platform accepts the request and that its body conforms to Google's
 * description of the requested API version, unless that description is missing (NULL). */
static void check_queued(struct google_world *world, json_t *const descriptions[2])
{
    const char *name = world->life.desired.recipe->name;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    const struct step *queued = find_step(steps, count, "queued-resource");
    const json_t *description = descriptions[strstr(queued->url, "/v2alpha1/") != NULL];
    TEXT_AUTO path = { 0 };

    if (description != NULL
        && !fake_description_check(description, "QueuedResource", queued->body, &path))
        fail_msg("%s: %s", name, text_string(&path));
    if (life_do(&world->life, queued) != STEP_DONE)
        fail_msg("%s: %s", name, world->life.error.message);
    json_object_del(world->fake.objects, strstr(queued->resource, "/v2/"));
    step_list_free(steps, count);
}

/* Checks the recipe's request for each kind of purchase, and adds the number of requests to
 * counts[0]. A recipe that cannot work is not checked, but counted in counts[1]. */
static void check_recipe(struct google_world *world, const struct recipe *recipe,
                         json_t *const descriptions[2], int counts[2])
{
    const json_t *kind;
    size_t i;

    world->life.desired.recipe = recipe;
    counts[1] += strcmp(recipe->status, "cannot_work") == 0;
    if (strcmp(recipe->status, "cannot_work") == 0)
        return;
    json_array_foreach(recipe_member(recipe, "kinds"), i, kind) {
        char seed[32];

        snprintf(seed, sizeof seed, "plan-%d", counts[0]++);
        world->life.desired.kind = json_string_value(kind);
        world->life.desired.request_seed = seed;
        text_copy(world->target.places[0], FLEET_PLACE_SIZE,
                  json_string_value(json_array_get(recipe_member(recipe, "places"), 0)));
        check_queued(world, descriptions);
    }
}

static void test_every_recipe_that_can_work_makes_a_request_that_is_accepted(void **state)
{
    struct google_world *world = *state;
    struct recipe_book *book;
    const struct recipe *recipes;
    json_t *descriptions[] = { fake_description_load("tpu-v2.json"),
                               fake_description_load("tpu-v2alpha1.json") };
    struct error error;
    int counts[2] = { 0, 0 };
    size_t count;

    if (descriptions[1] == NULL)
        puts("skipped: checks against Google's description of the TPU API "
             "(../shared/data/cloud-apis)");
    if (!recipe_book_create("", &book, &error))
        fail_msg("%s", error.message);
    recipes = recipe_book_all(book, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(recipes[i].provider, "cloud_tpu") == 0)
            check_recipe(world, &recipes[i], descriptions, counts);
    assert_int_equal(counts[0], 17 * 4);
    assert_int_equal(counts[1], 4);
    json_decref(descriptions[0]);
    json_decref(descriptions[1]);
    recipe_book_destroy(book);
}

static void test_recipes_that_cannot_work_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *name;
        /* part of the error message; NULL: the recipe's own reason, that the memory is too small */
        const char *part;
    } rows[] = {
        { "tpu-gemma-4-26b-v6e1", NULL },
        { "tpu-gemma-4-31b-v6e1", NULL },
        { "tpu-gemma-4-e4b-v5e1", NULL },
        { "tpu-gemma-4-12b-v6e4-on-v6e1",
          "split over 4 chips (--tensor-parallel-size), but the machine has 1" },
    };
    struct google_world *world = *state;
    struct catalog *catalog;
    struct recipe_book *book;
    struct error error;

    if (!recipe_book_create("", &book, &error) || !catalog_create(&catalog, &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct recipe *recipe = recipe_book_find(book, rows[i].name);

        assert_non_null(recipe);
        world->life.desired.recipe = recipe;
        check_refused(world, VERB_CREATE, rows[i].part != NULL ? rows[i].part : recipe->reason);
        if (rows[i].part != NULL)
            continue;
        assert_false(recipe_fit_check(recipe, catalog, &error));
        if (strstr(error.message, "GiB") == NULL)
            fail_msg("\"%s\" shows no arithmetic", error.message);
    }
    catalog_destroy(catalog);
    recipe_book_destroy(book);
}

static void test_plans_that_cannot_be_carried_out_are_refused(void **state)
{
    static const struct {
        const char *member, *json, *part;
    } rows[] = {
        { "chips", "1", "v6e-4 has 4 chips, but the recipe's \"chips\" is 1" },
        { "hardware", "\"nvidia-l4\"", "can queue v5e, v5p and v6e" },
        { "hardware", "\"google-tpu-v5p\"", "must be like v5p-8" },
        { "arguments", "{\"--tensor-parallel-size\":8}", "split over 8 chips" },
        { "engine", "\"sglang\"", "sglang reads none" },
        { "weights", "{\"from\":\"bucket\",\"folder\":\"x\"}", "from the hub" },
        { "environment", "{\"T\":{\"secret\":\"x/versions/1\"}}",
          "must name a secret in Secret Manager" },
        { "cloud_tpu", "{\"accelerator_type\":\"v6e-4\",\"runtime_version\":\"tpu-ubuntu\"}",
          "v6e-4 needs v2-alpha-tpuv6e" },
        { "cloud_tpu",
          "{\"accelerator_type\":\"v6e-4\",\"runtime_version\":\"v2-alpha-tpuv6e\",\"wait_s\":0}",
          "wait_s\" is 0: the wait for capacity must be 1 to" },
    };
    struct google_world *world = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_member_refused(world, rows[i].member, rows[i].json, rows[i].part);
    world->life.desired.deployment = "Gemma";
    check_refused(world, VERB_CREATE, "at most 63");
}

static void test_flex_start_must_end_within_a_week_and_unknown_kinds_are_refused(void **state)
{
    struct google_world *world = *state;

    world->life.desired.kind = "flex_start";
    assert_non_null(world->life.provider->describe_guard(&world->life.desired));
    world->life.desired.end_destroys = false;
    check_refused(world, VERB_CREATE, "\"at_end\" is stop, but flex-start deletes the machine");
    world->life.desired.end_destroys = true;
    world->life.desired.ends_ms = 0;
    check_refused(world, VERB_CREATE, "7 days at most: give \"life_s\"");
    world->life.desired.ends_ms = world->life.desired.made_ms + INT64_C(8) * 86400000;
    check_refused(world, VERB_CREATE, "7 days at most (604800 s), but this would last 691200 s");
    world->life.desired.kind = "on_demand"; /* only opsbrain ends such a machine */
    assert_null(world->life.provider->describe_guard(&world->life.desired));
    world->life.desired.kind = "sustained";
    check_refused(world, VERB_CREATE, "cannot be bought as sustained");
}

static void test_a_plan_is_refused_if_its_secret_is_missing(void **state)
{
    check_missing_secret(*state);
}

static void test_unwise_choices_cause_warnings(void **state)
{
    struct google_world *world = *state;
    json_auto_t *warnings = json_array();
    FREE_AUTO char *text = NULL;

    world->life.desired.kind = "flex_start";
    world->life.desired.place = "us-west1-c";
    world->life.provider->lint(&world->life.desired, warnings);
    text = json_write(warnings);
    assert_non_null(strstr(text, "v2alpha1"));
    assert_non_null(strstr(text, "preemptible quota"));
    assert_non_null(strstr(text, "does not name this zone"));
    assert_null(strstr(text, "the disk is 100 GB"));
}

static void test_commands_contain_no_secret(void **state)
{
    struct google_world *world = *state;
    TEXT_AUTO out = { 0 };

    add_commands(world, &out);
    assert_non_null(strstr(out.data, "gcloud secrets describe hf-token --project p"));
    assert_non_null(strstr(out.data, "gcloud compute tpus queued-resources delete --force gemma "
                                     "--zone us-east5-a --project p\n"));
    assert_non_null(strstr(out.data, "gcloud compute tpus tpu-vm stop gemma"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_the_steps_are_right_for_each_supported_verb),
        LIVE(test_the_body_is_right_for_each_kind_of_purchase),
        LIVE(test_flex_start_uses_the_alpha_version_of_the_api),
        LIVE(test_without_an_end_a_request_waits_as_long_as_the_recipe_says),
        LIVE(test_every_recipe_that_can_work_makes_a_request_that_is_accepted),
        LIVE(test_recipes_that_cannot_work_are_refused_with_the_reason),
        LIVE(test_plans_that_cannot_be_carried_out_are_refused),
        LIVE(test_flex_start_must_end_within_a_week_and_unknown_kinds_are_refused),
        LIVE(test_a_plan_is_refused_if_its_secret_is_missing),
        LIVE(test_unwise_choices_cause_warnings),
        LIVE(test_commands_contain_no_secret),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
