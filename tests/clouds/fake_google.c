/* SPDX-License-Identifier: Apache-2.0 */
/* What Google's services have in common: tokens, permissions, faults, long-running operations and
 * lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "tests/clouds/fake_fields.h"
#include "tests/clouds/fake_google_part.h"

#define TOKEN "canary-google"

void fake_google_say(struct fake_reply *reply, int status, const char *word, const char *message)
{
    json_auto_t *body = json_pack("{s:{s:i, s:s, s:s}}", "error", "code", status, "message",
                                  message, "status", word);

    reply->status = status;
    text_clear(&reply->body);
    json_add(&reply->body, body);
}

/* Returns a copy without the fake's own members, whose names begin with '.'. The caller releases
 * the copy. */
static json_t *public_of(const json_t *object)
{
    json_t *out = json_copy((json_t *)(uintptr_t)object), *member;
    const char *name;
    void *next;

    json_object_foreach_safe(out, next, name, member)
        if (name[0] == '.')
            json_object_del(out, name);
    return out;
}

void fake_google_show(struct fake_reply *reply, const json_t *object)
{
    json_auto_t *shown = public_of(object);

    text_clear(&reply->body);
    json_add(&reply->body, shown);
}

bool fake_google_check(const struct fake_google *fake, const char *type, const json_t *body,
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
    fake_google_say(reply, 400, "INVALID_ARGUMENT", text_string(&sentence));
    return false;
}

void fake_google_number(const struct fake_google *fake, json_t *object, const char *name,
                        long long value)
{
    json_object_set_new(object, name,
                        fake->sends_numbers ? json_integer(value) : json_sprintf("%lld", value));
}

/* ---- Long-running operations ---- */

/* Returns the object as a google.protobuf.Any. */
static json_t *pack_any(const char *type, const json_t *object)
{
    json_t *out = json_pack("{s:s+}", "@type", "type.googleapis.com/", type);

    json_object_update(out, (json_t *)(uintptr_t)object);
    return out;
}

/* Returns the member "metadata" of an operation on the object at the path. */
static json_t *metadata_of(const char *path)
{
    json_auto_t *target = json_pack("{s:s}", "target", path + strlen("/v2/"));

    return strstr(path, "/services/") != NULL
               ? pack_any("google.cloud.run.v2.Service", NULL)
               : pack_any("google.cloud.tpu.v2.OperationMetadata", target);
}

static bool is_being_deleted(const json_t *object)
{
    const json_t *state = json_object_get(object, "state");

    return strcmp(json_get_text(object, "state", json_get_text(state, "state", "")), "DELETING")
           == 0;
}

/* Returns the member "response" of a successful operation on the object at the path. */
static json_t *response_of(const struct fake_google *fake, const char *path)
{
    json_auto_t *object = public_of(json_object_get(fake->objects, path));
    json_auto_t *name = json_pack("{s:s}", "name", path + strlen("/v2/"));

    if (strstr(path, "/services/") != NULL)
        return pack_any("google.cloud.run.v2.Service", object != NULL ? object : name);
    if (object == NULL || is_being_deleted(object))
        return pack_any("google.protobuf.Empty", NULL);
    return pack_any(strstr(path, "/nodes/") != NULL ? "google.cloud.tpu.v2.Node"
                                                    : "google.cloud.tpu.v2.QueuedResource",
                    object);
}

json_t *fake_google_before(const struct fake_google *fake, const char *path)
{
    return json_pack("{s:o}", path, json_deep_copy(json_object_get(fake->objects, path)));
}

void fake_google_begin_take(struct fake_google *fake, const char *path, json_t *before,
                            struct fake_reply *reply)
{
    char name[128];
    json_auto_t *operation = NULL;

    snprintf(name, sizeof name, "projects/p/locations/r/operations/op-%lld", ++fake->versions);
    operation =
        json_pack("{s:s, s:b, s:o}", "name", name, "done", 0, "metadata", metadata_of(path));
    json_object_set_new(fake->operations, name,
                        json_pack("{s:i, s:s, s:o*}", "polls", 0, "path", path, "before", before));
    fake_google_show(reply, operation);
}

