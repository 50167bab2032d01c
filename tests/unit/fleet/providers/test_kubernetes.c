/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the provider "kubernetes": the requests that it makes, and a deployment from creation to
 * destruction. `./run clouds` also creates and destroys a deployment on a real control plane. */
#include "fleet/managed/managed_document.h"
#include "tests/unit/support/kubernetes_world.h"

/* ---- Requests that are not sent ---- */

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

/* The objects that end a deployment are created before its servers. */
static void test_the_steps_of_verbs_with_and_without_an_end(void **state)
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

static void test_a_secret_that_two_variables_use_is_checked_once(void **state)
{
    struct world *world = *state;
    json_t *variables = json_object_get(world->recipe.document, "environment");

    json_object_set_new(variables, "HUGGING_FACE_HUB_TOKEN",
                        json_pack("{s:s}", "secret", "hf-secret"));
    world->life.desired.ends_ms = 0;
    check_names(world, VERB_CREATE, "secret-hf-secret service deployment ready");
}

static void test_a_long_secret_name_is_shown_in_full(void **state)
{
    static const char name[] =
        "a-name-of-more-than-63-characters-which-the-name-of-a-step-cannot-hold";
    struct world *world = *state;
    json_t *variables = json_object_get(world->recipe.document, "environment");
    size_t count = 0;
    struct step *steps;
    TEXT_AUTO command = { 0 };

    json_object_clear(variables);
    json_object_set_new(variables, "HF_TOKEN", json_pack("{s:s}", "secret", name));
    steps = make_steps(world, VERB_CREATE, &count);
    world->life.provider->command(&world->life.desired, &steps[0], &command);
    assert_non_null(strstr(text_string(&command), name));
    step_list_free(steps, count);
}

static void test_the_request_body_of_a_deployment(void **state)
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

static void test_the_cronjob_is_allowed_only_to_delete_or_scale_its_deployment(void **state)
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

static void test_the_same_input_gives_the_same_requests(void **state)
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

static void test_a_creation_with_a_wrong_or_too_long_name_is_refused(void **state)
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

/* If others chose the name, only its length is checked, and only before an end is created: the
 * name of the CronJob contains the deployment's name. */
static void test_an_adopted_deployment_can_have_any_valid_name(void **state)
{
    static const char *const names[] = {
        "1.gemma", "a12345678901234567890123456789012345678901234567890123456789012"
    };
    struct world *world = *state;
    struct observed now = { .exists = true, .replicas = 1 };
    struct error *error = &world->life.error;
    struct step *steps;
    size_t count;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        static const enum provider_verb verbs[] = { VERB_STOP, VERB_START, VERB_SCALE, VERB_EXTEND,
                                                    VERB_DESTROY };

        world->life.desired.deployment = names[i];
        world->life.desired.ends_ms = 0;
        for (size_t j = 0; j < sizeof verbs / sizeof verbs[0]; j++) {
            if (!world->life.provider->steps(verbs[j], &world->life.desired, &now, &steps, &count,
                                             error))
                fail_msg("%s %s: %s", provider_verb_name(verbs[j]), names[i], error->message);
            step_list_free(steps, count);
        }
    }
    world->life.desired.ends_ms = INT64_C(1764003600000);
    assert_false(world->life.provider->steps(VERB_EXTEND, &world->life.desired, &now, &steps,
                                             &count, error));
    assert_non_null(strstr(error->message, "cannot be given an end: the CronJob that ends it"));
}

static void test_requests_are_shown_as_kubectl_commands(void **state)
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
    steps = make_steps(world, VERB_EXTEND, &count);
    world->life.provider->command(&world->life.desired, &steps[count - 1], &out);
    step_list_free(steps, count);
    assert_non_null(strstr(out.data, "kubectl get secret hf-secret -n llm\n"));
    assert_non_null(strstr(out.data, "kubectl apply --server-side --field-manager=opsbrain -f -"));
    assert_non_null(strstr(out.data, "kubectl create --field-manager=opsbrain -f - <<'END'\n{\n "
                                     "\"apiVersion\": \"v1\",\n \"kind\": \"ServiceAccount\""));
    assert_non_null(strstr(out.data, "kubectl rollout status deployment/gemma -n llm\n"));
    assert_non_null(strstr(out.data, "kubectl delete deployment/gemma --cascade=foreground"));
    assert_non_null(strstr(out.data, "kubectl delete cronjobs -l opsbrain/instance=inst-1,"));
    assert_non_null(strstr(out.data, "kubectl delete services -l "));
    assert_non_null(strstr(out.data, "kubectl annotate --overwrite deployment/gemma "
                                     "'opsbrain/ends=2025-11-24T17:00:00.000Z' "
                                     "'opsbrain/at-end=destroy' -n llm\n"));
    assert_null(strstr(out.data, "canary"));
}

