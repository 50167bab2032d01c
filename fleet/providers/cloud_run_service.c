/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the body of a service, refuses what Cloud Run would refuse, and warns about what is unwise
 * there. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/cloud_run.h"
#include "fleet/recipes/recipe.h"

#define MEMORY_AT "/mnt/memory"
/* The longest time, in seconds, before the first try of a startup or liveness probe, and also
 * between tries (run.googleapis.com v2, Probe). */
#define STARTUP_MAX_S 240
#define LIVENESS_MAX_S 3600

#define TIMEOUT_MAX_S 3600
#define NAME_SIZE 50 /* for the last part of a service's name, with its NUL */

const char *cloud_run_name(const struct desired *desired, char out[CLOUD_RUN_NAME_SIZE])
{
    snprintf(out, CLOUD_RUN_NAME_SIZE, "projects/%.63s/locations/%.63s/services/%.63s",
             desired->target->project, desired->place, desired->deployment);
    return out;
}

json_t *cloud_run_scaling(const struct desired *desired)
{
    int64_t most = desired_replicas(desired), least = 0;

    if (desired->recipe != NULL)
        least = recipe_integer(desired->recipe, "scale.min", 0);
    return json_pack("{s:s, s:I, s:I}", "scalingMode", "AUTOMATIC", "minInstanceCount",
                     (json_int_t)(least < most ? least : most), "maxInstanceCount",
                     (json_int_t)most);
}

/* ---- The container ---- */

static json_t *environment(const struct recipe *recipe)
{
    const json_t *variables = recipe_member(recipe, "environment"), *value;
    json_t *out = json_array();
    const char *name;

    json_object_foreach(json_iterable(variables), name, value) {
        const char *secret = json_get_text(value, "secret", NULL);

        json_array_append_new(
            out, secret != NULL ? json_pack("{s:s, s:{s:{s:s, s:s}}}", "name", name, "valueSource",
                                            "secretKeyRef", "secret", secret, "version", "latest")
                                : json_pack("{s:s, s:O}", "name", name, "value", value));
    }
    return out;
}

static json_t *probe(const struct recipe *recipe, const char *name)
{
    json_int_t port = recipe_integer(recipe, "port", 0);
    int64_t period_s;
    const json_t *given;
    char path[32];
    json_t *out;

    snprintf(path, sizeof path, "probes.%s", name);
    given = recipe_member(recipe, path);
    if (given == NULL)
        return NULL;
    period_s = json_get_integer(given, "period_s", 10);
    out = json_pack("{s:I, s:I, s:I, s:I}", "initialDelaySeconds",
                    (json_int_t)json_get_integer(given, "initial_s", 0), "timeoutSeconds",
                    (json_int_t)json_get_integer(given, "timeout_s", period_s > 10 ? 10 : 1),
                    "periodSeconds", (json_int_t)period_s, "failureThreshold",
                    (json_int_t)json_get_integer(given, "failures", 3));
    if (json_object_get(given, "path") != NULL)
        json_object_set_new(
            out, "httpGet",
            json_pack("{s:s, s:I}", "path", json_get_text(given, "path", "/"), "port", port));
    else
        json_object_set_new(out, "tcpSocket", json_pack("{s:I}", "port", port));
    return out;
}

static bool copies_weights(const struct recipe *recipe)
{
    return json_is_true(recipe_member(recipe, "weights.copied_to_memory"));
}

/* Makes the container copy the weights to memory, and then run the program with their new path. */
static void add_copying(const struct desired *desired, json_t *container)
{
    const struct recipe *recipe = desired->recipe;
    json_t *argv = recipe_argv(recipe, desired->deployment);
    json_t *command = json_pack("[s, s, s, s]", "/bin/sh", "-c",
                                "cp -r \"$0\" " MEMORY_AT "/ && exec \"$@\"", "");
    TEXT_AUTO from = { 0 };
    TEXT_AUTO to = { 0 };
    const json_t *word;
    size_t i;

    text_addf(&from, "%s/%s", recipe_text(recipe, "weights.mounted_at", ""),
              recipe_text(recipe, "weights.folder", ""));
    text_addf(&to, MEMORY_AT "/%s", recipe_text(recipe, "weights.folder", ""));
    json_array_set_new(command, 3, json_string(text_string(&from)));
    json_array_foreach(argv, i, word)
        if (strcmp(json_string_value(word), text_string(&from)) == 0)
            json_array_set_new(argv, i, json_string(text_string(&to)));
    json_object_set_new(container, "command", command);
    json_object_set_new(container, "args", argv);
}

static json_t *resources(const struct recipe *recipe)
{
    json_t *limits = json_pack(
        "{s:o, s:o}", "cpu", json_sprintf("%lld", (long long)recipe_integer(recipe, "host.cpu", 4)),
        "memory", json_sprintf("%lldGi", (long long)recipe_integer(recipe, "host.memory_gib", 16)));

    if (recipe->chips > 0)
        json_object_set_new(limits, "nvidia.com/gpu", json_string("1"));
    /* cpuIdle must be false with a GPU. If limits are given, false is the default, but it is sent
     * so that the plan shows it. */
    return json_pack("{s:o, s:b, s:b}", "limits", limits, "cpuIdle", 0, "startupCpuBoost", 1);
}

