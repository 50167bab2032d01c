/* SPDX-License-Identifier: Apache-2.0 */
/* The provider against a small strict API server (tests/clouds/fake_kubernetes.c); `./run clouds`
 * lives the same life on a real one. */
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
    "\"engine\":\"vllm\",\"model\":\"google/gemma-4-12B-it\",\"image\":\"vllm/"
    "vllm-openai:v0.23.0\","
    "\"command\":[\"vllm\",\"serve\"],\"arguments\":{\"--max-model-len\":16384},"
    "\"environment\":{\"HF_TOKEN\":{\"secret\":\"hf-secret\",\"key\":\"hf_api_token\"}},"
    "\"port\":8000,\"weights\":{\"from\":\"hub\",\"repository\":\"google/gemma-4-12B-it\"},"
    "\"probes\":{\"startup\":{\"path\":\"/health\",\"period_s\":10,\"failures\":120}},"
    "\"licence\":{\"name\":\"Gemma\"},\"hardware\":\"nvidia-l4\",\"chips\":1,"
    "\"host\":{\"cpu\":4,\"memory_gib\":16,\"shared_memory_gib\":8},\"scale\":{\"min\":1,\"max\":1}"
    ","
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

static void write_kubeconfig(struct world *world)
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

static int set_up(void **state)
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
    world->life.looks_max = 3;
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

static int tear_down(void **state)
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

static void must_apply(struct world *world, enum provider_verb verb)
{
    if (!life_apply(&world->life, verb))
        fail_msg("%s: %s: %s", provider_verb_name(verb), world->life.step,
                 world->life.error.message);
}

static struct observed look(struct world *world)
{
    struct observed now;

    if (!world->life.provider->observe(world->life.cloud, &world->life.desired, &now,
                                       &world->life.error))
        fail_msg("%s", world->life.error.message);
    return now;
}

static void check_state(struct world *world, const char *pod, const char *state, const char *phase,
                        const char *message)
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

/* ---- Requests, without a server ---- */

static struct step *make_steps(struct world *world, enum provider_verb verb, size_t *count)
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

static void check_names(struct world *world, enum provider_verb verb, const char *names)
{
    size_t count = 0;
    struct step *steps = make_steps(world, verb, &count);
    TEXT_AUTO found = { 0 };

    for (size_t i = 0; i < count; i++)
        text_addf(&found, "%s%s", i > 0 ? " " : "", steps[i].name);
    assert_string_equal(text_string(&found), names);
    step_list_free(steps, count);
}

static void test_the_end_is_there_before_the_servers(void **state)
{
    struct world *world = *state;

    check_names(world, VERB_CREATE,
                "secret-hf-secret end-account end-role end-binding end service deployment ready");
    check_names(world, VERB_STOP, "scale stopped");
    check_names(world, VERB_START, "scale ready");
    check_names(world, VERB_EXTEND, "end-account end-role end-binding end annotation");
    check_names(world, VERB_DESTROY,
                "remove-deployment gone remove-service remove-end remove-end-binding "
                "remove-end-role remove-end-account");
    world->life.desired.ends_ms = 0;
    check_names(world, VERB_CREATE, "secret-hf-secret service deployment ready");
    check_names(world, VERB_EXTEND,
                "remove-end remove-end-binding remove-end-role remove-end-account annotation");
}

static const struct step *find_step(const struct step *steps, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].name, name) == 0)
            return &steps[i];
    fail_msg("no step %s", name);
    return NULL;
}

