/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/fake_kubernetes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "tests/clouds/fake_fields.h"

#define TOKEN "canary-kubernetes"

static void say(struct fake_reply *reply, int status, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Answers with a Status object. `reason` is NULL if the Status has none, such as the one about an
 * unknown field. */
static void say(struct fake_reply *reply, int status, const char *reason, const char *format, ...)
{
    char message[512];
    va_list arguments;
    json_auto_t *body = NULL;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    body = json_pack("{s:s, s:s, s:s, s:s, s:i}", "kind", "Status", "apiVersion", "v1", "status",
                     "Failure", "message", message, "code", status);
    if (reason != NULL)
        json_object_set_new(body, "reason", json_string(reason));
    reply->status = status;
    text_clear(&reply->body);
    json_add(&reply->body, body);
}

static void show(struct fake_reply *reply, const json_t *object)
{
    text_clear(&reply->body);
    json_add(&reply->body, object);
}

/* ---- Controllers ---- */

static json_t *pod_of(const struct fake_kubernetes *fake, const json_t *deployment)
{
    const char *name = json_get_text(json_object_get(deployment, "metadata"), "name", "");
    json_t *pod =
        json_pack("{s:{s:s++, s:s}, s:{s:s}, s:{s:s, s:o}}", "metadata", "name", name, "-pod", "",
                  "creationTimestamp", "2026-01-01T00:00:00Z", "spec", "nodeName", "node-1",
                  "status", "hostIP", "10.0.0.7", "conditions", json_array());
    json_t *status = json_object_get(pod, "status"), *container = NULL;

    if (strcmp(fake->pod, "pending") == 0)
        json_array_append_new(json_object_get(status, "conditions"),
                              json_pack("{s:s, s:s, s:s, s:s}", "type", "PodScheduled", "status",
                                        "False", "reason", "Unschedulable", "message",
                                        "0/3 nodes are available: 3 Insufficient nvidia.com/gpu."));
    else if (strcmp(fake->pod, "image") == 0)
        container = json_pack("{s:{s:{s:s}}}", "state", "waiting", "reason", "ContainerCreating");
    else if (strcmp(fake->pod, "pull_error") == 0)
        container = json_pack("{s:{s:{s:s, s:s}}}", "state", "waiting", "reason",
                              "ImagePullBackOff", "message", "Back-off pulling image \"x\"");
    else if (strcmp(fake->pod, "crash") == 0)
        container = json_pack("{s:{s:{s:s}}, s:{s:{s:i, s:s}}}", "state", "waiting", "reason",
                              "CrashLoopBackOff", "lastState", "terminated", "exitCode", 137,
                              "reason", "OOMKilled");
    else
        container = json_pack("{s:{s:{}}, s:s}", "state", "running", "imageID",
                              "docker.io/vllm/vllm-openai@sha256:0123");
    if (container != NULL)
        json_object_set_new(status, "containerStatuses", json_pack("[o]", container));
    return pod;
}

static void run_controllers(const struct fake_kubernetes *fake, json_t *deployment)
{
    long long replicas = json_get_integer(json_object_get(deployment, "spec"), "replicas", 1);
    long long ready = strcmp(fake->pod, "ready") == 0 ? replicas : 0;
    json_t *about = json_object_get(deployment, "metadata");

    json_object_set_new(deployment, "status",
                        json_pack("{s:I, s:I, s:I, s:I}", "observedGeneration",
                                  json_get_integer(about, "generation", 1), "replicas",
                                  (json_int_t)replicas, "updatedReplicas", (json_int_t)replicas,
                                  "availableReplicas", (json_int_t)ready));
}

/* ---- Requests ---- */

static const char *const collections[] = {
    "/deployments", "/services", "/serviceaccounts", "/roles", "/rolebindings", "/cronjobs", NULL,
};

static bool is_collection(const char *path)
{
    const char *last = strrchr(path, '/');

    for (const char *const *name = collections; *name != NULL; name++)
        if (strcmp(last, *name) == 0)
            return true;
    return strcmp(last, "/pods") == 0;
}

static bool has_labels(const json_t *object, const char *selector)
{
    const json_t *labels = json_object_get(json_object_get(object, "metadata"), "labels");
    char copy[512], *rest = copy, *part;

    snprintf(copy, sizeof copy, "%s", selector);
    while ((part = strsep(&rest, ",")) != NULL) {
        char *value = strchr(part, '=');

        *value++ = '\0';
        if (strcmp(json_get_text(labels, part, ""), value) != 0)
            return false;
    }
    return true;
}

static void list_pods(struct fake_kubernetes *fake, json_t *items)
{
    const char *path;
    json_t *object;

    json_object_foreach(fake->objects, path, object)
        if (strstr(path, "/deployments/") != NULL
            && json_get_integer(json_object_get(object, "spec"), "replicas", 1) > 0)
            json_array_append_new(items, pod_of(fake, object));
}

static void list(struct fake_kubernetes *fake, const struct fake_request *request,
                 struct fake_reply *reply)
{
    char *next = fake_server_parameter(request, "continue");
    long page = next != NULL ? strtol(next + 1, NULL, 10) : 0; /* "p3" */
    json_auto_t *items = json_array();
    json_auto_t *body = json_pack("{s:s, s:{}}", "kind", "List", "metadata");
    const char *path;
    json_t *object;
    long at = 0;

    free(next);
    if (strstr(request->path, "/pods") != NULL)
        list_pods(fake, items);
    json_object_foreach(fake->objects, path, object) {
        if (strncmp(path, request->path, strlen(request->path)) != 0)
            continue;
        run_controllers(fake, object);
        /* the first page has the first object, the second page nothing, the third page the second
         * object, and so on */
        if (!fake->has_pages || (page % 2 == 0 && at == page / 2))
            json_array_append(items, object);
        at++;
    }
    if (fake->has_pages && page / 2 + 1 < at) {
        char token[32];

        snprintf(token, sizeof token, "p%ld", page + 1);
        json_object_set_new(json_object_get(body, "metadata"), "continue", json_string(token));
    }
    json_object_set(body, "items", items);
    show(reply, body);
}

static void delete_collection(struct fake_kubernetes *fake, const struct fake_request *request,
                              struct fake_reply *reply, bool is_dry)
{
    char *selector = fake_server_parameter(request, "labelSelector");
    const char *path;
    json_t *object;
    void *next;

    if (selector == NULL)
        abort(); /* the request would delete other people's objects, too */
    json_object_foreach_safe(fake->objects, next, path, object) {
        if (strncmp(path, request->path, strlen(request->path)) == 0 && has_labels(object, selector)
            && !is_dry)
            json_object_del(fake->objects, path);
    }
    free(selector);
    text_add(&reply->body, "{\"kind\":\"Status\",\"status\":\"Success\"}");
}

static void delete_one(struct fake_kubernetes *fake, const struct fake_request *request,
                       struct fake_reply *reply, bool is_dry)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    const json_t *object = json_object_get(fake->objects, request->path);
    const char *uid = json_get_text(json_object_get(body, "preconditions"), "uid", NULL);

    if (uid != NULL
        && strcmp(uid, json_get_text(json_object_get(object, "metadata"), "uid", "")) != 0) {
        say(reply, 409, "Conflict", "Precondition failed: UID in precondition: %s", uid);
        return;
    }
    show(reply, object);
    if (!is_dry)
        json_object_del(fake->objects, request->path);
}