static json_t *make_container(const struct desired *desired)
{
    static const char *const probes[][2] = { { "startup", "startupProbe" },
                                             { "liveness", "livenessProbe" } };
    const struct recipe *recipe = desired->recipe;
    json_t *out =
        json_pack("{s:s, s:o, s:[{s:s, s:I}], s:o}", "image", recipe->image, "env",
                  environment(recipe), "ports", "name", "http1", "containerPort",
                  (json_int_t)recipe_integer(recipe, "port", 8080), "resources", resources(recipe));

    (copies_weights(recipe) ? add_copying : provider_set_program)(desired, out);
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        json_t *value = probe(recipe, probes[i][0]);

        if (value != NULL)
            json_object_set_new(out, probes[i][1], value);
    }
    return out;
}

static void add_volume(json_t *template, json_t *container, const char *name, const char *path,
                       json_t *source)
{
    json_object_set_new(source, "name", json_string(name));
    json_array_append_new(json_object_get(template, "volumes"), source);
    json_array_append_new(json_object_get(container, "volumeMounts"),
                          json_pack("{s:s, s:s}", "name", name, "mountPath", path));
}

static void add_volumes(const struct desired *desired, json_t *template, json_t *container)
{
    const struct recipe *recipe = desired->recipe;
    const char *at = recipe_text(recipe, "weights.mounted_at", "");
    const json_t *options = recipe_member(recipe, "cloud_run.mount_options");
    int64_t shared_gib = recipe_integer(recipe, "host.shared_memory_gib", 0);

    json_object_set_new(template, "volumes", json_array());
    json_object_set_new(container, "volumeMounts", json_array());
    if (strcmp(recipe_text(recipe, "weights.from", ""), "bucket") == 0 && at[0] != '\0')
        add_volume(template, container, "models", at,
                   json_pack("{s:{s:s, s:b, s:o}}", "gcs", "bucket", desired->target->bucket,
                             "readOnly", 1, "mountOptions",
                             options != NULL ? json_deep_copy(options) : json_array()));
    if (copies_weights(recipe))
        add_volume(template, container, "memory", MEMORY_AT,
                   json_pack("{s:{s:s}}", "emptyDir", "medium", "MEMORY"));
    if (shared_gib > 0)
        add_volume(template, container, "shm", "/dev/shm",
                   json_pack("{s:{s:s, s:o}}", "emptyDir", "medium", "MEMORY", "sizeLimit",
                             json_sprintf("%lldGi", (long long)shared_gib)));
}

/* ---- The service ---- */

static void add_placement(const struct desired *desired, json_t *template)
{
    const struct recipe *recipe = desired->recipe;
    const struct fleet_target *target = desired->target;

    if (target->service_account[0] != '\0')
        json_object_set_new(template, "serviceAccount", json_string(target->service_account));
    if (recipe->chips > 0) {
        json_object_set_new(template, "nodeSelector",
                            json_pack("{s:s}", "accelerator",
                                      recipe_text(recipe, "cloud_run.accelerator", "nvidia-l4")));
        json_object_set_new(
            template, "gpuZonalRedundancyDisabled",
            json_boolean(!json_is_true(recipe_member(recipe, "cloud_run.zonal_redundancy"))));
    }
    if (target->network[0] != '\0')
        json_object_set_new(template, "vpcAccess",
                            json_pack("{s:s, s:[{s:s, s:s}]}", "egress", "ALL_TRAFFIC",
                                      "networkInterfaces", "network", target->network, "subnetwork",
                                      target->subnetwork));
}

static json_t *make_template(const struct desired *desired)
{
    const struct recipe *recipe = desired->recipe;
    json_t *container = make_container(desired);
    json_t *out = json_pack(
        "{s:o, s:s, s:o, s:I, s:{s:I, s:I}, s:[o]}", "labels", google_labels(desired),
        "executionEnvironment", "EXECUTION_ENVIRONMENT_GEN2", "timeout",
        json_sprintf("%llds",
                     (long long)recipe_integer(recipe, "cloud_run.timeout_s", TIMEOUT_MAX_S)),
        "maxInstanceRequestConcurrency",
        (json_int_t)recipe_integer(recipe, "scale.concurrency",
                                   recipe_integer(recipe, "arguments.--max-num-seqs", 8)),
        "scaling", "minInstanceCount", (json_int_t)recipe_integer(recipe, "scale.min", 0),
        "maxInstanceCount", (json_int_t)desired_replicas(desired), "containers", container);

    add_placement(desired, out);
    add_volumes(desired, out, container);
    return out;
}

json_t *cloud_run_service(const struct desired *desired)
{
    return json_pack("{s:s, s:o, s:s, s:b, s:s, s:s, s:o, s:o, s:[{s:s, s:i}]}", "description",
                     desired->recipe->title, "labels", google_labels(desired), "ingress",
                     "INGRESS_TRAFFIC_ALL", "invokerIamDisabled", 0, "client", "opsbrain",
                     "clientVersion", OPSBRAIN_VERSION, "scaling", cloud_run_scaling(desired),
                     "template", make_template(desired), "traffic", "type",
                     "TRAFFIC_TARGET_ALLOCATION_TYPE_LATEST", "percent", 100);
}

