/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/fake_podman.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

#define DIGEST_LENGTH (7 + 64)

static void refuse(struct fake_reply *reply, int status, const char *cause, const char *about)
{
    json_auto_t *body = json_pack("{s:s++, s:s, s:i}", "message", cause, about, "", "cause", cause,
                                  "response", status);

    reply->status = status;
    json_add(&reply->body, body);
}

/* Refuses a request that no provider should send. Records the first such problem, so that the test
 * can check it. */
static void complain(struct fake_podman *podman, struct fake_reply *reply, const char *what,
                     const char *name)
{
    if (podman->problem[0] == '\0')
        snprintf(podman->problem, sizeof podman->problem, "%s%s", what, name);
    refuse(reply, 400, what, name);
}

/* ---- Checking a container ---- */

static const char *const members[] = { "Image",      "Env", "Labels",     "ExposedPorts",
                                       "HostConfig", "Cmd", "Entrypoint", NULL };
static const char *const host_members[] = { "PortBindings",  "NetworkMode",    "Privileged",
                                            "CapDrop",       "SecurityOpt",    "PidsLimit",
                                            "RestartPolicy", "AutoRemove",     "Mounts",
                                            "ShmSize",       "DeviceRequests", NULL };
static const char *const mount_members[] = { "Type", "Source", "Target", "ReadOnly", NULL };

static const char *unknown_member(const json_t *object, const char *const *known)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(object), name, value) {
        size_t i = 0;

        while (known[i] != NULL && strcmp(known[i], name) != 0)
            i++;
        if (known[i] == NULL)
            return name;
    }
    return NULL;
}

static bool has_value(const json_t *object, const char *name, const char *value)
{
    return strcmp(json_get_text(object, name, ""), value) == 0;
}

static const char *check_ports(const json_t *host, const json_t *exposed)
{
    const char *port;
    json_t *bindings;

    json_object_foreach(json_object_get(host, "PortBindings"), port, bindings) {
        if (json_object_get(exposed, port) == NULL || strstr(port, "/tcp") == NULL)
            return "a published port is not an exposed TCP port";
        if (!has_value(json_array_get(bindings, 0), "HostIp", "127.0.0.1"))
            return "a port is published for other machines";
    }
    return json_object_size(json_object_get(host, "PortBindings")) == 1
               ? NULL
               : "it does not publish exactly one port";
}

static const char *check_safety(const json_t *host)
{
    const char *dropped = json_string_value(json_array_get(json_object_get(host, "CapDrop"), 0));
    const json_t *mount;
    size_t i;

    if (json_get_boolean(host, "Privileged", true))
        return "it is privileged";
    if (!has_value(host, "NetworkMode", "bridge"))
        return "it uses the machine's network";
    if (dropped == NULL || strcmp(dropped, "ALL") != 0)
        return "it keeps capabilities";
    if (json_array_size(json_object_get(host, "Mounts")) > 1)
        return "more than one folder is mounted";
    json_array_foreach(json_object_get(host, "Mounts"), i, mount)
        if (unknown_member(mount, mount_members) != NULL || !has_value(mount, "Type", "bind")
            || !json_get_boolean(mount, "ReadOnly", false))
            return "a mount is not a read-only bind mount";
    return NULL;
}

static bool has_digest(const char *image)
{
    const char *digest = strstr(image, "sha256:");

    return digest != NULL && strlen(digest) == DIGEST_LENGTH;
}

static void create(struct fake_podman *podman, const struct fake_request *request,
                   struct fake_reply *reply)
{
    json_auto_t *body = json_loads(request->body, 0, NULL);
    char *name = fake_server_parameter(request, "name");
    const json_t *host = json_object_get(body, "HostConfig");
    const char *image = json_get_text(body, "Image", ""), *problem;

    if ((problem = unknown_member(body, members)) != NULL
        || (problem = unknown_member(host, host_members)) != NULL)
        complain(podman, reply, "json: unknown field ", problem);
    else if ((problem = check_safety(host)) != NULL
             || (problem = check_ports(host, json_object_get(body, "ExposedPorts"))) != NULL)
        complain(podman, reply, problem, "");
    else if (!has_digest(image))
        complain(podman, reply, "the image is not named by its digest: ", image);
    else if (json_object_get(podman->containers, name) != NULL)
        refuse(reply, 409, "that name is already in use", "");
    else if (json_object_get(podman->images, image) == NULL)
        refuse(reply, 404, "no such image: ", image);
    else {
        json_object_set_new(podman->containers, name,
                            json_pack("{s:O, s:{s:b, s:i, s:s}}", "Config", body, "State",
                                      "Running", 0, "ExitCode", 0, "Error", ""));
        reply->status = 201;
        text_add(&reply->body, "{\"Id\":\"c0ffee\",\"Warnings\":[]}");
    }
    free(name);
}

