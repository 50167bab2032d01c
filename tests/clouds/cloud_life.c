/* SPDX-License-Identifier: Apache-2.0 */
/* cloud_life FOLDER: runs the provider "kubernetes" against a real control plane, which
 * tests/clouds/kubernetes/life.sh has started. FOLDER has the kubeconfigs admin.yaml and
 * viewer.yaml, and the folder "account", which stands in for the service account's folder in a pod.
 * Prints a line for each check, and ends at the first that fails. */
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/recipes/recipe.h"
#include "tests/clouds/provider_life.h"

#define DEPLOYMENTS "/apis/apps/v1/namespaces/llm/deployments"

static const char recipe_json[] =
    "{\"name\":\"gke-small\",\"revision\":1,\"title\":\"A small one\",\"provider\":\"kubernetes\","
    "\"engine\":\"vllm\",\"model\":\"google/gemma-4-12B-it\",\"image\":\"vllm/"
    "vllm-openai:v0.23.0\","
    "\"command\":[\"vllm\",\"serve\"],\"arguments\":{\"--max-model-len\":16384},"
    "\"environment\":{\"HF_TOKEN\":{\"secret\":\"hf-secret\",\"key\":\"hf_api_token\"}},"
    "\"port\":8000,\"weights\":{\"from\":\"hub\",\"repository\":\"google/gemma-4-12B-it\"},"
    "\"probes\":{\"startup\":{\"path\":\"/health\",\"period_s\":10,\"failures\":120},"
    "\"liveness\":{\"path\":\"/health\",\"period_s\":60,\"failures\":3}},"
    "\"licence\":{\"name\":\"Gemma\"},\"hardware\":\"nvidia-l4\",\"chips\":1,"
    "\"host\":{\"cpu\":4,\"memory_gib\":16,\"shared_memory_gib\":8},\"scale\":{\"min\":1,\"max\":1}"
    ","
    "\"status\":\"reported\",\"source\":\"made up\",\"as_of\":\"2026-01-01\","
    "\"kubernetes\":{\"node_labels\":[\"cloud.google.com/gke-accelerator=nvidia-l4\"]}}";

static void check(const struct life *life, bool holds, const char *what)
{
    printf("%s  %s\n", holds ? "ok  " : "FAIL", what);
    if (holds)
        return;
    printf("      step %s, state %d: %s\n", life->step, (int)life->state, life->error.message);
    exit(1);
}