static void test_a_deployments_body(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    const struct step *step = find_step(steps, count, "deployment");
    const json_t *spec =
        json_object_get(json_object_get(json_object_get(step->body, "spec"), "template"), "spec");
    const json_t *container = json_array_get(json_object_get(spec, "containers"), 0);
    FREE_AUTO char *text = json_write(container);

    assert_string_equal(step->url,
                        DEPLOYMENTS "gemma?fieldManager=opsbrain&fieldValidation=Strict");
    assert_string_equal(step->dry_run_url, DEPLOYMENTS
                        "gemma?fieldManager=opsbrain&fieldValidation=Strict&dryRun=All");
    assert_string_equal(step->content_type, "application/apply-patch+yaml");
    assert_non_null(strstr(text, "\"command\":[\"vllm\",\"serve\"]"));
    assert_non_null(strstr(text, "\"args\":[\"--max-model-len\",\"16384\"]"));
    assert_non_null(strstr(text, "\"secretKeyRef\":{\"name\":\"hf-secret\",\"key\":"
                                 "\"hf_api_token\"}"));
    assert_non_null(strstr(text, "\"limits\":{\"memory\":\"16Gi\",\"nvidia.com/gpu\":\"1\"}"));
    assert_non_null(strstr(text, "\"failureThreshold\":120"));
    assert_non_null(strstr(text, "\"mountPath\":\"/dev/shm\""));
    assert_false(json_is_true(json_object_get(spec, "automountServiceAccountToken")));
    assert_string_equal(json_get_text(json_object_get(spec, "nodeSelector"),
                                      "cloud.google.com/gke-accelerator", ""),
                        "nvidia-l4");
    step_list_free(steps, count);
}

static void test_the_end_may_touch_one_object(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    FREE_AUTO char *role =
        json_write(json_object_get(find_step(steps, count, "end-role")->body, "rules"));
    FREE_AUTO char *job = json_write(json_object_get(find_step(steps, count, "end")->body, "spec"));

    assert_string_equal(role, "[{\"apiGroups\":[\"apps\"],\"resources\":[\"deployments\"],"
                              "\"resourceNames\":[\"gemma\"],\"verbs\":[\"delete\"]}]");
    assert_non_null(strstr(job, "\"schedule\":\"0 17 24 11 *\""));
    assert_non_null(strstr(job, "-ge 1764003600 ]"));
    step_list_free(steps, count);
    world->life.desired.end_destroys = false;
    steps = make_steps(world, VERB_CREATE, &count);
    assert_string_equal(
        json_string_value(json_array_get(
            json_object_get(
                json_array_get(json_object_get(find_step(steps, count, "end-role")->body, "rules"),
                               0),
                "resources"),
            0)),
        "deployments/scale");
    step_list_free(steps, count);
}

static void test_the_same_input_gives_the_same_bytes(void **state)
{
    struct world *world = *state;
    size_t count = 0, again_count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    struct step *again = make_steps(world, VERB_CREATE, &again_count);

    assert_int_equal(count, again_count);
    for (size_t i = 0; i < count; i++) {
        assert_true(steps[i].body == NULL || json_equal(steps[i].body, again[i].body));
        assert_string_equal(steps[i].url, again[i].url);
    }
    step_list_free(steps, count);
    step_list_free(again, again_count);
}

static void test_names_that_kubernetes_lacks_are_refused(void **state)
{
    static const char *const names[] = { "Gemma",
                                         "1gemma",
                                         "gemma-",
                                         "a.b",
                                         "a/../b",
                                         "",
                                         "a123456789012345678901234567890123456789012345678" };
    struct world *world = *state;
    struct step *steps;
    size_t count;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        world->life.desired.deployment = names[i];
        assert_false(world->life.provider->steps(VERB_CREATE, &world->life.desired, NULL, &steps,
                                                 &count, &world->life.error));
        assert_int_equal(world->life.error.kind, ERROR_INVALID);
    }
}

static void test_commands_of_kubectl(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    TEXT_AUTO out = { 0 };

    for (size_t i = 0; i < count; i++)
        world->life.provider->command(&world->life.desired, &steps[i], &out);
    step_list_free(steps, count);
    steps = make_steps(world, VERB_DESTROY, &count);
    for (size_t i = 0; i < count; i++)
        world->life.provider->command(&world->life.desired, &steps[i], &out);
    step_list_free(steps, count);
    assert_non_null(strstr(out.data, "kubectl get secret hf-secret -n llm\n"));
    assert_non_null(strstr(out.data, "kubectl apply --server-side --field-manager=opsbrain -f -"));
    assert_non_null(strstr(out.data, "kubectl create --field-manager=opsbrain -f - <<'END'\n{\n "
                                     "\"apiVersion\": \"v1\",\n \"kind\": \"ServiceAccount\""));
    assert_non_null(strstr(out.data, "kubectl rollout status deployment/gemma -n llm\n"));
    assert_non_null(strstr(out.data, "kubectl delete deployment/gemma --cascade=foreground"));
    assert_non_null(strstr(out.data, "kubectl delete CronJob -l opsbrain/instance=inst-1,"));
    assert_non_null(strstr(out.data, "kubectl delete Service -l "));
    assert_null(strstr(out.data, "canary"));
}

