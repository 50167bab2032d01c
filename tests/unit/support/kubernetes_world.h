/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture for the tests of the provider "kubernetes": a fake API server
 * (tests/clouds/fake_kubernetes.c), a target, a recipe and a deployment. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/providers/kubernetes.h"
#include "fleet/recipes/recipe.h"
#include "tests/clouds/fake_kubernetes.h"
#include "tests/clouds/provider_life.h"
#include "tests/unit/support/folder.h"

#define DEPLOYMENTS "/apis/apps/v1/namespaces/llm/deployments/"
#define SECRETS "/api/v1/namespaces/llm/secrets/"

static const char recipe_json[] =
    "{\"name\":\"gke-small\",\"revision\":1,\"title\":\"A small one\",\"provider\":\"kubernetes\","
    "\"engine\":\"vllm\",\"model\":\"google/gemma-4-12B-it\","
    "\"image\":\"vllm/vllm-openai:v0.23.0\","
    "\"command\":[\"vllm\",\"serve\"],\"arguments\":{\"--max-model-len\":16384},"
    "\"environment\":{\"HF_TOKEN\":{\"secret\":\"hf-secret\",\"key\":\"hf_api_token\"}},"
    "\"port\":8000,\"weights\":{\"from\":\"hub\",\"repository\":\"google/gemma-4-12B-it\"},"
    "\"probes\":{\"startup\":{\"path\":\"/health\",\"period_s\":10,\"failures\":120}},"
    "\"licence\":{\"name\":\"Gemma\"},\"hardware\":\"nvidia-l4\",\"chips\":1,"
    "\"host\":{\"cpu\":4,\"memory_gib\":16,\"shared_memory_gib\":8},"
    "\"scale\":{\"min\":1,\"max\":1},"
    "\"status\":\"reported\",\"source\":\"made up\",\"as_of\":\"2026-01-01\","
    "\"kubernetes\":{\"node_labels\":[\"cloud.google.com/gke-accelerator=nvidia-l4\"]}}";

struct world {
    struct fake_kubernetes fake;
    struct cloud_endpoints *endpoints;
    struct recipe recipe;
    struct fleet_target target;
    struct life life;
    char folder[FOLDER_SIZE];
};

static inline void write_kubeconfig(struct world *world)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/lab.yaml", world->folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:%d'}}]\n"
            "users: [{name: robot, user: {token: canary-kubernetes}}]\n"
            "contexts: [{name: x, context: {cluster: c, user: robot, namespace: llm}}]\n"
            "current-context: x\n",
            fake_server_port(world->fake.server));
    fclose(file);
}

static inline int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    const struct cloud_config config = { .secrets_folder = world->folder };
    struct cloud_config with_endpoints = config;
    struct error error = { 0 };

    fake_kubernetes_start(&world->fake);
    fake_server_add(world->fake.objects, SECRETS "hf-secret", "{\"kind\":\"Secret\"}");
    folder_create(world->folder);
    write_kubeconfig(world);
    world->target = (struct fleet_target){ .name = "lab",
                                           .provider = "kubernetes",
                                           .namespace = "llm",
                                           .credential = { CLOUD_KUBECONFIG, "lab.yaml" } };
    assert_true(cloud_endpoints_create("", &world->endpoints, &error));
    with_endpoints.endpoints = world->endpoints;
    if (!recipe_parse(recipe_json, strlen(recipe_json), &world->recipe, &error)
        || !cloud_create(&world->target.credential, &with_endpoints, &world->life.cloud, &error))
        fail_msg("%s", error.message);
    world->life.provider = provider_find("kubernetes");
    world->life.polls_max = 3;
    world->life.desired = (struct desired){ .target = &world->target,
                                            .recipe = &world->recipe,
                                            .deployment = "gemma",
                                            .instance = "inst-1",
                                            .place = "",
                                            .kind = "on_demand",
                                            .ends_ms = INT64_C(1764003600000),
                                            .end_destroys = true,
                                            .request_seed = "plan-1" };
    *state = world;
    return 0;
}

static inline int tear_down(void **state)
{
    struct world *world = *state;

    cloud_destroy(world->life.cloud);
    cloud_endpoints_destroy(world->endpoints);
    recipe_finish(&world->recipe);
    fake_kubernetes_stop(&world->fake);
    folder_remove(world->folder);
    free(world);
    return 0;
}

static inline void must_apply(struct world *world, enum provider_verb verb)
{
    if (!life_apply(&world->life, verb))
        fail_msg("%s: %s: %s", provider_verb_name(verb), world->life.step,
                 world->life.error.message);
}

/* Observes the deployment. Free the result with observed_finish. */
static inline struct observed look(struct world *world)
{
    struct observed now;

    if (!world->life.provider->observe(world->life.cloud, &world->life.desired, &now,
                                       &world->life.error))
        fail_msg("%s", world->life.error.message);
    return now;
}

/* Makes `pod` the state of the fake's pods (fake_kubernetes.h). Then observes the deployment, and
 * checks its `state`, its `phase`, and that its message contains `message`. */
static inline void check_state(struct world *world, const char *pod, const char *state,
                               const char *phase, const char *message)
{
    struct observed now;

    snprintf(world->fake.pod, sizeof world->fake.pod, "%s", pod);
    now = look(world);
    assert_string_equal(now.state, state);
    assert_string_equal(now.phase, phase);
    if (strstr(now.message, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, now.message);
    observed_finish(&now);
}

/* ---- Steps ---- */

static inline struct step *make_steps(struct world *world, enum provider_verb verb, size_t *count)
{
    struct observed now = {
        .exists = verb != VERB_CREATE, .ours = true, .uid = "u-1", .ends_ms = INT64_C(1764003600000)
    };
    struct step *steps = NULL;

    if (!world->life.provider->steps(verb, &world->life.desired, &now, &steps, count,
                                     &world->life.error))
        fail_msg("%s", world->life.error.message);
    return steps;
}

static inline const struct step *find_step(const struct step *steps, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].name, name) == 0)
            return &steps[i];
    fail_msg("there is no step \"%s\"", name);
    return NULL;
}

/* A test with its own fake API server. */
#define LIVE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
