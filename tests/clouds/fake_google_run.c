/* SPDX-License-Identifier: Apache-2.0 */
/* Cloud Run: services, the rules for them, and their quota. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "tests/clouds/fake_google_part.h"

/* Returns Google's error message for the rule that the service breaks; NULL if it breaks none. */
static const char *judge_service(const struct fake_google *fake, const json_t *service,
                                 char sentence[512])
{
    const json_t *template = json_object_get(service, "template");
    const json_t *container = json_array_get(json_object_get(template, "containers"), 0);
    const json_t *limits = json_object_get(json_object_get(container, "resources"), "limits");
    const char *gpu = json_get_text(limits, "nvidia.com/gpu", NULL);
    int64_t instances =
        json_get_integer(json_object_get(template, "scaling"), "maxInstanceCount", 1);

    if (container == NULL || json_get_text(container, "image", "")[0] == '\0')
        return "service.template.containers[0].image: must be set";
    if (gpu != NULL && strcmp(gpu, "1") != 0)
        return "only one GPU per instance";
    if (gpu != NULL && instances > fake->gpus) {
        snprintf(sentence, 512,
                 "scaling.max_instance_count: Max instances must be set to %d or fewer in order to "
                 "set GPU requirements. To request quota: g.co/cloudrun/gpu-quota  Quota violated: "
                 "NvidiaL4GpuAllocNoZonalRedundancyPerProjectRegion requested: %lld allowed: %d",
                 fake->gpus, (long long)instances, fake->gpus);
        return sentence;
    }
    return NULL;
}

/* Sets the members that the platform sets in a created or changed service. */
static void settle(struct fake_google *fake, json_t *service, const char *path)
{
    char etag[64];

    snprintf(etag, sizeof etag, "\"etag-%lld\"", ++fake->versions);
    json_object_set_new(service, "name", json_string(path + strlen("/v2/")));
    json_object_set_new(service, "uid", json_string("uid-1"));
    json_object_set_new(service, "etag", json_string(etag));
    json_object_set_new(service, "uri",
                        json_sprintf("https://%s-abc.a.run.app", strrchr(path, '/') + 1));
    json_object_set_new(service, "lastModifier", json_string("robot@p"));
    json_object_set_new(service, "updateTime", json_string("2026-01-01T00:00:00Z"));
    json_object_set_new(service, "latestReadyRevision",
                        json_string("projects/p/locations/r/services/gemma/revisions/gemma-1"));
    json_object_set_new(service, "reconciling", json_false());
    json_object_set_new(service, "terminalCondition",
                        fake->condition_error[0] != '\0'
                            ? json_pack("{s:s, s:s, s:s}", "state", "CONDITION_FAILED", "message",
                                        fake->condition_error, "revisionReason",
                                        "HEALTH_CHECK_CONTAINER_ERROR")
                            : json_pack("{s:s}", "state", "CONDITION_SUCCEEDED"));
    fake_google_number(fake, service, "generation", fake->versions);
}

static void create_service(struct fake_google *fake, const struct fake_request *request,
                           struct fake_reply *reply, bool is_dry)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char *id = fake_server_parameter(request, "serviceId");
    char path[512], sentence[512];
    const char *wrong;

    snprintf(path, sizeof path, "%s/%s", request->path, id != NULL ? id : "");
    free(id);
    if (!fake_google_check(fake, "Service", body, reply))
        return;
    wrong = judge_service(fake, body, sentence);
    if (wrong != NULL)
        fake_google_say(reply, 400, "INVALID_ARGUMENT", wrong);
    else if (json_object_get(fake->objects, path) != NULL)
        fake_google_say(reply, 409, "ALREADY_EXISTS", "the service exists");
    else if (is_dry)
        text_add(&reply->body, "{\"name\":\"projects/p/locations/r/operations/none\"}");
    else {
        settle(fake, body, path);
        json_object_set(fake->objects, path, body);
        fake_google_begin_take(fake, path, NULL, reply);
    }
}

/* Copies the body's members to the service: those in the mask, or all if there is no mask. */
static void merge(json_t *service, const json_t *body, const char *mask)
{
    json_t *value;
    const char *name;

    json_object_foreach(json_iterable(body), name, value) {
        const char *at = mask != NULL ? strstr(mask, name) : NULL;
        size_t length = strlen(name);

        if (mask == NULL
            || (at != NULL && (at == mask || at[-1] == ',')
                && (at[length] == '\0' || at[length] == ',')))
            json_object_set(service, name, value);
    }
}

static void change_service(struct fake_google *fake, const struct fake_request *request,
                           struct fake_reply *reply, bool is_dry)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    json_t *service = json_object_get(fake->objects, request->path);
    const char *etag = json_get_text(body, "etag", NULL);

    if (service == NULL)
        fake_google_say(reply, 404, "NOT_FOUND", "no such service");
    else if (!fake_google_check(fake, "Service", body, reply))
        return;
    else if (etag != NULL && strcmp(etag, json_get_text(service, "etag", "")) != 0)
        fake_google_say(reply, 409, "ABORTED", "Conflict for resource: the etag is not the latest");
    else {
        json_t *before = fake_google_before(fake, request->path);

        if (!is_dry) {
            FREE_AUTO char *mask = fake_server_parameter(request, "updateMask");

            merge(service, body, mask);
            settle(fake, service, request->path);
        }
        fake_google_begin_take(fake, request->path, before, reply);
    }
}

static void change_run(struct fake_google *fake, const struct fake_request *request,
                       struct fake_reply *reply)
{
    char *dry = fake_server_parameter(request, "validateOnly");
    bool is_dry = dry != NULL && strcmp(dry, "true") == 0;

    free(dry);
    if (strcmp(request->method, "DELETE") == 0)
        fake_google_delete(fake, request, reply, is_dry);
    else if (strcmp(request->method, "PATCH") == 0)
        change_service(fake, request, reply, is_dry);
    else if (strstr(request->path, ":setIamPolicy") != NULL)
        fake_google_set_policy(fake, request, reply);
    else
        create_service(fake, request, reply, is_dry);
}

const struct fake_google_part fake_google_run = {
    .part = "/services",
    .parameters = " serviceId validateOnly updateMask etag pageSize pageToken ",
    .list_end = "/services",
    .list = "services",
    .change = change_run,
};
