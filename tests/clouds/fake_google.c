/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/fake_google.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "tests/clouds/fake_fields.h"

#define TOKEN "canary-google"

static void say(struct fake_reply *reply, int status, const char *word, const char *message)
{
    json_auto_t *body = json_pack("{s:{s:i, s:s, s:s}}", "error", "code", status, "message",
                                  message, "status", word);

    reply->status = status;
    text_clear(&reply->body);
    json_add(&reply->body, body);
}

static void show(struct fake_reply *reply, const json_t *object)
{
    text_clear(&reply->body);
    json_add(&reply->body, object);
}

/* ---- Cloud Run ---- */

static bool check_enum(const char *value, const char *prefix)
{
    return value == NULL || strncmp(value, prefix, strlen(prefix)) == 0;
}

/* The platform's rules; the sentence, or NULL. */
static const char *judge_service(const struct fake_google *fake, const json_t *service,
                                 char sentence[512])
{
    const json_t *template = json_object_get(service, "template");
    const json_t *container = json_array_get(json_object_get(template, "containers"), 0);
    const json_t *limits = json_object_get(json_object_get(container, "resources"), "limits");
    const char *gpu = json_get_text(limits, "nvidia.com/gpu", NULL);
    int64_t instances =
        json_get_integer(json_object_get(template, "scaling"), "maxInstanceCount", 1);

    if (!check_enum(json_get_text(service, "ingress", NULL), "INGRESS_TRAFFIC_"))
        return "Invalid value at 'service.ingress' "
               "(type.googleapis.com/google.cloud.run.v2.IngressTraffic)";
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

static bool check_body(const struct fake_google *fake, const char *type, const json_t *body,
                       struct fake_reply *reply)
{
    TEXT_AUTO path = { 0 };
    TEXT_AUTO sentence = { 0 };
    bool is_unknown = false;

    if (fake_fields_check(fake->fields, type, body, &path, &is_unknown))
        return true;
    text_addf(&sentence,
              is_unknown ? "Invalid JSON payload received. Unknown name \"%s\": Cannot find field."
                         : "Invalid value at '%s'",
              text_string(&path));
    say(reply, 400, "INVALID_ARGUMENT", text_string(&sentence));
    return false;
}

static void set_number(const struct fake_google *fake, json_t *object, const char *name,
                       long long value)
{
    json_object_set_new(object, name,
                        fake->numbers ? json_integer(value) : json_sprintf("%lld", value));
}

static void begin_operation(struct fake_google *fake, const char *service, struct fake_reply *reply)
{
    char name[128];
    json_auto_t *operation = NULL;

    snprintf(name, sizeof name, "projects/p/locations/r/operations/op-%lld", ++fake->versions);
    operation = json_pack("{s:s, s:b}", "name", name, "done", 0);
    json_object_set_new(fake->operations, name,
                        json_pack("{s:i, s:s}", "looks", 0, "service", service));
    show(reply, operation);
}

static void look_at_operation(struct fake_google *fake, const char *name, struct fake_reply *reply)
{
    json_t *kept = json_object_get(fake->operations, name);
    int64_t looks = json_get_integer(kept, "looks", 0) + 1;
    json_auto_t *operation = json_pack("{s:s, s:b}", "name", name, "done", looks >= 2);

    if (kept == NULL) {
        say(reply, 404, "NOT_FOUND", "no such operation");
        return;
    }
    json_object_set_new(kept, "looks", json_integer(looks));
    if (looks >= 2 && fake->operation_error[0] != '\0') {
        json_object_set_new(operation, "error",
                            json_pack("{s:i, s:s}", "code", 8, "message", fake->operation_error));
        json_object_del(fake->objects, json_get_text(kept, "service", ""));
    } else if (looks >= 2)
        json_object_set_new(operation, "response", json_object());
    show(reply, operation);
}

static void settle(struct fake_google *fake, json_t *service, const char *path)
{
    char etag[64];

    snprintf(etag, sizeof etag, "\"etag-%lld\"", ++fake->versions);
    json_object_set_new(service, "name", json_string(path + strlen("/v2/")));
    json_object_set_new(service, "uid", json_string("uid-1"));
    json_object_set_new(service, "etag", json_string(etag));
    json_object_set_new(service, "uri", json_string("https://gemma-abc.a.run.app"));
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
    set_number(fake, service, "generation", fake->versions);
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
    if (!check_body(fake, "Service", body, reply))
        return;
    wrong = judge_service(fake, body, sentence);
    if (wrong != NULL)
        say(reply, 400, "INVALID_ARGUMENT", wrong);
    else if (json_object_get(fake->objects, path) != NULL)
        say(reply, 409, "ALREADY_EXISTS", "the service exists");
    else if (is_dry)
        text_add(&reply->body, "{\"name\":\"projects/p/locations/r/operations/none\"}");
    else {
        settle(fake, body, path);
        json_object_set(fake->objects, path, body);
        begin_operation(fake, path, reply);
    }
}

static void change_service(struct fake_google *fake, const struct fake_request *request,
                           struct fake_reply *reply, bool is_dry)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    json_t *service = json_object_get(fake->objects, request->path);
    const char *etag = json_get_text(body, "etag", NULL);

    if (service == NULL)
        say(reply, 404, "NOT_FOUND", "no such service");
    else if (!check_body(fake, "Service", body, reply))
        return;
    else if (etag != NULL && strcmp(etag, json_get_text(service, "etag", "")) != 0)
        say(reply, 409, "ABORTED", "Conflict for resource: the etag is not the latest");
    else {
        if (!is_dry) {
            json_object_update(service, body);
            settle(fake, service, request->path);
        }
        begin_operation(fake, request->path, reply);
    }
}