/* ---- Start, stop and removal ---- */

static void set_running(const struct fake_podman *podman, json_t *container, bool running,
                        struct fake_reply *reply)
{
    json_t *state = json_object_get(container, "State");
    bool is_already = json_get_boolean(state, "Running", false) == running;

    reply->status = is_already ? 304 : 204;
    json_object_set_new(state, "Running", json_boolean(running));
    if (!is_already && podman->on_running != NULL)
        podman->on_running(podman->context, running);
}

static void serve_container(struct fake_podman *podman, const struct fake_request *request,
                            const char *rest, struct fake_reply *reply)
{
    char name[128];
    size_t length = strcspn(rest, "/");
    json_t *container;

    snprintf(name, sizeof name, "%.*s", (int)length, rest);
    container = json_object_get(podman->containers, name);
    if (container == NULL)
        refuse(reply, 404, "no such container: ", name);
    else if (strcmp(request->method, "DELETE") == 0) {
        set_running(podman, container, false, reply);
        json_object_del(podman->containers, name);
        reply->status = 204;
    } else if (strcmp(rest + length, "/json") == 0)
        json_add(&reply->body, container);
    else if (strcmp(rest + length, "/start") == 0)
        set_running(podman, container, true, reply);
    else if (strcmp(rest + length, "/stop") == 0)
        set_running(podman, container, false, reply);
    else
        complain(podman, reply, "unknown path ", rest);
}

/* Answers with a stream of lines. If the pull fails, the last line is an error. */
static void pull(struct fake_podman *podman, const struct fake_request *request,
                 struct fake_reply *reply)
{
    char *from = fake_server_parameter(request, "fromImage");
    char *tag = fake_server_parameter(request, "tag");
    const json_t *id;
    char name[512];

    snprintf(name, sizeof name, "%s@%s", from, tag);
    id = json_object_get(podman->registry, name);
    text_add(&reply->body, "{\"status\":\"Pulling\"}\n");
    if (id == NULL)
        text_add(&reply->body, "{\"error\":\"manifest unknown\"}\n");
    else {
        json_object_set(podman->images, name, json_iterable(id));
        text_add(&reply->body, "{\"status\":\"Download complete\"}\n");
    }
    free(from);
    free(tag);
}

static void serve_image(struct fake_podman *podman, const char *rest, struct fake_reply *reply)
{
    const char *end = strstr(rest, "/json");
    char name[512];
    const json_t *id;

    snprintf(name, sizeof name, "%.*s", (int)(end == NULL ? 0 : end - rest), rest);
    id = json_object_get(podman->images, name);
    if (id == NULL)
        refuse(reply, 404, "no such image: ", name);
    else {
        json_auto_t *image = json_pack("{s:O, s:[]}", "Id", id, "RepoDigests");

        json_add(&reply->body, image);
    }
}

static void answer(void *context, const struct fake_request *request, struct fake_reply *reply)
{
    struct fake_podman *podman = context;
    const char *path = request->path;

    json_array_append_new(podman->calls, json_sprintf("%s %s", request->method, path));
    if (strcmp(path, "/_ping") == 0) {
        reply->type = "text/plain";
        text_add(&reply->body, "OK");
    } else if (strcmp(path, "/containers/create") == 0)
        create(podman, request, reply);
    else if (strcmp(path, "/images/create") == 0)
        pull(podman, request, reply);
    else if (strncmp(path, "/containers/", sizeof "/containers/" - 1) == 0)
        serve_container(podman, request, path + sizeof "/containers/" - 1, reply);
    else if (strncmp(path, "/images/", sizeof "/images/" - 1) == 0)
        serve_image(podman, path + sizeof "/images/" - 1, reply);
    else
        complain(podman, reply, "unknown path ", path);
}

void fake_podman_start(struct fake_podman *podman, const char *path)
{
    *podman = (struct fake_podman){ .images = json_object(),
                                    .registry = json_object(),
                                    .containers = json_object(),
                                    .calls = json_array() };
    podman->server = fake_server_start_at(path, answer, podman);
}

void fake_podman_stop(struct fake_podman *podman)
{
    fake_server_stop(podman->server);
    json_decref(podman->images);
    json_decref(podman->registry);
    json_decref(podman->containers);
    json_decref(podman->calls);
}

size_t fake_podman_count(const struct fake_podman *podman, const char *call)
{
    const json_t *made;
    size_t i, count = 0;

    json_array_foreach(podman->calls, i, made)
        count += strcmp(json_string_value(made), call) == 0;
    return count;
}
