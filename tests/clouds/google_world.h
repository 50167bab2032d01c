/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture for the tests of the Google providers: a provider, the fake Google cloud, and a
 * target on it. Include this file after cmocka's headers. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/recipes/recipe.h"
#include "tests/clouds/fake_google.h"
#include "tests/clouds/provider_life.h"

/* The file that includes this one defines `set_up`, as tpu_world.h does. */
#define LIVE(test) cmocka_unit_test_setup_teardown(test, set_up, google_world_destroy)

struct google_world {
    struct fake_google fake;
    struct cloud_endpoints *endpoints;
    struct recipe recipe;
    struct fleet_target target;
    struct life life;
    char seed[16]; /* the latest plan's request_seed */
    int plans;
};

/* The project has the secret hf-token. The desired deployment, gemma, is planned at 2025-11-24
 * 16:00 UTC and ends an hour later. google_world_destroy frees the result. */
static inline struct google_world *google_world_create(const char *provider, const char *place,
                                                       const char *recipe)
{
    struct google_world *world = calloc(1, sizeof *world);
    struct cloud_config config = { .secrets_folder = "" };
    struct error error = { 0 };

    fake_google_start(&world->fake);
    fake_server_add(world->fake.objects, "/v1/projects/p/secrets/hf-token", "{\"name\":\"x\"}");
    fake_server_add(world->fake.objects, "/storage/v1/b/weights", "{\"name\":\"weights\"}");
    fake_server_add(world->fake.objects,
                    "/v1/projects/p/serviceAccounts/server@p.iam.gserviceaccount.com", "{}");
    world->target = (struct fleet_target){ .name = "gcp",
                                           .project = "p",
                                           .bucket = "weights",
                                           .place_count = 1,
                                           .source_ranges = { "203.0.113.4/32", "10.0.0.0/8" },
                                           .source_range_count = 2,
                                           .service_account = "server@p.iam.gserviceaccount.com",
                                           .credential = { .kind = CLOUD_WORKLOAD_IDENTITY } };
    text_copy(world->target.provider, sizeof world->target.provider, provider);
    text_copy(world->target.places[0], FLEET_PLACE_SIZE, place);
    assert_true(cloud_endpoints_create(world->fake.endpoints, &world->endpoints, &error));
    config.endpoints = world->endpoints;
    if (!recipe_parse(recipe, strlen(recipe), &world->recipe, &error)
        || !cloud_create(&world->target.credential, &config, &world->life.cloud, &error))
        fail_msg("%s", error.message);
    world->life.provider = provider_find(provider);
    world->life.polls_max = 3;
    world->life.desired = (struct desired){ .target = &world->target,
                                            .recipe = &world->recipe,
                                            .deployment = "gemma",
                                            .instance = "inst-1",
                                            .place = world->target.places[0],
                                            .kind = "on_demand",
                                            .made_ms = INT64_C(1764000000000),
                                            .ends_ms = INT64_C(1764003600000),
                                            .end_destroys = true,
                                            .request_seed = "plan-1" };
    return world;
}

static inline int google_world_destroy(void **state)
{
    struct google_world *world = *state;

    cloud_destroy(world->life.cloud);
    cloud_endpoints_destroy(world->endpoints);
    recipe_finish(&world->recipe);
    fake_google_stop(&world->fake);
    free(world);
    return 0;
}

/* Applies a verb, as a new plan would. */
static inline bool apply(struct google_world *world, enum provider_verb verb)
{
    snprintf(world->seed, sizeof world->seed, "plan-%d", ++world->plans);
    world->life.desired.request_seed = world->seed;
    return life_apply(&world->life, verb);
}

static inline void must_apply(struct google_world *world, enum provider_verb verb)
{
    if (!apply(world, verb))
        fail_msg("%s: %s: %s", provider_verb_name(verb), world->life.step,
                 world->life.error.message);
}

static inline struct observed look(struct google_world *world)
{
    struct observed now;

    if (!world->life.provider->observe(world->life.cloud, &world->life.desired, &now,
                                       &world->life.error))
        fail_msg("%s", world->life.error.message);
    return now;
}