/* ---- The others ---- */

static void create(struct fake_google *fake, const struct fake_request *request,
                   struct fake_reply *reply, const char *type)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char path[512];
    json_t *made;

    if (!check_body(fake, type, body, reply))
        return;
    if (strcmp(type, "Account") == 0)
        snprintf(path, sizeof path, "%s/%s@p.iam.gserviceaccount.com", request->path,
                 json_get_text(body, "accountId", ""));
    else
        snprintf(path, sizeof path, "/v1/%s", json_get_text(body, "name", ""));
    if (json_object_get(fake->objects, path) != NULL) {
        say(reply, 409, "ALREADY_EXISTS", "it exists");
        return;
    }
    made = strcmp(type, "Account") == 0 ? json_object_get(body, "serviceAccount") : body;
    json_object_set(fake->objects, path, made);
    show(reply, made);
}

static void change_job(struct fake_google *fake, const struct fake_request *request,
                       struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    json_t *job = json_object_get(fake->objects, request->path);

    if (job == NULL)
        say(reply, 404, "NOT_FOUND", "no such job");
    else if (check_body(fake, "Job", body, reply)) {
        json_object_update(job, body);
        show(reply, job);
    }
}

static void delete (struct fake_google *fake, const struct fake_request *request,
                    struct fake_reply *reply, bool is_dry)
{
    json_t *object = json_object_get(fake->objects, request->path);
    char *etag = fake_server_parameter(request, "etag");

    if (object == NULL)
        say(reply, 404, "NOT_FOUND", "it does not exist");
    else if (etag != NULL && strcmp(etag, json_get_text(object, "etag", "")) != 0)
        say(reply, 409, "ABORTED", "Conflict for resource: the etag is not the latest");
    else {
        if (!is_dry)
            json_object_del(fake->objects, request->path);
        begin_operation(fake, request->path, reply);
    }
    free(etag);
}

static void test_permissions(const struct fake_google *fake, const struct fake_request *request,
                             struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    json_t *asked = json_object_get(body, "permissions"), *one;
    size_t i;

    json_array_foreach(asked, i, one)
        if (strcmp(json_string_value(one), fake->denied) == 0) {
            json_array_remove(asked, i);
            break;
        }
    show(reply, body);
}

static void change(struct fake_google *fake, const struct fake_request *request,
                   struct fake_reply *reply)
{
    char *dry = fake_server_parameter(request, "validateOnly");
    bool is_dry = dry != NULL && strcmp(dry, "true") == 0;
    const char *path = request->path;

    free(dry);
    fake->changes += !is_dry;
    if (strcmp(request->method, "DELETE") == 0)
        delete (fake, request, reply, is_dry);
    else if (strcmp(request->method, "PATCH") == 0 && strstr(path, "/jobs/") != NULL)
        change_job(fake, request, reply);
    else if (strcmp(request->method, "PATCH") == 0)
        change_service(fake, request, reply, is_dry);
    else if (strstr(path, ":setIamPolicy") != NULL) {
        json_auto_t *body = json_loads(request->body, 0, NULL);

        if (check_body(fake, "SetIamPolicy", body, reply))
            show(reply, json_object_get(body, "policy"));
    } else if (strstr(path, "/serviceAccounts") != NULL)
        create(fake, request, reply, "Account");
    else if (strstr(path, "/jobs") != NULL)
        create(fake, request, reply, "Job");
    else
        create_service(fake, request, reply, is_dry);
}

static void list(struct fake_google *fake, const struct fake_request *request,
                 struct fake_reply *reply)
{
    char *token = fake_server_parameter(request, "pageToken");
    int page = 0, at = 0;
    json_auto_t *body = json_object();
    json_t *services = json_array(), *object;
    const char *path;

