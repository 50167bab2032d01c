/* SPDX-License-Identifier: Apache-2.0 */
/* Observes one service, or lists the services with model servers in the target's regions. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/cloud_run.h"

/* ---- One service ---- */

/* Returns the message of the first unfulfilled condition, which shows what the service is waiting
 * for, or "" if there is none. Sets *phase to "image" or "weights" accordingly. */
static const char *waiting_for(const json_t *service, const char **phase)
{
    static const char *const image_reasons[] = { "CONTAINER_MISSING", "CONTAINER_PERMISSION_DENIED",
                                                 NULL };
    const json_t *condition;
    size_t i;

    *phase = "weights"; /* Cloud Run does not report any phase after this one */
    json_array_foreach(json_object_get(service, "conditions"), i, condition) {
        const char *state = json_get_text(condition, "state", "");
        const char *reason = json_get_text(condition, "reason", "");

        if (strcmp(state, "CONDITION_SUCCEEDED") == 0)
            continue;
        if (google_is_one_of(reason, image_reasons)
            || strcmp(json_get_text(condition, "type", ""), "ConfigurationsReady") == 0)
            *phase = "image";
        return json_get_text(condition, "message", "");
    }
    return "";
}

static void read_state(const json_t *service, struct observed *out)
{
    const json_t *terminal = json_object_get(service, "terminalCondition");
    const json_t *scaling = json_object_get(service, "scaling");
    const char *state = json_get_text(terminal, "state", "");
    const char *phase, *message = waiting_for(service, &phase);
    bool is_manual = strcmp(json_get_text(scaling, "scalingMode", ""), "MANUAL") == 0;
    char sentence[480];

    if (json_object_get(service, "deleteTime") != NULL)
        observed_set_state(out, "deleting", "", "");
    else if (json_get_boolean(service, "reconciling", false))
        observed_set_state(out, "starting", phase, message);
    else if (strcmp(state, "CONDITION_FAILED") == 0) {
        const char *reason = json_get_text(terminal, "revisionReason",
                                           json_get_text(terminal, "reason", "no reason given"));

        snprintf(sentence, sizeof sentence, "%.380s (%.64s)",
                 json_get_text(terminal, "message", "it failed"), reason);
        observed_set_state(out, "failed", phase, sentence);
    } else if (is_manual && json_get_integer(scaling, "manualInstanceCount", 0) == 0)
        observed_set_state(out, "stopped", "", "");
    else if (strcmp(state, "CONDITION_SUCCEEDED") == 0)
        observed_set_state(out, "ready", "ready", "");
    else
        observed_set_state(out, "starting", phase, message);
}

static bool scales_to_zero(const json_t *service)
{
    const json_t *scaling = json_object_get(service, "scaling");
    const json_t *revision_scaling =
        json_object_get(json_object_get(service, "template"), "scaling");

    return strcmp(json_get_text(scaling, "scalingMode", ""), "MANUAL") != 0
           && json_get_integer(scaling, "minInstanceCount", 0) == 0
           && json_get_integer(revision_scaling, "minInstanceCount", 0) == 0;
}

static json_t *fields_of(const json_t *service)
{
    const json_t *template = json_object_get(service, "template");
    const json_t *container = json_array_get(json_object_get(template, "containers"), 0);
    const json_t *scaling = json_object_get(service, "scaling");
    json_t *out = json_object();

    provider_compare_container(container, out);
    if (scaling != NULL)
        json_object_set_new(out, "scaling", json_deep_copy(scaling));
    json_object_set_new(out, "ingress", json_string(json_get_text(service, "ingress", "")));
    json_object_set_new(out, "invokerIamDisabled",
                        json_boolean(json_get_boolean(service, "invokerIamDisabled", false)));
    return out;
}

void cloud_run_read(const json_t *service, struct observed *out)
{
    const json_t *template = json_object_get(service, "template");
    const char *revision = json_get_text(service, "latestReadyRevision", "");
    const char *image;

    out->exists = true;
    google_read_name(CLOUD_RUN, json_get_text(service, "name", ""), out);
    read_state(service, out);
    out->fields = fields_of(service);
    google_read_labels(json_object_get(service, "labels"), out);
    image = json_get_text(out->fields, "image", "");
    text_copy(out->uid, sizeof out->uid, json_get_text(service, "uid", ""));
    text_copy(out->etag, sizeof out->etag, json_get_text(service, "etag", ""));
    text_copy(out->address, sizeof out->address, json_get_text(service, "uri", ""));
    text_copy(out->revision, sizeof out->revision, google_last_part(revision));
    if (strstr(image, "sha256:") != NULL)
        text_copy(out->image_digest, sizeof out->image_digest, strstr(image, "sha256:"));
    text_copy(out->machine, sizeof out->machine,
              json_get_text(json_object_get(template, "nodeSelector"), "accelerator", ""));
    snprintf(out->generation, sizeof out->generation, "%lld",
             (long long)google_integer(service, "generation"));
    observed_write(out->last_changed_by, sizeof out->last_changed_by, "%.128s at %.40s",
                   json_get_text(service, "lastModifier", "somebody"),
                   json_get_text(service, "updateTime", "an unknown time"));
    out->replicas = json_get_integer(json_object_get(service, "scaling"), "maxInstanceCount", 0);
    out->sleeps = scales_to_zero(service);
}

bool cloud_run_observe(struct cloud *cloud, const struct desired *desired, struct observed *out,
                       struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char name[CLOUD_RUN_NAME_SIZE];

    *out = (struct observed){ 0 };
    snprintf(out->resource, sizeof out->resource, CLOUD_RUN "%s", cloud_run_name(desired, name));
    if (!cloud_read(cloud, out->resource, &reply, error)) {
        observed_set_state(out, "absent", "", "");
        return reply.status == 404;
    }
    cloud_run_read(reply.body, out);
    out->ours = observed_is_of(out, desired);
    return true;
}

/* ---- Listing ---- */

static bool serves_models(const json_t *service)
{
    const json_t *template = json_object_get(service, "template");
    const json_t *container = json_array_get(json_object_get(template, "containers"), 0);
    const json_t *limits = json_object_get(json_object_get(container, "resources"), "limits");

    return json_object_get(limits, "nvidia.com/gpu") != NULL
           || json_object_get(json_object_get(service, "labels"), GOOGLE_INSTANCE) != NULL
           || strstr(json_get_text(container, "image", ""), "vllm") != NULL
           || strstr(json_get_text(container, "image", ""), "ollama") != NULL;
}

static void read_page(const json_t *page, const struct google_found *found)
{
    const json_t *service;
    size_t i;

    json_array_foreach(json_object_get(page, "services"), i, service)
        if (serves_models(service))
            cloud_run_read(service, observed_list_add(found->list, found->count));
}

bool cloud_run_list(struct cloud *cloud, const struct fleet_target *target, struct observed **out,
                    size_t *count, json_t *warnings, struct error *error)
{
    static const struct google_collection services[] = {
        { CLOUD_RUN, "locations", "services?pageSize=100", "services", read_page },
        { NULL },
    };

    return google_list_resources(cloud, target, services, out, count, warnings, error);
}