static void fail_operation(struct fake_google *fake, const char *path, const json_t *before)
{
    if (before == NULL)
        json_object_del(fake->objects, path);
    else
        json_object_update(fake->objects, (json_t *)(uintptr_t)before);
}

static void poll_operation(struct fake_google *fake, const char *name, struct fake_reply *reply)
{
    json_t *kept = json_object_get(fake->operations, name);
    const char *path = json_get_text(kept, "path", "/v2/");
    int64_t polls = json_get_integer(kept, "polls", 0) + 1;
    json_auto_t *operation = json_pack("{s:s, s:b, s:o}", "name", name, "done", polls >= 2,
                                       "metadata", metadata_of(path));

    if (kept == NULL) {
        fake_google_say(reply, 404, "NOT_FOUND", "no such operation");
        return;
    }
    json_object_set_new(kept, "polls", json_integer(polls));
    if (polls >= 2 && fake->operation_error[0] != '\0') {
        json_object_set_new(operation, "error",
                            json_pack("{s:i, s:s}", "code", 8, "message", fake->operation_error));
        if (polls == 2)
            fail_operation(fake, path, json_object_get(kept, "before"));
    } else if (polls >= 2)
        json_object_set_new(operation, "response", response_of(fake, path));
    fake_google_show(reply, operation);
}

/* ---- Common changes ---- */

void fake_google_delete(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply, bool is_dry)
{
    json_t *object = json_object_get(fake->objects, request->path);
    char *etag = fake_server_parameter(request, "etag");

    if (object == NULL)
        fake_google_say(reply, 404, "NOT_FOUND", "it does not exist");
    else if (etag != NULL && strcmp(etag, json_get_text(object, "etag", "")) != 0)
        fake_google_say(reply, 409, "ABORTED", "Conflict for resource: the etag is not the latest");
    else {
        json_t *before = fake_google_before(fake, request->path);

        if (!is_dry)
            json_object_del(fake->objects, request->path);
        fake_google_begin_take(fake, request->path, before, reply);
    }
    free(etag);
}

void fake_google_remove(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply)
{
    if (json_object_del(fake->objects, request->path) == 0)
        text_add(&reply->body, "{}");
    else
        fake_google_say(reply, 404, "NOT_FOUND", "it does not exist");
}

void fake_google_set_policy(struct fake_google *fake, const struct fake_request *request,
                            struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);

    if (fake_google_check(fake, "SetIamPolicy", body, reply))
        fake_google_show(reply, json_object_get(body, "policy"));
}

/* ---- Dispatching ---- */

extern const struct fake_google_part fake_google_bucket, fake_google_compute, fake_google_usage,
    fake_google_account, fake_google_secret, fake_google_job, fake_google_quota, fake_google_run,
    fake_google_tpu_queue, fake_google_tpu_nodes;

/* The first service whose `part` occurs in the path answers. */
static const struct fake_google_part *const parts[] = {
    &fake_google_bucket,
    &fake_google_compute,
    &fake_google_quota,
    &fake_google_usage,
    &fake_google_account,
    &fake_google_secret,
    &fake_google_job,
    &fake_google_run,
    &fake_google_tpu_queue,
    &fake_google_tpu_nodes,
    NULL,
};

static const struct fake_google_part *find_part(const char *path)
{
    const struct fake_google_part *const *part = parts;

    while (*part != NULL && strstr(path, (*part)->part) == NULL)
        part++;
    return *part;
}

/* Returns whether the service knows every query parameter; if not, refuses the request, as Google
 * does. */
static bool knows_parameters(const struct fake_google_part *part,
                             const struct fake_request *request, struct fake_reply *reply)
{
    static const char system[] = " %24alt alt fields ";
    const char *known = part != NULL && part->parameters != NULL ? part->parameters : "";

    for (const char *at = request->query; *at != '\0';) {
        size_t end = strcspn(at, "&");
        char name[64], sentence[256];

        snprintf(name, sizeof name, " %.*s ", (int)strcspn(at, "=&"), at);
        if (strstr(system, name) == NULL && strstr(known, name) == NULL) {
            snprintf(sentence, sizeof sentence,
                     "Invalid JSON payload received. Unknown name \"%.*s\": Cannot bind query "
                     "parameter. Field could not be found in request message.",
                     (int)strlen(name) - 2, name + 1);
            fake_google_say(reply, 400, "INVALID_ARGUMENT", sentence);
            return false;
        }
        at += end + (at[end] == '&');
    }
    return true;
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
    fake_google_show(reply, body);
}