    if (token != NULL && sscanf(token, "p&/ +%d", &page) != 1)
        page = -1; /* a token that it did not give: an empty page */
    free(token);
    json_object_foreach(fake->objects, path, object)
        if (strncmp(path, request->path, strlen(request->path)) == 0
            && (!fake->pages || (page >= 0 && at++ == page / 2 && page != 1)))
            json_array_append(services, object);
    if (json_array_size(services) > 0) /* an empty list omits the member */
        json_object_set(body, "services", services);
    json_decref(services);
    if (fake->pages && page >= 0 && page < 2)
        json_object_set_new(body, "nextPageToken", json_sprintf("p&/ +%d", page + 1));
    if (fake->page_token != NULL)
        json_object_set_new(body, "nextPageToken", json_string(fake->page_token));
    if (fake->pages)
        json_object_set_new(body, "unreachable", json_pack("[s]", "projects/p/locations/x"));
    show(reply, body);
}

static void read_one(struct fake_google *fake, const struct fake_request *request,
                     struct fake_reply *reply)
{
    const json_t *object = json_object_get(fake->objects, request->path);
    size_t length = strlen(request->path);

    if (strstr(request->path, "/operations/") != NULL)
        look_at_operation(fake, request->path + strlen("/v2/"), reply);
    else if (length > 9 && strcmp(request->path + length - 9, "/services") == 0)
        list(fake, request, reply);
    else if (object == NULL && strncmp(request->path, "/v1/projects/p/services/", 24) == 0)
        text_add(&reply->body, "{\"state\":\"ENABLED\"}");
    else if (object == NULL)
        say(reply, 404, "NOT_FOUND", "it does not exist");
    else
        show(reply, object);
}

static void answer(void *context, const struct fake_request *request, struct fake_reply *reply)
{
    struct fake_google *fake = context;

    if (strncmp(request->path, "/computeMetadata/", 17) == 0) {
        reply->header = "Metadata-Flavor";
        reply->value = "Google";
        fake->tokens++;
        if (strstr(request->path, "identity") != NULL)
            text_add(&reply->body, "id.eyJleHAiOjk5OTk5OTk5OTl9.token");
        else
            text_addf(&reply->body, "{\"access_token\":\"" TOKEN "-%d\",\"expires_in\":3600}",
                      fake->tokens);
    } else if (strncmp(request->bearer, TOKEN "-", sizeof TOKEN) != 0)
        say(reply, 401, "UNAUTHENTICATED", "no token");
    else if (strstr(request->path, ":testIamPermissions") != NULL)
        test_permissions(fake, request, reply);
    else if (strcmp(request->method, "GET") == 0)
        read_one(fake, request, reply);
    else if (fake->status > 0) {
        say(reply, fake->status, "UNAVAILABLE", "later");
        if (fake->answer != NULL) {
            text_clear(&reply->body);
            text_add(&reply->body, fake->answer);
            reply->type = "text/html";
        }
        fake->status = 0;
    } else {
        change(fake, request, reply);
        reply->breaks_off = fake->loses_reply;
        fake->loses_reply = false;
    }
}

void fake_google_start(struct fake_google *fake)
{
    static const char *const services[] = { "run",         "cloudscheduler",       "iam",
                                            "metadata",    "cloudresourcemanager", "secretmanager",
                                            "serviceusage" };
    size_t length = 0;

    *fake =
        (struct fake_google){ .objects = json_object(), .operations = json_object(), .gpus = 3 };
    fake->fields = json_load_file(SOURCE_DIR "/tests/data/clouds/cloud_run-fields.json", 0, NULL);
    if (fake->fields == NULL)
        abort();
    fake->server = fake_server_start(answer, fake);
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        length += (size_t)snprintf(fake->endpoints + length, sizeof fake->endpoints - length,
                                   "%s=http://127.0.0.1:%d,", services[i],
                                   fake_server_port(fake->server));
}

void fake_google_stop(struct fake_google *fake)
{
    fake_server_stop(fake->server);
    json_decref(fake->objects);
    json_decref(fake->operations);
    json_decref(fake->fields);
}

void fake_google_add(struct fake_google *fake, const char *path, const char *object)
{
    json_t *value = json_loads(object, 0, NULL);

    if (value == NULL || json_object_set_new(fake->objects, path, value) != 0)
        abort();
}

size_t fake_google_count(const struct fake_google *fake)
{
    return json_object_size(fake->objects);
}

json_t *fake_google_get(const struct fake_google *fake, const char *path)
{
    return json_object_get(fake->objects, path);
}
