/* SPDX-License-Identifier: Apache-2.0 */
/* Compute Engine: requests for instances and firewalls, the operations that they start, and the
 * requests with which a target is checked. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "tests/clouds/fake_google_part.h"

#define PREFIX "/compute/v1/"
#define INSTANCES "/instances/"

__attribute__((format(printf, 4, 5))) static void say(struct fake_reply *reply, int status,
                                                      const char *reason, const char *format, ...)
{
    char message[400];
    json_auto_t *body = NULL;
    va_list values;

    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    body = json_pack("{s:{s:i, s:s, s:[{s:s, s:s, s:s}]}}", "error", "code", status, "message",
                     message, "errors", "message", message, "domain", "global", "reason", reason);
    reply->status = status;
    fake_google_show(reply, body);
}

/* ---- Operations ---- */

static void show_operation(const char *name, const json_t *kept, bool is_done,
                           struct fake_reply *reply)
{
    json_auto_t *out =
        json_pack("{s:s, s:s, s:s, s:i}", "kind", "compute#operation", "name", name, "status",
                  is_done ? "DONE" : "RUNNING", "progress", is_done ? 100 : 50);
    const json_t *error = json_object_get(kept, "error");

    if (is_done && error != NULL) {
        json_object_set_new(out, "error", json_pack("{s:[O]}", "errors", error));
        json_object_set_new(out, "httpErrorStatusCode", json_integer(503));
    }
    fake_google_show(reply, out);
}

/* Answers a request whose request id is invalid (with an error) or was used before (with the
 * earlier request's operation). Returns false for any other request. */
static bool is_answered(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply)
{
    char *id = fake_server_parameter(request, "requestId");
    const json_t *name = id != NULL ? json_object_get(fake->operations, id) : NULL;

    if (id != NULL && (strlen(id) != 36 || id[14] != '5')) {
        say(reply, 400, "invalid", "Invalid value for field 'requestId': '%s'. Not a UUID.", id);
        free(id);
        return true;
    }
    free(id);
    if (name == NULL)
        return false;
    show_operation(json_string_value(name), NULL, false, reply);
    return true;
}

static void begin(struct fake_google *fake, const struct fake_request *request, const char *path,
                  const char *code, const char *message, struct fake_reply *reply)
{
    char *id = fake_server_parameter(request, "requestId");
    json_t *kept = json_pack("{s:i, s:s}", "polls", 0, "path", path);
    char name[64];

    snprintf(name, sizeof name, "operation-%lld", ++fake->versions);
    if (code != NULL)
        json_object_set_new(kept, "error",
                            json_pack("{s:s, s:s}", "code", code, "message", message));
    json_object_set_new(fake->operations, name, kept);
    if (id != NULL)
        json_object_set_new(fake->operations, id, json_string(name));
    free(id);
    show_operation(name, kept, false, reply);
}

/* Answers a poll of an operation. The operation is done at the second poll; if it fails, its object
 * is deleted then. */
static void poll_operation(struct fake_google *fake, const char *name, struct fake_reply *reply)
{
    json_t *kept = json_object_get(fake->operations, name);
    int64_t polls = json_get_integer(kept, "polls", 0) + 1;

    if (!json_is_object(kept)) {
        say(reply, 404, "notFound", "The resource '%s' was not found", name);
        return;
    }
    json_object_set_new(kept, "polls", json_integer(polls));
    if (polls == 2 && json_object_get(kept, "error") != NULL)
        json_object_del(fake->objects, json_get_text(kept, "path", ""));
    show_operation(name, kept, polls >= 2, reply);
}

/* Finds an instance by the name or the id in the path, and replaces an id with the name. */
static json_t *find(const struct fake_google *fake, char path[512])
{
    json_t *instance = json_object_get(fake->objects, path), *other;
    char *name = strstr(path, INSTANCES) + strlen(INSTANCES);
    const char *key;

    if (instance != NULL)
        return instance;
    json_object_foreach(fake->objects, key, other) {
        FREE_AUTO char *id = json_dumps(json_object_get(other, "id"), JSON_ENCODE_ANY);

        if (id != NULL && strncmp(key, path, (size_t)(name - path)) == 0
            && strncmp(id + (id[0] == '"'), name, strlen(name)) == 0) {
            snprintf(path, 512, "%s", key);
            return other;
        }
    }
    return NULL;
}

/* Returns the instance that a request names, writes the instance's path to `path`, and sets *method
 * to the rest of the request's path, such as "/stop" or "". If there is no such instance, answers
 * with 404 and returns NULL. */