static void list(struct fake_google *fake, const char *member, const struct fake_request *request,
                 struct fake_reply *reply)
{
    char *token = fake_server_parameter(request, "pageToken");
    int page = 0, at = 0;
    json_auto_t *body = json_object();
    json_t *found = json_array(), *object;
    const char *path;

    if (token != NULL && sscanf(token, "p&/ +%d", &page) != 1)
        page = -1; /* a page token that the fake did not issue: an empty page */
    free(token);
    json_object_foreach(fake->objects, path, object)
        if (strncmp(path, request->path, strlen(request->path)) == 0
            && (!fake->has_pages || (page >= 0 && at++ == page / 2 && page != 1)))
            json_array_append_new(found, public_of(object));
    if (json_array_size(found) > 0) /* Google omits the member if the list is empty */
        json_object_set(body, member, found);
    json_decref(found);
    if (fake->has_pages && page >= 0 && page < 2)
        json_object_set_new(body, "nextPageToken", json_sprintf("p&/ +%d", page + 1));
    if (fake->page_token != NULL)
        json_object_set_new(body, "nextPageToken", json_string(fake->page_token));
    if (fake->has_pages)
        json_object_set_new(body, "unreachable", json_pack("[s]", "projects/p/locations/x"));
    fake_google_show(reply, body);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void answer_get(struct fake_google *fake, const struct fake_request *request,
                       struct fake_reply *reply)
{
    const struct fake_google_part *part = find_part(request->path);
    const json_t *object = json_object_get(fake->objects, request->path);

    if (strstr(request->path, "/locations/r/operations/") != NULL)
        poll_operation(fake, strstr(request->path, "projects/"), reply);
    else if (part != NULL && part->list != NULL && ends_with(request->path, part->list_end))
        list(fake, part->list, request, reply);
    else if (part != NULL && part->read != NULL && part->read(fake, request, reply))
        return;
    else if (object == NULL)
        fake_google_say(reply, 404, "NOT_FOUND", "it does not exist");
    else
        fake_google_show(reply, object);
}

static void change(struct fake_google *fake, const struct fake_request *request,
                   struct fake_reply *reply)
{
    const struct fake_google_part *part = find_part(request->path);

    if (part == NULL || part->change == NULL)
        fake_google_say(reply, 404, "NOT_FOUND", "there is no such method");
    else
        part->change(fake, request, reply);
}

static void fail(struct fake_google *fake, struct fake_reply *reply)
{
    fake_google_say(reply, fake->status, "UNAVAILABLE", "later");
    if (fake->answer != NULL) {
        text_clear(&reply->body);
        text_add(&reply->body, fake->answer);
        reply->type = "text/html";
    }
    fake->status = 0;
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
        fake_google_say(reply, 401, "UNAUTHENTICATED", "no token");
    else if (strstr(request->path, ":testIamPermissions") != NULL)
        test_permissions(fake, request, reply);
    else if (!knows_parameters(find_part(request->path), request, reply))
        return;
    else if (strcmp(request->method, "GET") == 0)
        answer_get(fake, request, reply);
    else if (fake->status > 0)
        fail(fake, reply);
    else {
        change(fake, request, reply);
        reply->breaks_off = fake->loses_reply;
        fake->loses_reply = false;
    }
}

void fake_google_start(struct fake_google *fake)
{
    static const char *const services[] = {
        "run",           "cloudscheduler", "iam",     "metadata",    "cloudresourcemanager",
        "secretmanager", "serviceusage",   "compute", "cloudquotas", "tpu",
        "storage"
    };
    static const char *const files[] = { "cloud_run-fields.json", "compute-fields.json",
                                         "cloud_tpu-fields.json", NULL };
    size_t length = 0;

    *fake =
        (struct fake_google){ .objects = json_object(), .operations = json_object(), .gpus = 3 };
    fake->fields = fake_fields_load("google-fields.json");
    for (const char *const *file = files; *file != NULL; file++) {
        json_auto_t *types = fake_fields_load(*file);

        json_object_update(fake->fields, types);
    }
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