/* ---- Refusals ---- */

static const struct gpu {
    const char *accelerator;
    int64_t cpu, memory_gib;
    const char *regions; /* each has a space before and after it */
} gpus[] = {
    { "nvidia-l4", 4, 16,
      " asia-southeast1 asia-south1 europe-west1 europe-west4 us-central1 us-east4 " },
    { "nvidia-rtx-pro-6000", 20, 80, " asia-southeast1 asia-south2 europe-west4 us-central1 " },
};

static CHECKED bool check_gpu(const struct desired *desired, struct error *error)
{
    const struct recipe *recipe = desired->recipe;
    const char *accelerator = recipe_text(recipe, "cloud_run.accelerator", "nvidia-l4");
    const struct gpu *gpu = &gpus[0];
    char place[FLEET_PLACE_SIZE + 2];

    while (gpu < gpus + 2 && strcmp(gpu->accelerator, accelerator) != 0)
        gpu++;
    if (gpu == gpus + 2)
        return error_set(error, ERROR_INVALID,
                         "Cloud Run has no accelerator %s: the recipe's \"cloud_run.accelerator\" "
                         "must be nvidia-l4 or nvidia-rtx-pro-6000",
                         accelerator);
    if (recipe->chips != 1)
        return error_set(error, ERROR_INVALID,
                         "a Cloud Run instance has exactly one GPU, but the recipe needs %lld",
                         (long long)recipe->chips);
    if (recipe_integer(recipe, "host.cpu", 4) < gpu->cpu
        || recipe_integer(recipe, "host.memory_gib", 16) < gpu->memory_gib)
        return error_set(error, ERROR_INVALID,
                         "on Cloud Run %s needs at least %lld vCPUs and %lld GiB of memory: raise "
                         "the recipe's \"host.cpu\" or \"host.memory_gib\"",
                         accelerator, (long long)gpu->cpu, (long long)gpu->memory_gib);
    snprintf(place, sizeof place, " %.60s ", desired->place);
    if (strstr(gpu->regions, place) == NULL)
        return error_set(error, ERROR_INVALID, "Cloud Run has no %s in %s: use one of%s",
                         accelerator, desired->place, gpu->regions);
    return true;
}

static CHECKED bool check_probe(const struct recipe *recipe, const char *name, int64_t most_s,
                                struct error *error)
{
    json_auto_t *value = probe(recipe, name);

    if (value == NULL)
        return true;
    if (json_get_integer(value, "initialDelaySeconds", 0) > most_s
        || json_get_integer(value, "periodSeconds", 0) > most_s
        || json_get_integer(value, "timeoutSeconds", 0)
               > json_get_integer(value, "periodSeconds", 0))
        return error_set(
            error, ERROR_INVALID,
            "in the recipe's \"probes.%s\", Cloud Run allows an \"initial_s\" and a \"period_s\" "
            "of at most %lld s, and a \"timeout_s\" of at most the period",
            name, (long long)most_s);
    return true;
}

bool cloud_run_check(const struct desired *desired, struct error *error)
{
    const struct recipe *recipe = desired->recipe;

    if (!provider_check_name(desired->deployment, "Cloud Run", NAME_SIZE, error))
        return false;
    if (recipe == NULL)
        return true;
    if (recipe->image[0] == '\0')
        return error_set(error, ERROR_INVALID, "on Cloud Run a recipe needs an image");
    if (recipe_integer(recipe, "cloud_run.timeout_s", 0) > TIMEOUT_MAX_S)
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"cloud_run.timeout_s\" is %lld: on Cloud Run a request may "
                         "take at most %d s",
                         (long long)recipe_integer(recipe, "cloud_run.timeout_s", 0),
                         TIMEOUT_MAX_S);
    if (strcmp(recipe_text(recipe, "weights.from", ""), "bucket") == 0
        && desired->target->bucket[0] == '\0')
        return error_set(error, ERROR_INVALID,
                         "the recipe's weights are in a bucket, but the target %s has no "
                         "\"bucket\": set it",
                         desired->target->name);
    return (recipe->chips == 0 || check_gpu(desired, error))
           && check_probe(recipe, "startup", STARTUP_MAX_S, error)
           && check_probe(recipe, "liveness", LIVENESS_MAX_S, error)
           && google_check_secrets(recipe, error);
}

void cloud_run_lint(const struct desired *desired, json_t *warnings)
{
    const struct recipe *recipe = desired->recipe;
    const struct google_warning rows[] = {
        { recipe_integer(recipe, "scale.min", 0) == 0,
          "The service scales to zero when it is idle: the next request then waits for a whole "
          "start. An idle instance is billed for about 15 minutes." },
        { recipe->chips > 0 && recipe_integer(recipe, "scale.max", 1) > 1,
          "Each instance takes a GPU from the quota, and a measurement covers all instances "
          "together." },
    };

    google_warn(rows, sizeof rows / sizeof rows[0], warnings);
}