static json_t *find_requested(const struct fake_google *fake, const struct fake_request *request,
                              char path[512], const char **method, struct fake_reply *reply)
{
    size_t before = (size_t)(strstr(request->path, INSTANCES) - request->path) + strlen(INSTANCES);
    json_t *instance;

    *method = request->path + before + strcspn(request->path + before, "/");
    snprintf(path, 512, "%.*s", (int)(*method - request->path), request->path);
    instance = find(fake, path);
    if (instance == NULL)
        say(reply, 404, "notFound", "The resource '%s' was not found", path + strlen(PREFIX));
    return instance;
}

/* ---- Creating ---- */

static const char *code_of(const struct fake_google *fake)
{
    return fake->operation_code[0] != '\0' ? fake->operation_code : "QUOTA_EXCEEDED";
}

static void create_instance(struct fake_google *fake, const struct fake_request *request,
                            struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    const char *model, *wrong;
    char path[512];

    snprintf(path, sizeof path, "%.300s/%.100s", request->path, json_get_text(body, "name", ""));
    if (!fake_google_check(fake, "Instance", body, reply))
        return;
    wrong = fake_google_machine_judge(body);
    model = json_get_text(json_object_get(body, "scheduling"), "provisioningModel", "STANDARD");
    if (wrong != NULL)
        say(reply, 400, "invalid", "Invalid value for field 'resource.scheduling': %s", wrong);
    else if (json_object_get(fake->objects, path) != NULL)
        say(reply, 409, "alreadyExists", "The resource '%s' already exists", path + strlen(PREFIX));
    else if (fake_google_machine_exceeds(fake, body))
        say(reply, 403, "quotaExceeded",
            "Quota '%sNVIDIA_L4_GPUS' exceeded.  Limit: 3.0 in region us-central1.",
            strcmp(model, "STANDARD") == 0 ? "" : "PREEMPTIBLE_");
    else {
        bool is_exhausted = fake->lacks_capacity && strcmp(model, "FLEX_START") != 0;

        fake_google_machine_settle(fake, body, path);
        json_object_set(fake->objects, path, body);
        begin(fake, request, path,
              is_exhausted                       ? "ZONE_RESOURCE_POOL_EXHAUSTED"
              : fake->operation_error[0] != '\0' ? code_of(fake)
                                                 : NULL,
              is_exhausted
                  ? "The zone 'projects/p/zones/us-central1-a' does not have enough resources "
                    "available to fulfill the request."
                  : fake->operation_error,
              reply);
    }
}

static void create_firewall(struct fake_google *fake, const struct fake_request *request,
                            struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char path[512];

    snprintf(path, sizeof path, "%.300s/%.100s", request->path, json_get_text(body, "name", ""));
    if (!fake_google_check(fake, "Firewall", body, reply))
        return;
    if (json_object_get(fake->objects, path) != NULL) {
        say(reply, 409, "alreadyExists", "The resource '%s' already exists", path + strlen(PREFIX));
        return;
    }
    json_object_set(fake->objects, path, body);
    begin(fake, request, path, NULL, NULL, reply);
}

/* ---- Changing ---- */

static void set_scheduling(struct fake_google *fake, json_t *instance,
                           const struct fake_request *request, const char *path,
                           struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);

    if (!fake_google_check(fake, "Scheduling", body, reply))
        return;
    if (strcmp(json_get_text(instance, "status", ""), "TERMINATED") != 0) {
        say(reply, 400, "invalid", "%s", "The instance must be stopped to change its run time.");
        return;
    }
    json_object_set(instance, "scheduling", body);
    begin(fake, request, path, NULL, NULL, reply);
}

static void set_labels(struct fake_google *fake, json_t *instance,
                       const struct fake_request *request, const char *path,
                       struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);

    if (!fake_google_check(fake, "SetLabels", body, reply))
        return;
    if (!json_equal(json_object_get(body, "labelFingerprint"),
                    json_object_get(instance, "labelFingerprint"))) {
        say(reply, 412, "conditionNotMet", "%s",
            "Labels fingerprint either invalid or resource labels have changed");
        return;
    }
    json_object_set(instance, "labels", json_object_get(body, "labels"));
    fake_google_machine_label(fake, instance);
    begin(fake, request, path, NULL, NULL, reply);
}

static void change_status(struct fake_google *fake, json_t *instance,
                          const struct fake_request *request, const char *path,
                          struct fake_reply *reply)
{
    bool stops = strstr(request->path, "/start") == NULL;

    if (strcmp(request->method, "DELETE") == 0)
        json_object_set_new(instance, ".isDeleted", json_true());
    json_object_set_new(instance, "status", json_string(stops ? "STOPPING" : "PROVISIONING"));
    begin(fake, request, path, NULL, NULL, reply);
}