/* ---- Its life ---- */

static void test_a_plan_changes_nothing(void **state)
{
    struct world *world = *state;
    size_t before = json_object_size(world->fake.objects);

    if (!life_plan(&world->life, VERB_CREATE))
        fail_msg("%s: %s", world->life.step, world->life.error.message);
    assert_int_equal(json_object_size(world->fake.objects), before);
    assert_int_equal(world->fake.changes, 0);
}

static void test_a_missing_secret_is_the_first_refusal(void **state)
{
    struct world *world = *state;

    json_object_del(world->fake.objects, SECRETS "hf-secret");
    assert_false(life_plan(&world->life, VERB_CREATE));
    assert_string_equal(world->life.step, "secret-hf-secret");
    assert_non_null(strstr(world->life.error.message, "kubectl create secret generic hf-secret"));
    assert_false(life_apply(&world->life, VERB_CREATE));
    assert_int_equal(world->fake.changes, 0);
}

static void test_phases_are_those_that_people_know(void **state)
{
    struct world *world = *state;

    check_state(world, "ready", "absent", "", "");
    snprintf(world->fake.pod, sizeof world->fake.pod, "pending");
    assert_false(life_apply(&world->life, VERB_CREATE));
    assert_int_equal(world->life.state, STEP_WAIT);
    check_state(world, "pending", "pending", "capacity", "Insufficient nvidia.com/gpu");
    check_state(world, "image", "starting", "image", "");
    check_state(world, "pull_error", "failed", "image", "Back-off pulling");
    snprintf(world->fake.log, sizeof world->fake.log,
             "Loading safetensors checkpoint shards: 42%%");
    check_state(world, "weights", "starting", "weights", "42%");
    snprintf(world->fake.log, sizeof world->fake.log, "Capturing CUDA graphs: 12%%\n");
    check_state(world, "weights", "starting", "compile", "CUDA");
    check_state(world, "crash", "failed", "weights", "exit code 137 (OOMKilled)");
    check_state(world, "ready", "ready", "ready", "");
}

/* Seen on a real cluster: nine pods for eight GPUs, all made in one second. */
static void test_the_pod_that_waits_is_the_one_that_tells(void **state)
{
    json_auto_t *deployment =
        json_loads("{\"metadata\":{\"name\":\"gemma\"},\"spec\":{\"replicas\":2},\"status\":"
                   "{\"availableReplicas\":1,\"updatedReplicas\":2,\"replicas\":2}}",
                   0, NULL);
    json_auto_t *pods = json_loads(
        "{\"items\":[{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
        "\"False\",\"message\":\"Insufficient nvidia.com/gpu\"}]}},{\"status\":{\"conditions\":"
        "[{\"type\":\"Ready\",\"status\":\"True\"}],\"containerStatuses\":[{\"state\":"
        "{\"running\":{}}}]}}]}",
        0, NULL);
    struct observed now = { 0 };

    (void)state;
    kubernetes_read(deployment, pods, NULL, &now);
    assert_string_equal(now.state, "pending");
    assert_string_equal(now.message, "Insufficient nvidia.com/gpu");
    observed_finish(&now);
}