/* ---- From creation to destruction, and what is observed ---- */

static void test_a_plan_changes_nothing(void **state)
{
    struct world *world = *state;
    size_t before = json_object_size(world->fake.objects);

    if (!life_plan(&world->life, VERB_CREATE))
        fail_msg("%s: %s", world->life.step, world->life.error.message);
    assert_int_equal(json_object_size(world->fake.objects), before);
    assert_int_equal(world->fake.changes, 0);
}

static void test_a_missing_secret_is_found_by_the_first_step(void **state)
{
    struct world *world = *state;

    json_object_del(world->fake.objects, SECRETS "hf-secret");
    assert_false(life_plan(&world->life, VERB_CREATE));
    assert_string_equal(world->life.step, "secret-hf-secret");
    assert_non_null(strstr(world->life.error.message, "kubectl create secret generic hf-secret"));
    assert_false(life_apply(&world->life, VERB_CREATE));
    assert_int_equal(world->fake.changes, 0);
}

static void test_the_phase_is_derived_from_the_pod_and_its_log(void **state)
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

/* Whoever added a variable to the container might have put a secret into it. */
static void test_drift_shows_additions_to_a_container_but_not_the_values_of_variables(void **state)
{
    json_auto_t *before = json_loads("{\"spec\":{\"template\":{\"spec\":{\"containers\":"
                                     "[{\"image\":\"vllm\"}]}}}}",
                                     0, NULL);
    json_auto_t *after = json_loads("{\"spec\":{\"template\":{\"spec\":{\"containers\":"
                                    "[{\"image\":\"vllm\",\"args\":[\"--x\"],\"env\":"
                                    "[{\"name\":\"TOKEN\",\"value\":\"canary\"}]}]}}}}",
                                    0, NULL);
    struct observed first = { 0 }, second = { 0 };
    TEXT_AUTO drift = { 0 };

    (void)state;
    kubernetes_read(before, NULL, NULL, &first);
    kubernetes_read(after, NULL, NULL, &second);
    managed_document_differences(first.fields, second.fields, 400, &drift);
    assert_non_null(strstr(drift.data, "args null -> [\"--x\"]"));
    assert_non_null(strstr(drift.data, "env \""));
    assert_null(strstr(drift.data, "canary"));
    assert_null(strstr(drift.data, "image"));
    observed_finish(&first);
    observed_finish(&second);
}

/* Removes the digests of hidden credentials: a space and 16 hexadecimal digits at the end of a
 * string. */
static void drop_digests(char *shown)
{
    for (char *at = strchr(shown, ' '); at != NULL; at = strchr(at + 1, ' '))
        if (strspn(at + 1, "0123456789abcdef") == 16 && at[17] == '"')
            memmove(at, at + 17, strlen(at + 17) + 1);
}

