/* SPDX-License-Identifier: Apache-2.0 */
/* Cloud TPU: queued resources and their nodes. Each read of a queued resource or node moves it to
 * its next state, until it reaches a lasting state; a flex-start resource is suspended when its run
 * time ends. A node reports its phase, as its startup script would. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "tests/clouds/fake_tpu.h"

void fake_tpu_path(const char *path, char out[512])
{
    const char *rest = strstr(path, "/projects/");

    snprintf(out, 512, "/v2%s", rest != NULL ? rest : "");
}

void fake_tpu_refuse(struct fake_reply *reply, const char *format, ...)
{
    char message[400];
    va_list values;

    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    fake_google_say(reply, 400, "INVALID_ARGUMENT", message);
}

int64_t fake_tpu_duration(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);

    return end > text && value >= 0 && strcmp(end, "s") == 0 ? value : -1;
}

const char *fake_tpu_state(const json_t *queued)
{
    return json_get_text(json_object_get(queued, "state"), "state", "");
}

void fake_tpu_set_state(json_t *queued, const char *state)
{
    json_object_set_new(queued, "state",
                        json_pack("{s:s, s:s}", "state", state, "stateInitiator", "SERVICE"));
}

json_t *fake_tpu_specification(const json_t *queued)
{
    return json_array_get(json_object_get(json_object_get(queued, "tpu"), "nodeSpec"), 0);
}

void fake_tpu_node_path(const char *path, const json_t *queued, char out[512])
{
    snprintf(out, 512, "%.*s" FAKE_TPU_NODES "%.100s", (int)(strstr(path, FAKE_TPU_QUEUED) - path),
             path, json_get_text(fake_tpu_specification(queued), "nodeId", ""));
}

/* ---- Changing ---- */

/* Starts to delete a queued resource and its node; `node` is NULL if there is none. */
static void delete_both(struct fake_google *fake, const char *path, json_t *queued,
                        const char *node_path, json_t *node, struct fake_reply *reply)
{
    json_t *before = fake_google_before(fake, path);

    if (node != NULL) {
        json_object_set_new(before, node_path, json_deep_copy(node));
        json_object_set_new(node, "state", json_string("DELETING"));
    }
    fake_tpu_set_state(queued, "DELETING");
    fake_google_begin_take(fake, path, before, reply);
}

static void delete_queued(struct fake_google *fake, const struct fake_request *request,
                          const char *path, struct fake_reply *reply)
{
    FREE_AUTO char *force = fake_server_parameter(request, "force");
    json_t *queued = json_object_get(fake->objects, path), *node;
    char at[512];

    if (queued == NULL) {
        fake_google_say(reply, 404, "NOT_FOUND", "Resource was not found");
        return;
    }
    fake_tpu_node_path(path, queued, at);
    node = json_object_get(fake->objects, at);
    if (node != NULL && (force == NULL || strcmp(force, "true") != 0))
        fake_google_say(reply, 400, "FAILED_PRECONDITION",
                        "The queued resource has nodes: delete them, or use force");
    else
        delete_both(fake, path, queued, at, node, reply);
}

static void change_queued(struct fake_google *fake, const struct fake_request *request,
                          struct fake_reply *reply)
{
    char path[512];

    fake_tpu_advance(fake);
    fake_tpu_path(request->path, path);
    if (strcmp(request->method, "DELETE") == 0)
        delete_queued(fake, request, path, reply);
    else if (strstr(path, FAKE_TPU_QUEUED) == NULL)
        fake_tpu_create(fake, request, reply);
    else
        fake_google_say(reply, 404, "NOT_FOUND", "Method not found.");
}

static void show_phase(struct fake_google *fake, json_t *node, const struct fake_request *request,
                       struct fake_reply *reply)
{
    static const char *const phases[] = { "image", "weights", "compile", "ready" };
    json_auto_t *body = json_loads(request->body, 0, NULL);
    int64_t polls = json_get_integer(node, ".polls", 0);
    json_auto_t *out = NULL;