static void test_a_node_without_a_name_is_no_place(void **state)
{
    static const char *const names[] = { "null", "7", "[\"node-1\"]" };
    json_auto_t *deployment = json_loads("{\"spec\":{\"replicas\":1}}", 0, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        TEXT_AUTO text = { 0 };
        json_auto_t *pods = NULL;
        struct observed now = { 0 };

        text_addf(&text, "{\"items\":[{\"spec\":{\"nodeName\":%s}}]}", names[i]);
        pods = json_loads(text_string(&text), 0, NULL);
        kubernetes_read(deployment, pods, NULL, &now);
        assert_string_equal(now.place, "");
        assert_string_equal(now.state, "starting");
        observed_finish(&now);
    }
}

static void test_a_whole_life(void **state)
{
    struct world *world = *state;
    struct observed now;
    size_t before = json_object_size(world->fake.objects);

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_CREATE); /* twice is once */
    assert_int_equal(json_object_size(world->fake.objects), before + 6);
    now = look(world);
    assert_true(now.exists && now.ours);
    assert_string_equal(now.state, "ready");
    assert_string_equal(now.address, "http://gemma.llm.svc:8000");
    assert_string_equal(now.image_digest, "");
    assert_int_equal(now.ends_ms, INT64_C(1764003600000));
    assert_int_equal(now.replicas, 1);
    assert_string_equal(json_get_text(now.fields, "image", ""), "vllm/vllm-openai:v0.23.0");
    assert_string_equal(now.last_changed_by, "opsbrain at 2026-01-01T00:00:00Z");
    observed_finish(&now);
    world->life.desired.replicas = 3;
    must_apply(world, VERB_SCALE);
    now = look(world);
    assert_int_equal(now.replicas, 3);
    observed_finish(&now);
    must_apply(world, VERB_STOP);
    check_state(world, "ready", "stopped", "", "");
    world->life.desired.replicas = 1;
    must_apply(world, VERB_START);
    world->life.desired.ends_ms += 3600000;
    must_apply(world, VERB_EXTEND);
    now = look(world);
    assert_int_equal(now.ends_ms, INT64_C(1764007200000));
    observed_finish(&now);
    must_apply(world, VERB_UPDATE);
    must_apply(world, VERB_DESTROY);
    check_state(world, "ready", "absent", "", "");
    assert_int_equal(json_object_size(world->fake.objects), before);
    must_apply(world, VERB_DESTROY); /* again: nothing is left to do */
}

static void test_a_server_behind_the_api_servers_proxy_is_called_with_its_token(void **state)
{
    struct world *world = *state;
    char key[SECRET_VALUE_SIZE], address[256];
    struct observed now;

    snprintf(world->target.door, sizeof world->target.door, "proxy");
    must_apply(world, VERB_CREATE);
    now = look(world);
    snprintf(address, sizeof address,
             "http://127.0.0.1:%d/api/v1/namespaces/llm/services/http:gemma:8000/proxy",
             fake_server_port(world->fake.server));
    assert_string_equal(now.address, address);
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "canary-kubernetes");
    observed_finish(&now);
}

static void test_a_server_at_a_port_has_a_key(void **state)
{
    struct world *world = *state;
    char key[SECRET_VALUE_SIZE];
    struct observed now = { .address = "http://10.0.0.7:30000",
                            .name = "gemma",
                            .resource = DEPLOYMENTS "gemma" };

    snprintf(world->target.door, sizeof world->target.door, "node_port");
    assert_false(life_apply(&world->life, VERB_CREATE));
    assert_string_equal(world->life.step, "secret-gemma-key");
    fake_server_add(world->fake.objects, SECRETS "gemma-key",
                    "{\"kind\":\"Secret\",\"data\":{\"key\":\"YWJj\"}}");
    must_apply(world, VERB_CREATE);
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "abc");
}

static void test_the_clusters_token_goes_to_no_port_that_begins_like_the_servers(void **state)
{
    struct world *world = *state;
    char key[SECRET_VALUE_SIZE];
    struct observed now = { .name = "gemma", .resource = DEPLOYMENTS "gemma" };

    fake_server_add(world->fake.objects, SECRETS "gemma-key",
                    "{\"kind\":\"Secret\",\"data\":{\"key\":\"YWJj\"}}");
    snprintf(now.address, sizeof now.address, "%s1", cloud_server(world->life.cloud));
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "abc");
    snprintf(now.address, sizeof now.address, "%s", cloud_server(world->life.cloud));
    assert_true(world->life.provider->key(world->life.cloud, &now, key, &world->life.error));
    assert_string_equal(key, "canary-kubernetes");
}

