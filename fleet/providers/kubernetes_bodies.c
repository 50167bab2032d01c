/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the objects of a deployment, in the form that server-side apply takes. */
#include <stdio.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/providers/kubernetes.h"
#include "fleet/recipes/recipe.h"

#define END_IMAGE "docker.io/curlimages/curl:8.11.1"
#define STARTUP_S 900  /* how long startup can take if the recipe has no startup probe */
#define PROGRESS_S 900 /* for scheduling and pulling the image, added to the startup time */

const char *kubernetes_accelerator(const struct recipe *recipe)
{
    return recipe_text(recipe, "kubernetes.resource", "nvidia.com/gpu");
}

const char *kubernetes_door(const struct fleet_target *target)
{
    return target->door[0] != '\0' ? target->door : "cluster";
}

json_t *kubernetes_labels(const struct desired *desired)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "app.kubernetes.io/name", desired->deployment,
                     "app.kubernetes.io/managed-by", "opsbrain", KUBERNETES_INSTANCE,
                     desired->instance, KUBERNETES_DEPLOYMENT, desired->deployment);
}

static json_t *metadata(const struct desired *desired, const char *suffix)
{
    return json_pack("{s:s++, s:s, s:o}", "name", desired->deployment, suffix, "", "namespace",
                     desired->target->namespace, "labels", kubernetes_labels(desired));
}

static json_t *object(const char *version, const char *kind, json_t *metadata)
{
    return json_pack("{s:s, s:s, s:o}", "apiVersion", version, "kind", kind, "metadata", metadata);
}

/* ---- The container ---- */

static json_t *environment(const struct desired *desired)
{
    json_t *out = json_array();
    const json_t *variables = recipe_member(desired->recipe, "environment"), *value;
    const char *name;

    json_object_foreach(json_iterable(variables), name, value) {
        const char *secret = json_get_text(value, "secret", NULL);

        if (secret != NULL)
            json_array_append_new(out, json_pack("{s:s, s:{s:{s:s, s:s}}}", "name", name,
                                                 "valueFrom", "secretKeyRef", "name", secret, "key",
                                                 json_get_text(value, "key", name)));
        else
            json_array_append_new(out, json_pack("{s:s, s:O}", "name", name, "value", value));
    }
    if (strcmp(kubernetes_door(desired->target), "node_port") == 0)
        json_array_append_new(out, json_pack("{s:s, s:{s:{s:s++, s:s}}}", "name", "VLLM_API_KEY",
                                             "valueFrom", "secretKeyRef", "name",
                                             desired->deployment, "-key", "", "key", "key"));
    return out;
}

static json_t *probe(const struct recipe *recipe, const char *name)
{
    char path[32];
    const json_t *given;
    json_t *out;
    int64_t port = recipe_integer(recipe, "port", 0);

    snprintf(path, sizeof path, "probes.%s", name);
    given = recipe_member(recipe, path);
    if (given == NULL)
        return NULL;
    out = json_pack("{s:I, s:I, s:I, s:I}", "initialDelaySeconds",
                    (json_int_t)json_get_integer(given, "initial_s", 0), "periodSeconds",
                    (json_int_t)json_get_integer(given, "period_s", 10), "timeoutSeconds",
                    (json_int_t)json_get_integer(given, "timeout_s", 5), "failureThreshold",
                    (json_int_t)json_get_integer(given, "failures", 3));
    if (json_object_get(given, "path") != NULL)
        json_object_set_new(out, "httpGet",
                            json_pack("{s:s, s:I}", "path", json_get_text(given, "path", "/"),
                                      "port", (json_int_t)port));
    else
        json_object_set_new(out, "tcpSocket", json_pack("{s:I}", "port", (json_int_t)port));
    return out;
}

static void add_probes(const struct recipe *recipe, json_t *container)
{
    static const char *const names[][2] = { { "startup", "startupProbe" },
                                            { "readiness", "readinessProbe" },
                                            { "liveness", "livenessProbe" } };

    for (size_t i = 0; i < 3; i++) {
        json_t *value = probe(recipe, names[i][0]);

        if (value != NULL)
            json_object_set_new(container, names[i][1], value);
    }
    /* without a readiness probe, the pod would be ready as soon as its container has started */
    if (json_object_get(container, "readinessProbe") == NULL)
        json_object_set_new(container, "readinessProbe",
                            json_pack("{s:{s:s, s:I}, s:i}", "httpGet", "path", "/health", "port",
                                      (json_int_t)recipe_integer(recipe, "port", 0),
                                      "periodSeconds", 10));
}