static inline void check_state(struct google_world *world, const char *state, const char *message)
{
    struct observed now = look(world);

    assert_string_equal(now.state, state);
    if (strstr(now.message, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, now.message);
    observed_finish(&now);
}

/* Observes the deployment, at most 9 times, until it is in the state. */
static inline struct observed wait_for(struct google_world *world, const char *state)
{
    struct observed now = look(world);

    for (int i = 0; i < 8 && strcmp(now.state, state) != 0; i++) {
        observed_finish(&now);
        now = look(world);
    }
    assert_string_equal(now.state, state);
    return now;
}

static inline void expect(struct google_world *world, const char *state)
{
    struct observed now = wait_for(world, state);

    observed_finish(&now);
}

/* The verb must be refused with an error that contains `part`. */
static inline void check_refused(struct google_world *world, enum provider_verb verb,
                                 const char *part)
{
    assert_false(apply(world, verb));
    if (strstr(world->life.error.message, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, world->life.error.message);
}

/* A creation must be refused if the recipe's `member` has the value `json`. */
static inline void check_member_refused(struct google_world *world, const char *member,
                                        const char *json, const char *part)
{
    json_auto_t *document = json_deep_copy(world->recipe.document);
    struct recipe recipe = { 0 };
    struct error error = { 0 };

    json_object_set_new(document, member, json_loads(json, JSON_DECODE_ANY, NULL));
    if (!recipe_read(document, &recipe, &error))
        fail_msg("%s", error.message);
    world->life.desired.recipe = &recipe;
    check_refused(world, VERB_CREATE, part);
    recipe_finish(&recipe);
    world->life.desired.recipe = &world->recipe;
}

/* If the recipe's secret is missing, a plan must be refused with an error that says how to create
 * the secret. */
static inline void check_missing_secret(struct google_world *world)
{
    json_object_del(world->fake.objects, "/v1/projects/p/secrets/hf-token");
    assert_false(life_plan(&world->life, VERB_CREATE));
    assert_string_equal(world->life.step, "secret-hf-token");
    assert_non_null(strstr(world->life.error.message, "gcloud secrets create hf-token"));
}

/* Checks that exactly one finding reports something missing: the denied permission. Returns the
 * findings, which the caller releases. */
static inline json_t *check_permissions(struct google_world *world, const char *denied)
{
    json_t *findings = json_array(), *finding;
    size_t i;
    int missing = 0;

    snprintf(world->fake.denied, sizeof world->fake.denied, "%s", denied);
    assert_true(world->life.provider->check(world->life.cloud, &world->target, findings,
                                            &world->life.error));
    json_array_foreach(findings, i, finding)
        if (!json_get_boolean(finding, "ok", false)) {
            missing++;
            assert_string_equal(json_get_text(finding, "need", ""), denied);
        }
    assert_int_equal(missing, 1);
    return findings;
}

/* Returns the steps of a verb. The deployment exists, except for VERB_CREATE. The caller frees the
 * steps with step_list_free. */
static inline struct step *make_steps(struct google_world *world, enum provider_verb verb,
                                      size_t *count)
{
    struct observed now = { .exists = verb != VERB_CREATE,
                            .ours = true,
                            .ends_ms = INT64_C(1764003600000) };
    struct step *steps = NULL;

    if (!world->life.provider->steps(verb, &world->life.desired, &now, &steps, count,
                                     &world->life.error))
        fail_msg("%s", world->life.error.message);
    return steps;
}

static inline struct step *find_step(struct step *steps, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].name, name) == 0)
            return &steps[i];
    fail_msg("there is no step %s", name);
    return NULL;
}

static inline void check_names(struct google_world *world, enum provider_verb verb,
                               const char *names)
{
    size_t count = 0;
    struct step *steps = make_steps(world, verb, &count);
    TEXT_AUTO found = { 0 };

    for (size_t i = 0; i < count; i++)
        text_addf(&found, "%s%s", i > 0 ? " " : "", steps[i].name);
    assert_string_equal(text_string(&found), names);
    step_list_free(steps, count);
}

/* Creates a deployment, appends the commands for every verb to `out`, and checks that they contain
 * neither the deployment's API key nor the access token. */
static inline void add_commands(struct google_world *world, struct text *out)
{
    const struct provider *provider = world->life.provider;
    char key[SECRET_VALUE_SIZE];
    struct observed now;

    must_apply(world, VERB_CREATE);
    now = wait_for(world, "ready");
    assert_true(provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_true(strlen(key) > 8);
    for (enum provider_verb verb = VERB_CREATE; verb < VERB_COUNT; verb++) {
        size_t count = 0;
        struct step *steps = NULL;

        if ((provider->verbs & VERB_BIT(verb)) == 0)
            continue;
        if (!provider->steps(verb, &world->life.desired, verb == VERB_CREATE ? NULL : &now, &steps,
                             &count, &world->life.error))
            fail_msg("%s", world->life.error.message);
        for (size_t i = 0; i < count; i++)
            provider->command(&world->life.desired, &steps[i], out);
        step_list_free(steps, count);
    }
    observed_finish(&now);
    assert_null(strstr(text_string(out), key));
    assert_null(strstr(text_string(out), "canary"));
}

/* ---- Checks that every platform's tests make ---- */

/* Checks the outcome of a creation that is refused (429), that fails with an error from the
 * platform (503) or from a proxy (502), or whose answer is lost. `path`: the path of the resource
 * that the step creates. */
static inline void check_faults(struct google_world *world, const struct step *step,
                                const char *path)
{
    static const int lost[] = { 503, 503, 502 };

    world->fake.status = 429;
    assert_int_equal(life_do(&world->life, step), STEP_RETRY);
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        world->fake.status = lost[i];
        if (lost[i] == 502)
            world->fake.answer = "<html><title>502 Bad Gateway</title></html>";
        assert_int_equal(life_do(&world->life, step), STEP_LOST);
    }
    assert_null(json_object_get(world->fake.objects, path));
    world->fake.loses_reply = true;
    assert_int_equal(life_do(&world->life, step), STEP_LOST);
    assert_non_null(json_object_get(world->fake.objects, path));
}

/* Checks that a step whose request has an unknown member fails at once, with the platform's error
 * message. */
static inline void check_unknown_member(struct google_world *world, const struct step *step)
{
    json_object_set_new(step->body, "gpus", json_integer(1));
    assert_int_equal(life_do(&world->life, step), STEP_FAILED);
    assert_non_null(strstr(world->life.error.message, "Unknown name \"gpus\""));
}

/* Runs a deployment from its creation to its destruction beside 50 resources that are not ours, in
 * two collections, and checks that there are as many resources afterwards as before. */
static inline void check_others_survive(struct google_world *world, const char *one,
                                        const char *other, const char *json)
{
    size_t before;

    for (int i = 0; i < 50; i++) {
        char path[128];

        snprintf(path, sizeof path, "%s/foreign-%d", i % 2 == 0 ? one : other, i);
        fake_server_add(world->fake.objects, path, json);
    }
    before = json_object_size(world->fake.objects);
    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    must_apply(world, VERB_START);
    must_apply(world, VERB_EXTEND);
    must_apply(world, VERB_DESTROY);
    assert_int_equal(json_object_size(world->fake.objects), before);
}