/* ---- Others' resources, and faults ---- */

static void test_what_others_made_survives_every_verb(void **state)
{
    struct world *world = *state;
    size_t before;

    for (int i = 0; i < 50; i++) {
        char path[128];

        snprintf(path, sizeof path, "%sforeign-%d",
                 i % 2 == 0 ? DEPLOYMENTS : "/api/v1/namespaces/llm/services/", i);
        fake_server_add(world->fake.objects, path,
                        "{\"metadata\":{\"labels\":{\"opsbrain/instance\":\"inst-2\","
                        "\"opsbrain/deployment\":\"gemma\"}},\"spec\":{\"replicas\":1}}");
    }
    fake_server_add(world->fake.objects, "/api/v1/namespaces/llm/serviceaccounts/gemma-endless",
                    "{\"metadata\":{\"name\":\"gemma-endless\"}}");
    before = json_object_size(world->fake.objects);
    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    must_apply(world, VERB_START);
    must_apply(world, VERB_EXTEND);
    must_apply(world, VERB_DESTROY);
    assert_int_equal(json_object_size(world->fake.objects), before);
}

static void test_anothers_of_that_name_is_not_taken(void **state)
{
    struct world *world = *state;

    fake_server_add(world->fake.objects, DEPLOYMENTS "gemma",
                    "{\"metadata\":{\"name\":\"gemma\"},\"spec\":{\"replicas\":1}}");
    assert_false(life_apply(&world->life, VERB_CREATE));
    assert_non_null(strstr(world->life.error.message, "opsbrain did not make"));
    /* and where it came between plan and apply, the request conflicts */
    {
        size_t count = 0;
        struct step *steps = make_steps(world, VERB_CREATE, &count);

        assert_int_equal(life_do(&world->life, find_step(steps, count, "deployment")), STEP_EXISTS);
        assert_non_null(strstr(world->life.error.message, "kubectl-client-side-apply"));
        step_list_free(steps, count);
    }
}

static void test_a_start_writes_the_end_that_the_plan_shows(void **state)
{
    struct world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_STOP);
    world->life.desired.ends_ms += 3600500;
    must_apply(world, VERB_START);
    now = look(world);
    assert_string_equal(now.state, "ready");
    assert_int_equal(now.ends_ms, INT64_C(1764007200000));
    observed_finish(&now);
    {
        FREE_AUTO char *job = json_write(json_object_get(
            world->fake.objects, "/apis/batch/v1/namespaces/llm/cronjobs/gemma-end"));

        assert_non_null(strstr(job, "-ge 1764007200 ]"));
    }
    world->fake.changes = 0; /* once it is written it stays */
    must_apply(world, VERB_START);
    assert_int_equal(world->fake.changes, 1);
}

static void test_anothers_account_is_not_taken(void **state)
{
    static const char path[] = "/api/v1/namespaces/llm/serviceaccounts/gemma-end";
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    const struct step *step = find_step(steps, count, "end-account");

    fake_server_add(world->fake.objects, path, "{\"metadata\":{\"name\":\"gemma-end\"}}");
    assert_int_equal(life_do(&world->life, step), STEP_EXISTS);
    assert_non_null(strstr(world->life.error.message, "already exists"));
    assert_null(json_object_get(
        json_object_get(json_object_get(world->fake.objects, path), "metadata"), "labels"));
    assert_string_equal(step->resource, path); /* what is looked at then */
    assert_string_equal(step->undo_url, path);
    step_list_free(steps, count);
}