static json_t *resources(const struct recipe *recipe)
{
    json_t *requests = json_object(), *limits = json_object();
    int64_t cpu = recipe_integer(recipe, "host.cpu", 0);
    int64_t memory = recipe_integer(recipe, "host.memory_gib", 0);

    if (cpu > 0)
        json_object_set_new(requests, "cpu", json_sprintf("%lld", (long long)cpu));
    if (memory > 0) {
        json_object_set_new(requests, "memory", json_sprintf("%lldGi", (long long)memory));
        json_object_set_new(limits, "memory", json_sprintf("%lldGi", (long long)memory));
    }
    if (recipe->chips > 0) {
        json_t *chips = json_sprintf("%lld", (long long)recipe->chips);

        json_object_set(requests, kubernetes_accelerator(recipe), chips);
        json_object_set_new(limits, kubernetes_accelerator(recipe), chips);
    }
    return json_pack("{s:o, s:o}", "requests", requests, "limits", limits);
}

static void add_volume(json_t *pod, json_t *container, const char *name, const char *path,
                       bool read_only, json_t *source)
{
    json_t *mount = json_pack("{s:s, s:s}", "name", name, "mountPath", path);

    if (read_only)
        json_object_set_new(mount, "readOnly", json_true());
    json_object_set_new(source, "name", json_string(name));
    json_array_append_new(json_object_get(container, "volumeMounts"), mount);
    json_array_append_new(json_object_get(pod, "volumes"), source);
}

static void add_volumes(const struct desired *desired, json_t *pod, json_t *container)
{
    const struct recipe *recipe = desired->recipe;
    const char *from = recipe_text(recipe, "weights.from", "hub");
    const char *at = recipe_text(recipe, "weights.mounted_at", "");
    int64_t shared_gib = recipe_integer(recipe, "host.shared_memory_gib", 0);

    json_object_set_new(container, "volumeMounts", json_array());
    json_object_set_new(pod, "volumes", json_array());
    if (shared_gib > 0)
        add_volume(pod, container, "shm", "/dev/shm", false,
                   json_pack("{s:{s:s, s:o}}", "emptyDir", "medium", "Memory", "sizeLimit",
                             json_sprintf("%lldGi", (long long)shared_gib)));
    if (strcmp(from, "bucket") == 0 && at[0] != '\0')
        add_volume(pod, container, "weights", at, true,
                   json_pack("{s:{s:s, s:b, s:{s:s, s:s}}}", "csi", "driver",
                             "gcsfuse.csi.storage.gke.io", "readOnly", 1, "volumeAttributes",
                             "bucketName", desired->target->bucket, "mountOptions",
                             "implicit-dirs"));
    if (strcmp(from, "mounted") == 0 && at[0] != '\0')
        add_volume(pod, container, "weights", at, true,
                   json_pack("{s:{s:s, s:b}}", "persistentVolumeClaim", "claimName",
                             recipe_text(recipe, "kubernetes.claim", "models"), "readOnly", 1));
}

static json_t *make_container(const struct desired *desired)
{
    const struct recipe *recipe = desired->recipe;
    json_t *container =
        json_pack("{s:s, s:s, s:o, s:[{s:s, s:I}], s:o, s:{s:b}}", "name", "server", "image",
                  recipe->image, "env", environment(desired), "ports", "name", "http",
                  "containerPort", (json_int_t)recipe_integer(recipe, "port", 0), "resources",
                  resources(recipe), "securityContext", "allowPrivilegeEscalation", 0);

    provider_set_program(desired, container);
    add_probes(recipe, container);
    return container;
}

/* ---- The Deployment ---- */

/* Returns the recipe's node labels, each "KEY=VALUE", as {KEY: VALUE}. Adds GKE's label for spot
 * nodes if the kind is "spot". */
static json_t *node_selector(const struct desired *desired)
{
    const json_t *labels = recipe_member(desired->recipe, "kubernetes.node_labels"), *label;
    json_t *out = json_object();
    size_t i;

    json_array_foreach(labels, i, label) {
        const char *text = json_string_value(label);
        const char *value = text != NULL ? strchr(text, '=') : NULL;
        FREE_AUTO char *key = value != NULL ? strndup(text, (size_t)(value - text)) : NULL;

        if (key != NULL)
            json_object_set_new(out, key, json_string(value + 1));
    }
    if (strcmp(desired->kind, "spot") == 0)
        json_object_set_new(out, "cloud.google.com/gke-spot", json_string("true"));
    return out;
}