/* Sets the metadata that the API server sets after each change. */
static void update_metadata(struct fake_kubernetes *fake, json_t *object)
{
    json_t *about = json_object_get(object, "metadata");
    char text[32];

    json_object_set_new(about, "generation",
                        json_integer(json_get_integer(about, "generation", 0) + 1));
    snprintf(text, sizeof text, "%lld", ++fake->uids);
    json_object_set_new(about, "resourceVersion", json_string(text));
    if (json_object_get(about, "uid") == NULL)
        json_object_set_new(about, "uid", json_string(text));
    json_object_set_new(about, "managedFields",
                        json_pack("[{s:s, s:s, s:s}]", "manager", "opsbrain", "operation", "Apply",
                                  "time", "2026-01-01T00:00:00Z"));
}

static void merge(struct fake_kubernetes *fake, const struct fake_request *request,
                  struct fake_reply *reply, bool is_dry)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char path[512];
    json_t *object;
    char *end;

    snprintf(path, sizeof path, "%s", request->path);
    end = strstr(path, "/scale");
    if (end != NULL)
        *end = '\0';
    object = json_object_get(fake->objects, path);
    if (object == NULL)
        say(reply, 404, "NotFound", "deployments.apps \"%s\" not found", strrchr(path, '/') + 1);
    else if (!is_dry) {
        json_object_update_recursive(object, body);
        update_metadata(fake, object);
    }
    if (object != NULL)
        show(reply, object);
}

/* Returns whether the object exists and was not made by opsbrain. */
static bool is_foreign(const json_t *object)
{
    return object != NULL
           && json_object_get(json_object_get(json_object_get(object, "metadata"), "labels"),
                              "opsbrain/instance")
                  == NULL;
}

static void apply(struct fake_kubernetes *fake, const struct fake_request *request,
                  struct fake_reply *reply, bool is_dry)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    const char *kind = json_get_text(body, "kind", "");
    const json_t *about = json_object_get(body, "metadata");
    json_t *old = json_object_get(fake->objects, request->path);
    TEXT_AUTO path = { 0 };
    bool is_unknown = false;

    if (json_object_get(fake->fields, kind) == NULL
        || strcmp(json_get_text(about, "name", ""), strrchr(request->path, '/') + 1) != 0)
        say(reply, 400, "BadRequest",
            "the object's kind is unknown, or its name differs from the name in the URL");
    else if (!fake_fields_check(fake->fields, kind, body, &path, &is_unknown) && is_unknown)
        say(reply, 500, NULL,
            "failed to create typed patch object: .%s: field not declared in "
            "schema",
            text_string(&path));
    else if (path.length > 0)
        say(reply, 400, "BadRequest", "%s has the wrong type", text_string(&path));
    else if (is_foreign(old) && strstr(request->query, "force=true") == NULL)
        say(reply, 409, "Conflict",
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using "
            "apps/v1: .spec.replicas");
    else if (is_dry)
        show(reply, body);
    else {
        if (old == NULL)
            json_object_set(fake->objects, request->path, body);
        else
            json_object_update_recursive(old, body);
        old = json_object_get(fake->objects, request->path);
        update_metadata(fake, old);
        show(reply, old);
    }
}