/* A deployment that had no end gets one: no object of that name is changed by force. */
static void test_an_end_that_is_new_is_made_and_not_forced(void **state)
{
    static const enum provider_verb verbs[] = { VERB_EXTEND, VERB_UPDATE };
    struct world *world = *state;

    for (size_t i = 0; i < 4; i++) {
        struct observed now = { .exists = true,
                                .ends_ms = i % 2 == 0 ? 0 : INT64_C(1764000000000) };
        struct step *steps;
        size_t count;
        const struct step *end;

        assert_true(world->life.provider->steps(verbs[i / 2], &world->life.desired, &now, &steps,
                                                &count, &world->life.error));
        end = find_step(steps, count, "end");
        assert_int_equal(end->creates, now.ends_ms == 0);
        assert_int_equal(strstr(end->url, "force=true") == NULL, now.ends_ms == 0);
        step_list_free(steps, count);
    }
    world->life.desired.ends_ms = 0;
    must_apply(world, VERB_CREATE);
    fake_server_add(world->fake.objects, "/apis/batch/v1/namespaces/llm/cronjobs/gemma-end",
                    "{\"metadata\":{\"name\":\"gemma-end\"}}");
    world->life.desired.ends_ms = INT64_C(1764003600000);
    assert_false(life_apply(&world->life, VERB_EXTEND));
    assert_string_equal(world->life.step, "end");
    assert_int_equal(world->life.state, STEP_EXISTS);
}

static void test_an_update_leaves_the_replicas_that_an_autoscaler_set(void **state)
{
    struct world *world = *state;
    struct observed now;

    must_apply(world, VERB_CREATE);
    assert_int_equal(
        json_object_set_new(
            json_object_get(json_object_get(world->fake.objects, DEPLOYMENTS "gemma"), "spec"),
            "replicas", json_integer(5)),
        0);
    must_apply(world, VERB_UPDATE);
    now = look(world);
    assert_int_equal(now.replicas, 5);
    observed_finish(&now);
    must_apply(world, VERB_STOP); /* of a stopped one, which is started again, the recipe says */
    must_apply(world, VERB_UPDATE);
    now = look(world);
    assert_int_equal(now.replicas, 1);
    observed_finish(&now);
}

static void test_another_of_that_name_since_is_not_deleted(void **state)
{
    struct world *world = *state;
    struct step *steps;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    steps = make_steps(world, VERB_DESTROY, &count); /* of the uid u-1 */
    assert_int_equal(life_do(&world->life, find_step(steps, count, "remove-deployment")),
                     STEP_FAILED);
    assert_non_null(json_object_get(world->fake.objects, DEPLOYMENTS "gemma"));
    step_list_free(steps, count);
}

static void test_faults_are_told_apart(void **state)
{
    struct world *world = *state;
    size_t count = 0;
    struct step *steps = make_steps(world, VERB_CREATE, &count);
    struct step *step = (struct step *)(uintptr_t)find_step(steps, count, "deployment");

    world->fake.status = 429;
    assert_int_equal(life_do(&world->life, step), STEP_RETRY);
    world->fake.status = 503;
    assert_int_equal(life_do(&world->life, step), STEP_LOST);
    world->fake.loses_reply = true;
    assert_int_equal(life_do(&world->life, step), STEP_LOST);
    assert_non_null(json_object_get(world->fake.objects, DEPLOYMENTS "gemma"));
    assert_int_equal(life_do(&world->life, step), STEP_DONE); /* twice is once */
    json_object_set_new(json_object_get(step->body, "spec"), "gpus", json_integer(1));
    assert_int_equal(life_do(&world->life, step), STEP_FAILED); /* 500 without a reason */
    assert_non_null(strstr(world->life.error.message, ".spec.gpus: field not declared"));
    step_list_free(steps, count);
}

/* ---- Targets ---- */