static void change_instance(struct fake_google *fake, const struct fake_request *request,
                            struct fake_reply *reply)
{
    char path[512];
    const char *method;
    json_t *instance = find_requested(fake, request, path, &method, reply);

    if (instance == NULL)
        return;
    if (strcmp(method, "/setScheduling") == 0)
        set_scheduling(fake, instance, request, path, reply);
    else if (strcmp(method, "/setLabels") == 0)
        set_labels(fake, instance, request, path, reply);
    else
        change_status(fake, instance, request, path, reply);
}

static void change(struct fake_google *fake, const struct fake_request *request,
                   struct fake_reply *reply)
{
    fake_google_machine_advance(fake);
    if (is_answered(fake, request, reply))
        return;
    if (strstr(request->path, INSTANCES) != NULL)
        change_instance(fake, request, reply);
    else if (strstr(request->path, "/instances") != NULL)
        create_instance(fake, request, reply);
    else if (strcmp(request->method, "POST") == 0)
        create_firewall(fake, request, reply);
    else if (json_object_del(fake->objects, request->path) == 0)
        begin(fake, request, request->path, NULL, NULL, reply);
    else
        say(reply, 404, "notFound", "The resource '%s' was not found",
            request->path + strlen(PREFIX));
}

/* ---- Reading ---- */

static void show_phase(struct fake_google *fake, json_t *instance, struct fake_reply *reply)
{
    static const char *const phases[] = { "image", "weights", "compile", "ready" };
    int64_t polls = json_get_integer(instance, ".polls", 0);
    const char *phase = fake->server_fails ? "failed" : phases[polls < 4 ? polls : 3];
    json_auto_t *out =
        json_pack("{s:s, s:{s:[{s:s, s:s, s:s}]}}", "queryPath", "opsbrain/", "queryValue", "items",
                  "namespace", "opsbrain", "key", "phase", "value", phase);

    if (polls > 0) /* the server has written output */
        json_array_append_new(json_object_get(json_object_get(out, "queryValue"), "items"),
                              json_pack("{s:s, s:s, s:s}", "namespace", "opsbrain", "key", "line",
                                        "value", "Capturing graphs"));
    json_object_set_new(instance, ".polls", json_integer(polls + 1));
    fake_google_show(reply, out);
}

static void read_instance(struct fake_google *fake, const struct fake_request *request,
                          struct fake_reply *reply)
{
    char path[512];
    const char *method;
    json_t *instance = find_requested(fake, request, path, &method, reply);

    if (instance == NULL)
        return;
    if (strcmp(method, "/getGuestAttributes") == 0)
        show_phase(fake, instance, reply);
    else if (method[0] != '\0')
        text_add(&reply->body, "{\"contents\":\"boot\\r\\nstartup-script: opsbrain: Loading "
                               "weights: 50%\\r\\n\",\"next\":\"70\"}");
    else {
        fake_google_show(reply, instance);
        fake_google_machine_pass(fake, path, instance);
    }
}

static bool read_resource(struct fake_google *fake, const struct fake_request *request,
                          struct fake_reply *reply)
{
    const char *operation = strstr(request->path, "/operations/");

    fake_google_machine_advance(fake);
    if (operation != NULL)
        poll_operation(fake, operation + strlen("/operations/"), reply);
    else if (strstr(request->path, INSTANCES) != NULL)
        read_instance(fake, request, reply);
    else if (strstr(request->path, "/regions/") != NULL)
        text_add(&reply->body,
                 "{\"quotas\":[{\"metric\":\"NVIDIA_L4_GPUS\",\"limit\":8.0,\"usage\":2.0},"
                 "{\"metric\":\"COMMITTED_NVIDIA_L4_GPUS\",\"limit\":9.0},"
                 "{\"metric\":\"CPUS\",\"limit\":24.0,\"usage\":0.0}]}");
    else if (strstr(request->path, "/images/family/no-such") != NULL)
        say(reply, 404, "notFound", "The resource '%s' was not found",
            request->path + strlen(PREFIX));
    else if (strstr(request->path, "/images/family/") != NULL
             || strstr(request->path, "/networks/") != NULL)
        text_add(&reply->body, "{\"status\":\"READY\"}");
    else
        return false;
    return true;
}

const struct fake_google_part fake_google_compute = {
    .part = PREFIX,
    .parameters = " requestId maxResults pageToken queryPath port start ",
    .list_end = "/instances",
    .list = "items",
    .read = read_resource,
    .change = change,
};