/* Words that might be part of the credential are hidden, too. */
static void test_a_credential_in_a_command_line_is_not_shown(void **state)
{
    static const struct {
        const char *container, *shown;
    } cases[] = {
        { "{\"args\":[\"--api-key\",\"canary\",\"canary-2\",\"--port\",\"8000\"]}",
          "[\"--api-key\",\"(hidden)\",\"(hidden)\",\"--port\",\"8000\"]" },
        { "{\"args\":[\"--hf-token=canary\",\"--max-num-batched-tokens=8192\"]}",
          "[\"--hf-token (hidden)\",\"--max-num-batched-tokens=8192\"]" },
        { "{\"args\":[\"-c\",\"vllm serve m --api-key 'canary' --port 8000\"]}",
          "[\"-c\",\"vllm serve m --api-key (hidden)\"]" },
        { "{\"args\":[\"--header\",\"x: sk-canary0123456789abcdef\"]}",
          "[\"--header\",\"x: (hidden)\"]" },
        { "{\"args\":[\"http://me:canary@hub/models\"]}", "[\"http://(hidden)@hub/models\"]" },
        { "{\"command\":[\"vllm\",\"--api-key\"],\"args\":[\"-canary\"]}", "[\"(hidden)\"]" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_auto_t *container = json_loads(cases[i].container, 0, NULL);
        json_auto_t *fields = json_object();
        FREE_AUTO char *shown = NULL;

        provider_compare_container(container, fields);
        shown = json_write(json_object_get(fields, "args"));
        drop_digests(shown);
        assert_string_equal(shown, cases[i].shown);
    }
}

static void test_a_changed_credential_in_a_command_line_is_drift(void **state)
{
    json_auto_t *before = json_loads("{\"args\":[\"--api-key\",\"canary\"]}", 0, NULL);
    json_auto_t *after = json_loads("{\"args\":[\"--api-key\",\"other\"]}", 0, NULL);
    json_auto_t *first = json_object(), *second = json_object();
    TEXT_AUTO drift = { 0 };

    (void)state;
    provider_compare_container(before, first);
    provider_compare_container(after, second);
    managed_document_differences(first, second, 400, &drift);
    assert_int_equal(strncmp(drift.data, "args [\"--api-key\",\"(hidden) ", 28), 0);
    assert_null(strstr(drift.data, "canary"));
    assert_null(strstr(drift.data, "other"));
}

/* These pods have no creation time, so only their conditions tell which one explains the state. */
static void test_the_waiting_pod_explains_the_state(void **state)
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

static void test_no_digest_is_read_from_an_image_id_without_one(void **state)
{
    static const char *const ids[] = { "null", "7", "[\"sha256:0123\"]", "\"vllm:latest\"" };
    json_auto_t *deployment = json_loads("{\"spec\":{\"replicas\":1}}", 0, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        TEXT_AUTO text = { 0 };
        json_auto_t *pods = NULL;
        struct observed now = { 0 };

        text_addf(&text, "{\"items\":[{\"status\":{\"containerStatuses\":[{\"imageID\":%s}]}}]}",
                  ids[i]);
        pods = json_loads(text_string(&text), 0, NULL);
        assert_non_null(pods);
        kubernetes_read(deployment, pods, "", &now);
        assert_string_equal(now.image_digest, "");
        assert_string_equal(now.state, "starting");
        observed_finish(&now);
    }
}

static void test_a_deployment_goes_through_all_verbs(void **state)
{
    struct world *world = *state;
    struct observed now;
    size_t before = json_object_size(world->fake.objects);

    must_apply(world, VERB_CREATE);
    must_apply(world, VERB_CREATE); /* a creation can be repeated */
    assert_int_equal(json_object_size(world->fake.objects), before + 6);
    now = look(world);
    assert_true(now.exists && now.ours);
    assert_string_equal(now.state, "ready");
    assert_string_equal(now.address, "http://gemma.llm.svc:8000");
    assert_string_equal(now.image_digest, "sha256:0123");
    assert_string_equal(now.place, world->life.desired.place);
    assert_int_equal(now.ends_ms, INT64_C(1764003600000));
    assert_string_equal(now.at_end, "destroy");
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
    must_apply(world, VERB_DESTROY); /* there is nothing left to do */
}

static void test_the_clusters_token_is_the_key_of_a_server_behind_the_proxy(void **state)
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

static void test_a_server_at_a_node_port_has_a_key(void **state)
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

static void test_a_node_port_is_refused_for_engines_that_read_no_key(void **state)
{
    struct world *world = *state;
    struct step *steps = NULL;
    size_t count = 0;

    snprintf(world->target.door, sizeof world->target.door, "node_port");
    strcpy(world->recipe.engine, "ollama");
    assert_false(world->life.provider->steps(VERB_CREATE, &world->life.desired, NULL, &steps,
                                             &count, &world->life.error));
    assert_non_null(strstr(world->life.error.message, "opsbrain passes one only to vLLM"));
    step_list_free(steps, count);
}

static void test_the_clusters_token_is_not_sent_to_a_port_with_one_more_digit(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE(test_the_steps_of_verbs_with_and_without_an_end),
        LIVE(test_a_secret_that_two_variables_use_is_checked_once),
        LIVE(test_a_long_secret_name_is_shown_in_full),
        LIVE(test_the_request_body_of_a_deployment),
        LIVE(test_the_cronjob_is_allowed_only_to_delete_or_scale_its_deployment),
        LIVE(test_the_same_input_gives_the_same_requests),
        LIVE(test_a_creation_with_a_wrong_or_too_long_name_is_refused),
        LIVE(test_an_adopted_deployment_can_have_any_valid_name),
        LIVE(test_requests_are_shown_as_kubectl_commands),
        LIVE(test_drift_shows_additions_to_a_container_but_not_the_values_of_variables),
        cmocka_unit_test(test_a_credential_in_a_command_line_is_not_shown),
        cmocka_unit_test(test_a_changed_credential_in_a_command_line_is_drift),
        LIVE(test_a_plan_changes_nothing),
        LIVE(test_a_missing_secret_is_found_by_the_first_step),
        LIVE(test_the_phase_is_derived_from_the_pod_and_its_log),
        cmocka_unit_test(test_the_waiting_pod_explains_the_state),
        cmocka_unit_test(test_no_digest_is_read_from_an_image_id_without_one),
        LIVE(test_a_deployment_goes_through_all_verbs),
        LIVE(test_the_clusters_token_is_the_key_of_a_server_behind_the_proxy),
        LIVE(test_a_server_at_a_node_port_has_a_key),
        LIVE(test_a_node_port_is_refused_for_engines_that_read_no_key),
        LIVE(test_the_clusters_token_is_not_sent_to_a_port_with_one_more_digit),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