    if (!fake_google_check(fake, "TpuAttributes", body, reply))
        return;
    out = json_pack("{s:[{s:s, s:{s:[{s:s, s:s, s:s}, {s:s, s:s, s:s}]}}]}", "guestAttributes",
                    "queryPath", "opsbrain/", "queryValue", "items", "namespace", "opsbrain", "key",
                    "phase", "value", fake->server_fails ? "failed" : phases[polls < 4 ? polls : 3],
                    "namespace", "opsbrain", "key", "line", "value", "Loading weights: 50%");
    json_object_set_new(node, ".polls", json_integer(polls + 1));
    fake_google_show(reply, out);
}

static void patch(struct fake_google *fake, json_t *node, const struct fake_request *request,
                  const char *path, struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char *mask = fake_server_parameter(request, "updateMask");

    if (mask == NULL || strcmp(mask, "labels") != 0)
        fake_tpu_refuse(reply, "update_mask: \"%s\" is not supported", mask != NULL ? mask : "");
    else if (fake_google_check(fake, "TpuNode", body, reply)) {
        json_t *before = fake_google_before(fake, path);

        json_object_set(node, "labels", json_object_get(body, "labels"));
        fake_google_begin_take(fake, path, before, reply);
    }
    free(mask);
}

static void change_state(struct fake_google *fake, json_t *node, const char *method,
                         const char *path, struct fake_reply *reply)
{
    bool stops = strcmp(method, ":stop") == 0;

    if (!stops && strcmp(method, ":start") != 0)
        fake_google_say(reply, 404, "NOT_FOUND", "Method not found.");
    else if (strcmp(json_get_text(node, "state", ""), stops ? "READY" : "STOPPED") != 0)
        fake_google_say(reply, 400, "FAILED_PRECONDITION",
                        stops ? "Cannot stop a node that is not READY"
                              : "Cannot start a node that is not STOPPED");
    else {
        json_t *before = fake_google_before(fake, path);

        json_object_set_new(node, "state", json_string(stops ? "STOPPING" : "STARTING"));
        fake_google_begin_take(fake, path, before, reply);
    }
}

static void change_node(struct fake_google *fake, const struct fake_request *request,
                        struct fake_reply *reply)
{
    const char *method = strchr(request->path, ':');
    char whole[512], path[512];
    json_t *node;

    fake_tpu_advance(fake);
    fake_tpu_path(request->path, whole);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(whole, ":"), whole);
    node = json_object_get(fake->objects, path);
    if (node == NULL)
        fake_google_say(reply, 404, "NOT_FOUND", "Resource was not found");
    else if (method != NULL && strcmp(method, ":getGuestAttributes") == 0)
        show_phase(fake, node, request, reply);
    else if (strcmp(request->method, "PATCH") == 0)
        patch(fake, node, request, path, reply);
    else if (strcmp(request->method, "DELETE") == 0) {
        json_t *before = fake_google_before(fake, path);

        json_object_set_new(node, "state", json_string("DELETING"));
        fake_google_begin_take(fake, path, before, reply);
    } else
        change_state(fake, node, method != NULL ? method : "", path, reply);
}

/* ---- Reading ---- */

static bool read_one(struct fake_google *fake, const struct fake_request *request,
                     struct fake_reply *reply)
{
    char path[512];
    json_t *object;

    fake_tpu_advance(fake);
    fake_tpu_path(request->path, path);
    object = json_object_get(fake->objects, path);
    if (object == NULL)
        return false;
    fake_google_show(reply, object);
    fake_tpu_pass(fake, path, object);
    return true;
}

const struct fake_google_part fake_google_tpu_queue = {
    .part = "/queuedResources",
    .parameters = " queuedResourceId requestId force pageSize pageToken ",
    .list_end = "/queuedResources",
    .list = "queuedResources",
    .read = read_one,
    .change = change_queued
};
const struct fake_google_part fake_google_tpu_nodes = {
    .part = "/nodes",
    .parameters = " updateMask pageSize pageToken ",
    .list_end = "/nodes",
    .list = "nodes",
    .read = read_one,
    .change = change_node,
};