static struct cloud *open_cloud(const char *folder, const char *file,
                                const struct cloud_endpoints *endpoints)
{
    struct cloud_credential credential = { .kind = CLOUD_KUBECONFIG };
    const struct cloud_config config = { .secrets_folder = folder, .endpoints = endpoints };
    struct cloud *cloud = NULL;
    struct error error;

    snprintf(credential.file, sizeof credential.file, "%s", file);
    if (!cloud_create(&credential, &config, &cloud, &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    return cloud;
}

static struct observed look(struct life *life)
{
    struct observed now;

    if (!life->provider->observe(life->cloud, &life->desired, &now, &life->error))
        check(life, false, "the deployment can be observed");
    return now;
}

/* Returns whether the deployment has the state; life->error describes the state that it has. */
static bool has_state(struct life *life, const char *state)
{
    struct observed now = look(life);
    bool has = strcmp(now.state, state) == 0;

    snprintf(life->error.message, sizeof life->error.message, "it is %s (%s): %.200s", now.state,
             now.phase, now.message);
    observed_finish(&now);
    return has;
}

/* Waits up to 15 s for the state; returns whether the deployment reached it. */
static bool comes_to(struct life *life, const char *state)
{
    for (int i = 0; i < 60; i++) {
        if (has_state(life, state))
            return true;
        usleep(250000);
    }
    return false;
}

static bool send_json(struct life *life, const char *method, const char *url, const char *type,
                      const char *text, json_t **out)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    json_auto_t *body = text != NULL ? json_loads(text, 0, NULL) : NULL;
    bool done = cloud_call(life->cloud, method, url, type, body, &reply, &life->error);

    if (done && out != NULL)
        *out = json_incref(reply.body);
    return done;
}

static size_t count_of(struct life *life, const char *url)
{
    json_auto_t *list = NULL;

    check(life, send_json(life, "GET", url, NULL, NULL, &list), url);
    return json_array_size(json_object_get(list, "items"));
}

/* ---- The parts of a deployment's life ---- */

static void check_account(struct life *life, struct cloud *viewer)
{
    json_auto_t *findings = json_array();
    const json_t *finding;
    size_t i, missing = 0;

    check(life, life->provider->check(life->cloud, life->desired.target, findings, &life->error),
          "an admin's rights can be checked");
    json_array_foreach(findings, i, finding)
        missing += !json_get_boolean(finding, "ok", false);
    check(life, missing == 0, "the admin has every right that is needed");
    json_array_clear(findings);
    check(life, life->provider->check(viewer, life->desired.target, findings, &life->error),
          "a viewer's rights can be checked");
    json_array_foreach(findings, i, finding)
        missing += !json_get_boolean(finding, "ok", false);
    check(life, missing == json_array_size(findings),
          "the viewer has none of the rights that are needed");
}

static void check_creation(struct life *life)
{
    struct observed now;

    check(life, life_plan(life, VERB_CREATE), "every request passes its dry run");
    check(life, has_state(life, "absent"), "a plan creates nothing");
    check(life, life_apply(life, VERB_CREATE), "the deployment is created, and becomes ready");
    now = look(life);
    check(life, now.ours && now.uid[0] != '\0' && now.ends_ms == life->desired.ends_ms,
          "its labels, its uid and its end time can be read back");
    check(life, strcmp(now.address, "http://gemma.llm.svc:8000") == 0,
          "its address is that of its Service");
    check(life, strcmp(now.place, "gpu-1") == 0 || now.place[0] == '\0',
          "its node, if known, is the one with GPUs");
    observed_finish(&now);
    check(life, life_apply(life, VERB_CREATE), "creating it again succeeds");
    check(life, count_of(life, DEPLOYMENTS) == 2,
          "there are still only two Deployments: ours and somebody else's");
}

static void check_scaling(struct life *life)
{
    life->desired.replicas = 2;
    check(life, life_apply(life, VERB_SCALE), "it is scaled to 2 replicas");
    check(life, life_apply(life, VERB_STOP), "it is stopped, and its pods are gone");
    check(life, has_state(life, "stopped"), "its state is 'stopped'");
    life->desired.replicas = 9; /* there are 8 GPUs */
    check(life, !life_apply(life, VERB_START) && comes_to(life, "pending"),
          "with 9 replicas for 8 GPUs, the start does not finish: it is pending");
    check(life, strstr(life->error.message, "Insufficient nvidia.com/gpu") != NULL,
          "the message is the scheduler's");
    life->desired.replicas = 1;
    check(life, life_apply(life, VERB_START), "it is started with 1 replica");
}

static void check_drift(struct life *life)
{
    static const char change[] =
        "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"gemma\"},"
        "\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"server\",\"image\":"
        "\"nginx:other\"}]}}}}";
    struct observed now;
    struct step *steps = NULL;
    size_t count = 0;

    check(life,
          send_json(life, "PATCH", DEPLOYMENTS "/gemma?fieldManager=somebody&force=true",
                    "application/apply-patch+yaml", change, NULL),
          "somebody else changes the image");
    now = look(life);
    check(life, strcmp(json_get_text(now.fields, "image", ""), "nginx:other") == 0,
          "the changed image is observed");
    check(life, strncmp(now.last_changed_by, "somebody at ", 12) == 0,
          "the observation says who changed it");
    check(life,
          life->provider->steps(VERB_CREATE, &life->desired, &now, &steps, &count, &life->error),
          "the steps for a creation can be made");
    for (size_t i = 0; i < count && strcmp(life->step, "deployment") != 0; i++)
        life_do(life, &steps[i]);
    check(life, life->state == STEP_EXISTS && strstr(life->error.message, "somebody") != NULL,
          "a creation does not overwrite the image");
    step_list_free(steps, count);
    observed_finish(&now);
    check(life, life_apply(life, VERB_UPDATE), "an update overwrites it");
    now = look(life);
    check(life, strcmp(json_get_text(now.fields, "image", ""), "vllm/vllm-openai:v0.23.0") == 0,
          "the image is ours again");
    observed_finish(&now);
}

static void check_wrong_field(struct life *life)
{
    struct observed now = look(life);
    struct step *steps = NULL;
    size_t count = 0;

    check(life,
          life->provider->steps(VERB_UPDATE, &life->desired, &now, &steps, &count, &life->error),
          "the steps for an update can be made");
    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].name, "deployment") == 0) {
            json_object_set_new(json_object_get(steps[i].body, "spec"), "gpus", json_integer(1));
            life_do(life, &steps[i]);
        }
    check(life, life->state == STEP_FAILED,
          "a request with an unknown field (500 without a reason) fails at once");
    check(life, strstr(life->error.message, "field not declared in schema") != NULL,
          "the message says that the field is unknown");
    step_list_free(steps, count);
    observed_finish(&now);
}