static json_t *make_pod(const struct desired *desired)
{
    json_t *container = make_container(desired);
    json_t *pod = json_pack("{s:b, s:b, s:{s:{s:s}}, s:o, s:[o]}", "automountServiceAccountToken",
                            0, "enableServiceLinks", 0, "securityContext", "seccompProfile", "type",
                            "RuntimeDefault", "nodeSelector", node_selector(desired), "containers",
                            container);

    if (desired->target->service_account[0] != '\0')
        json_object_set_new(pod, "serviceAccountName",
                            json_string(desired->target->service_account));
    /* nodes with accelerators often have a taint that keeps other pods away */
    if (desired->recipe->chips > 0)
        json_object_set_new(pod, "tolerations",
                            json_pack("[{s:s, s:s, s:s}]", "key",
                                      kubernetes_accelerator(desired->recipe), "operator", "Exists",
                                      "effect", "NoSchedule"));
    add_volumes(desired, pod, container);
    return pod;
}

static int64_t startup_s(const struct recipe *recipe)
{
    int64_t tries = recipe_integer(recipe, "probes.startup.failures", 0);

    if (tries == 0)
        return STARTUP_S;
    return recipe_integer(recipe, "probes.startup.initial_s", 0)
           + tries * recipe_integer(recipe, "probes.startup.period_s", 10);
}

static json_t *pod_metadata(const struct desired *desired)
{
    json_t *out = json_pack("{s:o}", "labels", kubernetes_labels(desired));

    if (strcmp(recipe_text(desired->recipe, "weights.from", ""), "bucket") == 0)
        json_object_set_new(out, "annotations", json_pack("{s:s}", "gke-gcsfuse/volumes", "true"));
    return out;
}

json_t *kubernetes_end_notes(const struct desired *desired)
{
    char ends[CLOCK_TEXT_SIZE] = "never";

    if (desired->ends_ms > 0)
        clock_format_utc(desired->ends_ms, ends);
    return json_pack("{s:s, s:s}", KUBERNETES_ENDS, ends, KUBERNETES_AT_END,
                     desired_at_end(desired));
}

static json_t *annotations(const struct desired *desired)
{
    json_t *out = kubernetes_end_notes(desired);

    json_object_set_new(out, "opsbrain/recipe", json_string(desired->recipe->name));
    json_object_set_new(out, "opsbrain/model", json_string(desired->recipe->model));
    return out;
}

json_t *kubernetes_deployment(const struct desired *desired)
{
    json_t *about = metadata(desired, "");
    json_t *out = object("apps/v1", "Deployment", about);
    json_t *selector = json_pack("{s:s, s:s}", KUBERNETES_INSTANCE, desired->instance,
                                 KUBERNETES_DEPLOYMENT, desired->deployment);

    json_object_set_new(about, "annotations", annotations(desired));
    json_object_set_new(
        out, "spec",
        json_pack("{s:I, s:{s:o}, s:{s:s, s:{s:i, s:i}}, s:I, s:i, s:{s:o, s:o}}", "replicas",
                  (json_int_t)desired_replicas(desired), "selector", "matchLabels", selector,
                  "strategy", "type", "RollingUpdate", "rollingUpdate", "maxUnavailable", 0,
                  "maxSurge", 1, "progressDeadlineSeconds",
                  (json_int_t)(startup_s(desired->recipe) + PROGRESS_S), "revisionHistoryLimit", 5,
                  "template", "metadata", pod_metadata(desired), "spec", make_pod(desired)));
    return out;
}

json_t *kubernetes_service(const struct desired *desired)
{
    bool is_node_port = strcmp(kubernetes_door(desired->target), "node_port") == 0;
    json_t *out = object("v1", "Service", metadata(desired, ""));

    json_object_set_new(out, "spec",
                        json_pack("{s:s, s:{s:s, s:s}, s:[{s:s, s:I, s:s, s:s}]}", "type",
                                  is_node_port ? "NodePort" : "ClusterIP", "selector",
                                  KUBERNETES_INSTANCE, desired->instance, KUBERNETES_DEPLOYMENT,
                                  desired->deployment, "ports", "name", "http", "port",
                                  (json_int_t)recipe_integer(desired->recipe, "port", 0),
                                  "targetPort", "http", "protocol", "TCP"));
    return out;
}

/* ---- The end ---- */

json_t *kubernetes_end_account(const struct desired *desired)
{
    return object("v1", "ServiceAccount", metadata(desired, "-end"));
}