static void test_lists_have_pages(void **state)
{
    struct world *world = *state;
    json_auto_t *warnings = json_array();
    struct observed *list = NULL;
    size_t count = 0;

    must_apply(world, VERB_CREATE);
    fake_server_add(world->fake.objects, DEPLOYMENTS "web",
                    "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"template\":{\"spec\":"
                    "{\"containers\":[{\"image\":\"nginx\"}]}}}}");
    fake_server_add(world->fake.objects, DEPLOYMENTS "theirs",
                    "{\"metadata\":{\"name\":\"theirs\"},\"spec\":{\"template\":{\"spec\":"
                    "{\"containers\":[{\"image\":\"ollama/ollama\"}]}}}}");
    for (int pages = 0; pages < 2; pages++) {
        world->fake.pages = pages == 1;
        assert_true(world->life.provider->list(world->life.cloud, &world->target, &list, &count,
                                               warnings, &world->life.error));
        assert_int_equal(count, 2);
        assert_string_equal(list[0].name, "gemma");
        assert_string_equal(list[0].instance, "inst-1");
        assert_string_equal(list[1].name, "theirs");
        assert_string_equal(list[1].instance, "");
        observed_list_free(list, count);
    }
    assert_int_equal(json_array_size(warnings), 0);
}

static void test_each_missing_right_is_named(void **state)
{
    struct world *world = *state;
    json_auto_t *findings = json_array();
    const json_t *finding;
    size_t i, missing = 0;

    snprintf(world->fake.denied, sizeof world->fake.denied, "cronjobs");
    assert_true(world->life.provider->check(world->life.cloud, &world->target, findings,
                                            &world->life.error));
    json_array_foreach(findings, i, finding) {
        bool is_cronjob = strstr(json_get_text(finding, "need", ""), "cronjobs") != NULL;

        assert_int_equal(json_get_boolean(finding, "ok", false), !is_cronjob);
        missing += is_cronjob;
        if (is_cronjob)
            assert_non_null(strstr(json_get_text(finding, "fix", ""), "--resource=cronjobs.batch"));
    }
    assert_int_equal(missing, 3);
}

static void test_targets_are_checked(void **state)
{
    struct world *world = *state;
    const struct provider *provider = world->life.provider;
    struct error error;

    assert_true(provider->check_target(&world->target, &error));
    snprintf(world->target.door, sizeof world->target.door, "open");
    assert_false(provider->check_target(&world->target, &error));
    world->target.door[0] = '\0';
    snprintf(world->target.namespace, sizeof world->target.namespace, "a/b");
    assert_false(provider->check_target(&world->target, &error));
    snprintf(world->target.namespace, sizeof world->target.namespace, "llm");
    world->target.credential.kind = CLOUD_NONE;
    assert_false(provider->check_target(&world->target, &error));
    assert_null(provider->ends_by(&(struct desired){ .ends_ms = 0 }));
    assert_non_null(provider->ends_by(&world->life.desired));
}

#define LIVE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_the_end_is_there_before_the_servers),
        LIVE(test_a_deployments_body),
        LIVE(test_the_end_may_touch_one_object),
        LIVE(test_the_same_input_gives_the_same_bytes),
        LIVE(test_names_that_kubernetes_lacks_are_refused),
        LIVE(test_commands_of_kubectl),
        LIVE(test_a_plan_changes_nothing),
        LIVE(test_a_missing_secret_is_the_first_refusal),
        LIVE(test_phases_are_those_that_people_know),
        cmocka_unit_test(test_the_pod_that_waits_is_the_one_that_tells),
        cmocka_unit_test(test_a_node_without_a_name_is_no_place),
        LIVE(test_a_whole_life),
        LIVE(test_a_server_behind_the_api_servers_proxy_is_called_with_its_token),
        LIVE(test_a_server_at_a_port_has_a_key),
        LIVE(test_the_clusters_token_goes_to_no_port_that_begins_like_the_servers),
        LIVE(test_what_others_made_survives_every_verb),
        LIVE(test_anothers_of_that_name_is_not_taken),
        LIVE(test_anothers_account_is_not_taken),
        LIVE(test_a_start_writes_the_end_that_the_plan_shows),
        LIVE(test_an_end_that_is_new_is_made_and_not_forced),
        LIVE(test_an_update_leaves_the_replicas_that_an_autoscaler_set),
        LIVE(test_another_of_that_name_since_is_not_deleted),
        LIVE(test_faults_are_told_apart),
        LIVE(test_lists_have_pages),
        LIVE(test_each_missing_right_is_named),
        LIVE(test_targets_are_checked),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