static void check_quota(struct life *life)
{
    check(life, life_apply(life, VERB_STOP), "it is stopped");
    check(life,
          send_json(life, "POST", "/api/v1/namespaces/llm/resourcequotas", NULL,
                    "{\"metadata\":{\"name\":\"none\"},\"spec\":{\"hard\":{\"pods\":\"0\"}}}",
                    NULL),
          "a quota of 0 pods is set");
    usleep(1500000); /* until the quota's controller has counted the pods */
    check(life, !life_apply(life, VERB_START) && comes_to(life, "pending"),
          "the start does not finish: it is pending");
    check(life, strstr(life->error.message, "exceeded quota") != NULL,
          "the message says that the quota is exceeded");
    check(life,
          send_json(life, "DELETE", "/api/v1/namespaces/llm/resourcequotas/none", NULL, NULL, NULL),
          "the quota is removed");
    check(life, life_apply(life, VERB_STOP) && life_apply(life, VERB_START),
          "it is stopped and started again");
}

/* Runs the CronJob's command on this machine, with a token for the CronJob's account. Returns the
 * command's exit status; -1 if a signal ended it. */
static int run_end(struct life *life, const char *folder)
{
    json_auto_t *job = NULL;
    json_auto_t *token = NULL;
    const json_t *container;
    const char *script;
    char path[1024];
    FILE *file;
    pid_t child;
    int status = -1;

    check(
        life,
        send_json(life, "GET", "/apis/batch/v1/namespaces/llm/cronjobs/gemma-end", NULL, NULL, &job)
            && send_json(life, "POST", "/api/v1/namespaces/llm/serviceaccounts/gemma-end/token",
                         NULL, "{\"spec\":{}}", &token),
        "the CronJob is read, and a token for its account is created");
    container = json_array_get(
        json_object_get(
            json_object_get(
                json_object_get(
                    json_object_get(json_object_get(json_object_get(job, "spec"), "jobTemplate"),
                                    "spec"),
                    "template"),
                "spec"),
            "containers"),
        0);
    script = json_string_value(json_array_get(json_object_get(container, "command"), 2));
    snprintf(path, sizeof path, "%s/account/token", folder);
    file = fopen(path, "w");
    fputs(json_get_text(json_object_get(token, "status"), "token", ""), file);
    fclose(file);
    *strrchr(path, '/') = '\0';
    child = fork();
    if (child == 0) {
        setenv("API", cloud_server(life->cloud), 1);
        setenv("ACCOUNT", path, 1);
        if (freopen("/dev/null", "w", stdout) != NULL)
            execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_end(struct life *life, const char *folder)
{
    check(life, run_end(life, folder) == 0 && has_state(life, "ready"),
          "before the deployment's end time, the CronJob's command does nothing");
    life->desired.ends_ms = clock_utc_ms() - 60000;
    check(life, life_apply(life, VERB_EXTEND), "its end time is moved to a minute ago");
    check(life, run_end(life, folder) == 0 && comes_to(life, "absent"),
          "the CronJob's command deletes the deployment");
    check(life, run_end(life, folder) != 0, "run a second time, the command fails");
    check(life, count_of(life, DEPLOYMENTS) == 1, "somebody else's Deployment stays");
}

static void check_destruction(struct life *life)
{
    check(life, life_apply(life, VERB_DESTROY), "a destroy removes the rest");
    check(life, count_of(life, "/apis/batch/v1/namespaces/llm/cronjobs") == 0,
          "no CronJob is left");
    check(life, count_of(life, "/api/v1/namespaces/llm/services") == 0, "no Service is left");
    check(life, count_of(life, "/apis/rbac.authorization.k8s.io/v1/namespaces/llm/roles") == 0,
          "no Role is left");
    check(life, count_of(life, "/api/v1/namespaces/llm/serviceaccounts") == 1,
          "the only service account left is the namespace's own");
    check(life, count_of(life, DEPLOYMENTS) == 1, "somebody else's Deployment stays");
}

static void check_list(struct life *life)
{
    struct observed *list = NULL;
    json_auto_t *warnings = json_array();
    size_t count = 0;

    check(life,
          life->provider->list(life->cloud, life->desired.target, &list, &count, warnings,
                               &life->error)
              && count == 1 && strcmp(list[0].name, "gemma") == 0,
          "of two Deployments, only the one that serves a model is listed");
    observed_list_free(list, count);
}

static void live(struct life *life, struct cloud *viewer, const char *folder)
{
    check_account(life, viewer);
    check(life,
          send_json(life, "POST", DEPLOYMENTS, NULL,
                    "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"replicas\":0,\"selector\":"
                    "{\"matchLabels\":{\"app\":\"web\"}},\"template\":{\"metadata\":{\"labels\":"
                    "{\"app\":\"web\"}},\"spec\":{\"containers\":[{\"name\":\"web\",\"image\":"
                    "\"nginx\"}]}}}}",
                    NULL),
          "somebody else creates a Deployment");
    check_creation(life);
    check_list(life);
    check_scaling(life);
    check_drift(life);
    check_wrong_field(life);
    check_quota(life);
    check_end(life, folder);
    check_destruction(life);
}

int main(int count, char **arguments)
{
    static const struct fleet_target target = { .name = "real",
                                                .provider = "kubernetes",
                                                .namespace = "llm",
                                                .credential = { CLOUD_KUBECONFIG, "admin.yaml" } };
    struct cloud_endpoints *endpoints = NULL;
    struct life life = { .provider = provider_find("kubernetes"),
                         .polls_max = 60,
                         .pause_ms = 250 };
    struct recipe recipe;
    struct cloud *viewer;

    if (count != 2 || !outbound_global_init(&life.error)
        || !cloud_endpoints_create("", &endpoints, &life.error)
        || !recipe_parse(recipe_json, strlen(recipe_json), &recipe, &life.error)) {
        fprintf(stderr, "%s\n", life.error.message);
        return 1;
    }
    life.cloud = open_cloud(arguments[1], "admin.yaml", endpoints);
    viewer = open_cloud(arguments[1], "viewer.yaml", endpoints);
    life.desired = (struct desired){ .target = &target,
                                     .recipe = &recipe,
                                     .deployment = "gemma",
                                     .instance = "inst-1",
                                     .place = "",
                                     .kind = "on_demand",
                                     .ends_ms = (clock_utc_ms() / 1000 + 3600) * 1000,
                                     .end_destroys = true,
                                     .request_seed = "plan-1" };
    live(&life, viewer, arguments[1]);
    cloud_destroy(viewer);
    cloud_destroy(life.cloud);
    cloud_endpoints_destroy(endpoints);
    recipe_finish(&recipe);
    return 0;
}