json_t *kubernetes_end_role(const struct desired *desired)
{
    json_t *out = object("rbac.authorization.k8s.io/v1", "Role", metadata(desired, "-end"));

    json_object_set_new(
        out, "rules",
        json_pack("[{s:[s], s:[s], s:[s], s:[s]}]", "apiGroups", "apps", "resources",
                  desired->end_destroys ? "deployments" : "deployments/scale", "resourceNames",
                  desired->deployment, "verbs", desired->end_destroys ? "delete" : "patch"));
    return out;
}

json_t *kubernetes_end_binding(const struct desired *desired)
{
    json_t *out = object("rbac.authorization.k8s.io/v1", "RoleBinding", metadata(desired, "-end"));

    json_object_set_new(out, "roleRef",
                        json_pack("{s:s, s:s, s:s++}", "apiGroup", "rbac.authorization.k8s.io",
                                  "kind", "Role", "name", desired->deployment, "-end", ""));
    json_object_set_new(out, "subjects",
                        json_pack("[{s:s, s:s++, s:s}]", "kind", "ServiceAccount", "name",
                                  desired->deployment, "-end", "", "namespace",
                                  desired->target->namespace));
    return out;
}

/* The command does nothing before the end: a cron schedule has no year, so the job can also run in
 * an earlier year. API and ACCOUNT are variables, so that tests can run the command outside a
 * pod. */
static json_t *end_command(const struct desired *desired)
{
    static const char destroy[] = "-X DELETE \"$API/apis/apps/v1/namespaces/%s/deployments/%s\"";
    static const char stop[] =
        "-X PATCH -H 'Content-Type: application/merge-patch+json' -d '{\"spec\":{\"replicas\":0}}' "
        "\"$API/apis/apps/v1/namespaces/%s/deployments/%s/scale\"";
    TEXT_AUTO script = { 0 };

    text_addf(
        &script,
        "[ \"$(date +%%s)\" -ge %lld ] || exit 0; curl -sS --fail-with-body --retry 5 "
        "--cacert \"$ACCOUNT/ca.crt\" -H \"Authorization: Bearer $(cat \"$ACCOUNT/token\")\" ",
        (long long)(desired->ends_ms / 1000));
    if (desired->end_destroys)
        text_addf(&script, destroy, desired->target->namespace, desired->deployment);
    else
        text_addf(&script, stop, desired->target->namespace, desired->deployment);
    return json_pack("[s, s, s]", "/bin/sh", "-c", text_string(&script));
}

static json_t *end_container(const struct desired *desired)
{
    return json_pack("{s:s, s:s, s:o, s:[{s:s, s:s}, {s:s, s:s}], s:{s:{s:s, s:s}, s:{s:s, s:s}}, "
                     "s:{s:b, s:b, s:b, s:i, s:{s:[s]}}}",
                     "name", "end", "image", END_IMAGE, "command", end_command(desired), "env",
                     "name", "API", "value", "https://kubernetes.default.svc", "name", "ACCOUNT",
                     "value", "/var/run/secrets/kubernetes.io/serviceaccount", "resources",
                     "requests", "cpu", "10m", "memory", "32Mi", "limits", "cpu", "100m", "memory",
                     "64Mi", "securityContext", "allowPrivilegeEscalation", 0,
                     "readOnlyRootFilesystem", 1, "runAsNonRoot", 1, "runAsUser", 65534,
                     "capabilities", "drop", "ALL");
}

json_t *kubernetes_end_job(const struct desired *desired)
{
    json_t *out = object("batch/v1", "CronJob", metadata(desired, "-end"));
    json_t *pod =
        json_pack("{s:s++, s:s, s:{s:{s:s}}, s:[o]}", "serviceAccountName", desired->deployment,
                  "-end", "", "restartPolicy", "OnFailure", "securityContext", "seccompProfile",
                  "type", "RuntimeDefault", "containers", end_container(desired));

    json_object_set_new(out, "spec",
                        json_pack("{s:o, s:s, s:s, s:{s:{s:i, s:i, s:{s:{s:o}, s:o}}}}", "schedule",
                                  provider_schedule(desired->ends_ms), "timeZone", "Etc/UTC",
                                  "concurrencyPolicy", "Forbid", "jobTemplate", "spec",
                                  "backoffLimit", 20, "ttlSecondsAfterFinished", 86400, "template",
                                  "metadata", "labels", kubernetes_labels(desired), "spec", pod));
    return out;
}
