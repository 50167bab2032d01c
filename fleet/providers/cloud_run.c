/* SPDX-License-Identifier: Apache-2.0 */
/* Google's Cloud Run: the row of the table, what a target needs, and what there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/formats/percent.h"
#include "base/json/json.h"
#include "base/net/url.h"
#include "fleet/providers/cloud_run.h"

#define PAGES_MAX 50

/* ---- What there is ---- */

static void set_state(struct observed *out, const char *state, const char *phase,
                      const char *message)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, message, strlen(message), sizeof out->message - 1);
    text_copy(out->state, sizeof out->state, state);
    text_copy(out->phase, sizeof out->phase, phase);
    text_copy(out->message, sizeof out->message, text_string(&shown));
}

/* int64 comes as a text, and may come as a number. */
static int64_t read_integer(const json_t *object, const char *name)
{
    int64_t value = json_get_integer(object, name, 0);

    if (value == 0)
        text_to_integer(json_get_text(object, name, "0"), 0, INT64_MAX, &value);
    return value;
}

/* The first condition that is not fulfilled says what it waits for. */
static const char *waiting_for(const json_t *service, const char **phase)
{
    static const char *const of_image[] = { "CONTAINER_MISSING", "CONTAINER_PERMISSION_DENIED",
                                            NULL };
    const json_t *condition;
    size_t i;

    *phase = "weights"; /* an instance has started, as far as the service tells */
    json_array_foreach(json_object_get(service, "conditions"), i, condition) {
        const char *state = json_get_text(condition, "state", "");
        const char *reason = json_get_text(condition, "reason", "");

        if (strcmp(state, "CONDITION_SUCCEEDED") == 0)
            continue;
        if (strcmp(reason, of_image[0]) == 0 || strcmp(reason, of_image[1]) == 0
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
        set_state(out, "deleting", "", "");
    else if (json_get_boolean(service, "reconciling", false))
        set_state(out, "starting", phase, message);
    else if (strcmp(state, "CONDITION_FAILED") == 0) {
        const char *reason = json_get_text(terminal, "revisionReason",
                                           json_get_text(terminal, "reason", "no reason given"));

        snprintf(sentence, sizeof sentence, "%.380s (%.64s)",
                 json_get_text(terminal, "message", "it failed"), reason);
        set_state(out, "failed", phase, sentence);
    } else if (is_manual && json_get_integer(scaling, "manualInstanceCount", 0) == 0)
        set_state(out, "stopped", "", "");
    else if (strcmp(state, "CONDITION_SUCCEEDED") == 0)
        set_state(out, "ready", "ready", "");
    else
        set_state(out, "starting", phase, message);
}

static json_t *fields_of(const json_t *service)
{
    static const char *const of_container[] = { "image", "command", "args", "env", "resources" };
    const json_t *template = json_object_get(service, "template");
    const json_t *container = json_array_get(json_object_get(template, "containers"), 0);
    const json_t *scaling = json_object_get(service, "scaling");
    json_t *out = json_object();

    for (size_t i = 0; i < sizeof of_container / sizeof of_container[0]; i++)
        if (json_object_get(container, of_container[i]) != NULL)
            json_object_set_new(out, of_container[i],
                                json_deep_copy(json_object_get(container, of_container[i])));
    if (scaling != NULL)
        json_object_set_new(out, "scaling", json_deep_copy(scaling));
    json_object_set_new(out, "ingress", json_string(json_get_text(service, "ingress", "")));
    json_object_set_new(out, "invokerIamDisabled",
                        json_boolean(json_get_boolean(service, "invokerIamDisabled", false)));
    return out;
}

static void read_name(const char *name, struct observed *out)
{
    const char *place = strstr(name, "/locations/"), *last = strrchr(name, '/');

    text_copy(out->name, sizeof out->name, last != NULL ? last + 1 : name);
    if (place != NULL)
        snprintf(out->place, sizeof out->place, "%.*s", (int)strcspn(place + 11, "/"), place + 11);
    snprintf(out->resource, sizeof out->resource, CLOUD_RUN "%.400s", name);
}

void cloud_run_read(const json_t *service, struct observed *out)
{
    const json_t *labels = json_object_get(service, "labels");
    const json_t *template = json_object_get(service, "template");
    const char *revision = json_get_text(service, "latestReadyRevision", "");
    const char *last = strrchr(revision, '/');
    const char *image;

    out->exists = true;
    read_name(json_get_text(service, "name", ""), out);
    read_state(service, out);
    out->fields = fields_of(service);
    out->labels = json_is_object(labels) ? json_deep_copy(labels) : NULL;
    image = json_get_text(out->fields, "image", "");
    text_copy(out->uid, sizeof out->uid, json_get_text(service, "uid", ""));
    text_copy(out->etag, sizeof out->etag, json_get_text(service, "etag", ""));
    text_copy(out->address, sizeof out->address, json_get_text(service, "uri", ""));
    text_copy(out->revision, sizeof out->revision, last != NULL ? last + 1 : revision);
    if (strstr(image, "sha256:") != NULL)
        text_copy(out->image_digest, sizeof out->image_digest, strstr(image, "sha256:"));
    text_copy(out->machine, sizeof out->machine,
              json_get_text(json_object_get(template, "nodeSelector"), "accelerator", ""));
    snprintf(out->generation, sizeof out->generation, "%lld",
             (long long)read_integer(service, "generation"));
    snprintf(out->last_changed_by, sizeof out->last_changed_by, "%.128s at %.40s",
             json_get_text(service, "lastModifier", "somebody"),
             json_get_text(service, "updateTime", "a time not given"));
    text_copy(out->instance, sizeof out->instance, json_get_text(labels, CLOUD_RUN_INSTANCE, ""));
    text_copy(out->deployment, sizeof out->deployment,
              json_get_text(labels, CLOUD_RUN_DEPLOYMENT, ""));
    out->ends_ms = read_integer(labels, CLOUD_RUN_ENDS) % (INT64_C(1) << 40) * 1000;
    out->replicas = json_get_integer(json_object_get(service, "scaling"), "maxInstanceCount", 0);
}

bool cloud_run_observe(struct cloud *cloud, const struct desired *desired, struct observed *out,
                       struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char name[CLOUD_RUN_NAME_SIZE];

    *out = (struct observed){ 0 };
    snprintf(out->resource, sizeof out->resource, CLOUD_RUN "%s", cloud_run_name(desired, name));
    if (!cloud_read(cloud, out->resource, &reply, error)) {
        set_state(out, "absent", "", "");
        return reply.status == 404;
    }
    cloud_run_read(reply.body, out);
    out->ours = strcmp(out->instance, desired->instance) == 0
                && strcmp(out->deployment, desired->deployment) == 0;
    return true;
}

/* ---- Listing ---- */

static bool serves_models(const json_t *service)
{
    const json_t *template = json_object_get(service, "template");
    const json_t *container = json_array_get(json_object_get(template, "containers"), 0);
    const json_t *limits = json_object_get(json_object_get(container, "resources"), "limits");

    return json_object_get(limits, "nvidia.com/gpu") != NULL
           || json_object_get(json_object_get(service, "labels"), CLOUD_RUN_INSTANCE) != NULL
           || strstr(json_get_text(container, "image", ""), "vllm") != NULL
           || strstr(json_get_text(container, "image", ""), "ollama") != NULL;
}

static void add_page(const json_t *page, struct observed **out, size_t *count, json_t *warnings)
{
    const json_t *service, *place;
    size_t i;

    json_array_foreach(json_object_get(page, "services"), i, service) {
        if (!serves_models(service))
            continue;
        *out = realloc(*out, (*count + 1) * sizeof **out);
        if (*out == NULL)
            abort();
        (*out)[*count] = (struct observed){ 0 };
        cloud_run_read(service, &(*out)[(*count)++]);
    }
    json_array_foreach(json_object_get(page, "unreachable"), i, place)
        if (json_is_string(place))
            json_array_append_new(
                warnings, json_sprintf("%.100s could not be read", json_string_value(place)));
}

static CHECKED bool list_place(struct cloud *cloud, const char *project, const char *place,
                               struct observed **out, size_t *count, json_t *warnings,
                               struct error *error)
{
    char next[512] = "";

    for (int page = 0; page < PAGES_MAX; page++) {
        CLOUD_REPLY_AUTO reply = { 0 };
        TEXT_AUTO url = { 0 };
        const char *token;

        text_addf(&url, CLOUD_RUN "projects/%s/locations/%s/services?pageSize=100%s", project,
                  place, next[0] != '\0' ? "&pageToken=" : "");
        percent_encode(next, "", &url);
        if (!cloud_read(cloud, text_string(&url), &reply, error))
            return false;
        add_page(reply.body, out, count, warnings);
        token = json_get_text(reply.body, "nextPageToken", "");
        if (token[0] == '\0')
            return true;
        if (text_copy(next, sizeof next, token) < strlen(token))
            break;
    }
    json_array_append_new(warnings,
                          json_sprintf("there are more services in %.63s than were read", place));
    return true;
}

bool cloud_run_list(struct cloud *cloud, const struct fleet_target *target, struct observed **out,
                    size_t *count, json_t *warnings, struct error *error)
{
    *out = NULL;
    *count = 0;
    for (size_t i = 0; i < target->place_count; i++)
        if (!list_place(cloud, target->project, target->places[i], out, count, warnings, error)) {
            observed_list_free(*out, *count);
            *out = NULL;
            *count = 0;
            return false;
        }
    return true;
}

/* ---- The target ---- */

static CHECKED bool check_target(const struct fleet_target *target, struct error *error)
{
    size_t length = strspn(target->project, "abcdefghijklmnopqrstuvwxyz0123456789-:.");

    if (length == 0 || target->project[length] != '\0')
        return error_set(error, ERROR_INVALID, "a target on Cloud Run needs its project's id");
    if (target->credential.kind != CLOUD_WORKLOAD_IDENTITY
        && target->credential.kind != CLOUD_SERVICE_ACCOUNT_FILE)
        return error_set(error, ERROR_INVALID,
                         "a target on Cloud Run needs a credential of kind workload_identity or "
                         "service_account_file");
    for (size_t i = 0; i < target->place_count; i++)
        if (target->places[i][strspn(target->places[i], "abcdefghijklmnopqrstuvwxyz0123456789-")]
                != '\0'
            || target->places[i][0] == '\0')
            return error_set(error, ERROR_INVALID, "a region is like europe-west4");
    return target->place_count > 0
           || error_set(error, ERROR_INVALID, "a target on Cloud Run needs a region");
}

static const char *const permissions[] = {
    "run.services.create",        "run.services.get",          "run.services.list",
    "run.services.update",        "run.services.delete",       "run.services.setIamPolicy",
    "run.operations.get",         "run.routes.invoke",         "iam.serviceAccounts.actAs",
    "iam.serviceAccounts.create", "iam.serviceAccounts.get",   "iam.serviceAccounts.delete",
    "cloudscheduler.jobs.create", "cloudscheduler.jobs.get",   "cloudscheduler.jobs.update",
    "cloudscheduler.jobs.delete", "secretmanager.secrets.get",
};
#define PERMISSIONS (sizeof permissions / sizeof permissions[0])

static void add_finding(json_t *findings, const char *need, bool holds, json_t *fix)
{
    json_t *finding = json_pack("{s:s, s:b}", "need", need, "ok", holds);

    if (holds)
        json_decref(fix);
    else
        json_object_set_new(finding, "fix", fix);
    json_array_append_new(findings, finding);
}

static CHECKED bool check_permissions(struct cloud *cloud, const struct fleet_target *target,
                                      json_t *findings, struct error *error)
{
    json_auto_t *body = json_pack("{s:[]}", "permissions");
    json_t *asked = json_object_get(body, "permissions");
    CLOUD_REPLY_AUTO reply = { 0 };
    const json_t *granted;
    char url[256];

    for (size_t i = 0; i < PERMISSIONS; i++)
        json_array_append_new(asked, json_string(permissions[i]));
    snprintf(url, sizeof url,
             "https://cloudresourcemanager.googleapis.com/v1/projects/%s:testIamPermissions",
             target->project);
    if (!cloud_call(cloud, "POST", url, NULL, body, &reply, error))
        return false;
    granted = json_object_get(reply.body, "permissions");
    for (size_t i = 0; i < PERMISSIONS; i++) {
        const json_t *one;
        bool holds = false;
        size_t k;

        json_array_foreach(granted, k, one)
            holds = holds || json_equal(one, json_array_get(asked, i));
        add_finding(findings, permissions[i], holds,
                    json_sprintf("grant %s a role with %s on the project", cloud_identity(cloud),
                                 permissions[i]));
    }
    return true;
}

static void check_service(struct cloud *cloud, const struct fleet_target *target, const char *name,
                          json_t *findings)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    struct error ignored;
    TEXT_AUTO need = { 0 };
    char url[256];
    bool is_enabled;

    snprintf(url, sizeof url, "https://serviceusage.googleapis.com/v1/projects/%.63s/services/%s",
             target->project, name);
    is_enabled = cloud_read(cloud, url, &reply, &ignored)
                 && strcmp(json_get_text(reply.body, "state", ""), "ENABLED") == 0;
    text_addf(&need, "the API %s is enabled", name);
    add_finding(findings, text_string(&need), is_enabled,
                json_sprintf("gcloud services enable %s --project %s", name, target->project));
}

static CHECKED bool check(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                          struct error *error)
{
    static const char *const services[] = { "run.googleapis.com", "cloudscheduler.googleapis.com",
                                            "secretmanager.googleapis.com", "iam.googleapis.com" };

    if (!check_permissions(cloud, target, findings, error))
        return false;
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        check_service(cloud, target, services[i], findings);
    return true;
}

/* ---- The row ---- */

static const char *ends_by(const struct desired *desired)
{
    if (desired->ends_ms == 0)
        return NULL;
    return desired->end_destroys ? "Cloud Scheduler deletes the service at its end, with an "
                                   "account that may change nothing else"
                                 : "Cloud Scheduler scales the service to 0 at its end, with an "
                                   "account that may change nothing else";
}

/* An ID token for the service's own address. */
static CHECKED bool key(struct cloud *cloud, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error)
{
    char origin[ORIGIN_SIZE];

    return url_origin(observed->address, origin, error)
           && cloud_id_token(cloud, origin, out, error);
}

extern const struct provider provider_cloud_run;
const struct provider provider_cloud_run = {
    .name = "cloud_run",
    .title = "Cloud Run",
    .verbs = VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_UPDATE) | VERB_BIT(VERB_START)
             | VERB_BIT(VERB_STOP) | VERB_BIT(VERB_SCALE) | VERB_BIT(VERB_EXTEND)
             | VERB_BIT(VERB_DESTROY),
    .lock = "the service is private: each call shows an ID token of Google's for its own address",
    .check_target = check_target,
    .steps = cloud_run_steps,
    .outcome = cloud_run_outcome,
    .observe = cloud_run_observe,
    .list = cloud_run_list,
    .check = check,
    .lint = cloud_run_lint,
    .command = cloud_run_command,
    .ends_by = ends_by,
    .key = key,
};