static void create(struct fake_kubernetes *fake, const struct fake_request *request,
                   struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    const char *name = json_get_text(json_object_get(body, "metadata"), "name", "");
    TEXT_AUTO path = { 0 };
    TEXT_AUTO wrong = { 0 };
    bool is_unknown;

    text_addf(&path, "%s/%s", request->path, name);
    if (!fake_fields_check(fake->fields, json_get_text(body, "kind", ""), body, &wrong,
                           &is_unknown))
        say(reply, 400, "BadRequest", "%s is unknown or has the wrong type", text_string(&wrong));
    else if (json_object_get(fake->objects, text_string(&path)) != NULL)
        say(reply, 409, "AlreadyExists", "\"%s\" already exists", name);
    else {
        json_object_set(fake->objects, text_string(&path), body);
        update_metadata(fake, body);
        reply->status = 201;
        show(reply, body);
    }
}

static void review(const struct fake_kubernetes *fake, const struct fake_request *request,
                   struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    const json_t *what = json_object_get(json_object_get(body, "spec"), "resourceAttributes");

    json_object_set_new(body, "status",
                        json_pack("{s:b}", "allowed",
                                  strcmp(json_get_text(what, "resource", ""), fake->denied) != 0));
    show(reply, body);
}

static void change(struct fake_kubernetes *fake, const struct fake_request *request,
                   struct fake_reply *reply)
{
    char *dry = fake_server_parameter(request, "dryRun");
    bool is_dry = dry != NULL && strcmp(dry, "All") == 0;

    free(dry);
    fake->changes += !is_dry;
    if (strcmp(request->method, "DELETE") == 0 && is_collection(request->path))
        delete_collection(fake, request, reply, is_dry);
    else if (strcmp(request->method, "DELETE") == 0
             && json_object_get(fake->objects, request->path) == NULL)
        say(reply, 404, "NotFound", "\"%s\" not found", request->path);
    else if (strcmp(request->method, "DELETE") == 0)
        delete_one(fake, request, reply, is_dry);
    else if (strcmp(request->method, "POST") == 0 && is_collection(request->path))
        create(fake, request, reply);
    else if (strcmp(request->content_type, "application/apply-patch+yaml") == 0)
        apply(fake, request, reply, is_dry);
    else if (strcmp(request->content_type, "application/merge-patch+json") == 0)
        merge(fake, request, reply, is_dry);
    else
        say(reply, 415, "UnsupportedMediaType", "%s", request->content_type);
}

static void answer_get(struct fake_kubernetes *fake, const struct fake_request *request,
                       struct fake_reply *reply)
{
    json_t *object = json_object_get(fake->objects, request->path);

    if (strstr(request->path, "/log") != NULL) {
        reply->type = "text/plain";
        text_add(&reply->body, fake->log);
    } else if (is_collection(request->path))
        list(fake, request, reply);
    else if (object == NULL)
        say(reply, 404, "NotFound", "\"%s\" not found", request->path);
    else {
        run_controllers(fake, object);
        show(reply, object);
    }
}

static void answer(void *context, const struct fake_request *request, struct fake_reply *reply)
{
    struct fake_kubernetes *fake = context;
    bool is_read = strcmp(request->method, "GET") == 0;

    if (strcmp(request->bearer, TOKEN) != 0)
        say(reply, 401, "Unauthorized", "Unauthorized");
    else if (strstr(request->path, "selfsubjectaccessreviews") != NULL)
        review(fake, request, reply);
    else if (is_read)
        answer_get(fake, request, reply);
    else if (fake->status > 0) {
        say(reply, fake->status, fake->status == 429 ? "TooManyRequests" : "ServiceUnavailable",
            "later");
        fake->status = 0;
    } else {
        change(fake, request, reply);
        reply->breaks_off = fake->loses_reply;
        fake->loses_reply = false;
    }
}

void fake_kubernetes_start(struct fake_kubernetes *fake)
{
    *fake = (struct fake_kubernetes){ .pod = "ready", .objects = json_object() };
    fake->fields = fake_fields_load("kubernetes-fields.json");
    fake->server = fake_server_start(answer, fake);
}

void fake_kubernetes_stop(struct fake_kubernetes *fake)
{
    fake_server_stop(fake->server);
    json_decref(fake->objects);
    json_decref(fake->fields);
}
