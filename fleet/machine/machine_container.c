/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_container.h"

#include <stdio.h>
#include <string.h>

#include "base/core/text.h"
#include "base/json/json.h"
#include "fleet/machine/machine_watch.h"

/* The base of each URL. The paths name no API version, so that Docker and Podman use their newest
 * version: Docker refuses versions that it considers too old. */
#define HOST "http://localhost"
#define PULL_MS (6 * INT64_C(3600000))
/* Long enough to stop a container: after 10 s, Podman and Docker kill it. */
#define CALL_MS 30000
#define PROCESSES_MAX 4096
#define GIB (INT64_C(1) << 30)

/* ---- The request that creates a container ---- */

static json_t *variables_of(const json_t *record, const char *key)
{
    json_t *list = json_array();
    const char *name, *key_variable = json_get_text(record, "key_variable", "");
    json_t *value;

    json_object_foreach(json_iterable(json_object_get(record, "environment")), name, value)
        json_array_append_new(list, json_sprintf("%s=%s", name, json_string_value(value)));
    if (key_variable[0] != '\0')
        json_array_append_new(list, json_sprintf("%s=%s", key_variable, key));
    return list;
}

static json_t *host_config_of(const json_t *record, const char *port)
{
    const json_t *models = json_object_get(record, "models");
    int64_t shared_gib = json_get_integer(record, "shared_memory_gib", 0);
    char host_port[16];
    json_t *host;

    snprintf(host_port, sizeof host_port, "%d", (int)json_get_integer(record, "port", 0));
    host = json_pack("{s:{s:[{s:s, s:s}]}, s:s, s:b, s:[s], s:[s], s:i, s:{s:s}, s:b, s:[]}",
                     "PortBindings", port, "HostIp", "127.0.0.1", "HostPort", host_port,
                     "NetworkMode", "bridge", "Privileged", 0, "CapDrop", "ALL", "SecurityOpt",
                     "no-new-privileges", "PidsLimit", PROCESSES_MAX, "RestartPolicy", "Name", "no",
                     "AutoRemove", 0, "Mounts");
    if (json_object_get(models, "mounted_at") != NULL)
        json_array_append_new(json_object_get(host, "Mounts"),
                              json_pack("{s:s, s:s, s:s, s:b}", "Type", "bind", "Source",
                                        json_get_text(models, "folder", ""), "Target",
                                        json_get_text(models, "mounted_at", ""), "ReadOnly", 1));
    if (shared_gib > 0)
        json_object_set_new(host, "ShmSize", json_integer(shared_gib * GIB));
    if (json_get_boolean(record, "gpus", false))
        json_object_set_new(host, "DeviceRequests",
                            json_pack("[{s:s, s:i, s:[[s]]}]", "Driver", "nvidia", "Count", -1,
                                      "Capabilities", "gpu"));
    return host;
}

json_t *machine_container_body(const json_t *record, const char *key)
{
    char port[24];
    json_t *body;

    snprintf(port, sizeof port, "%d/tcp", (int)json_get_integer(record, "inner_port", 0));
    body = json_pack("{s:s, s:o, s:O, s:{s:{}}, s:o}", "Image", json_get_text(record, "image", ""),
                     "Env", variables_of(record, key), "Labels", json_object_get(record, "labels"),
                     "ExposedPorts", port, "HostConfig", host_config_of(record, port));
    if (json_array_size(json_object_get(record, "arguments")) > 0)
        json_object_set(body, "Cmd", json_object_get(record, "arguments"));
    if (json_array_size(json_object_get(record, "entrypoint")) > 0)
        json_object_set(body, "Entrypoint", json_object_get(record, "entrypoint"));
    return body;
}

/* ---- The socket ---- */

static const char *socket_of(const struct machine_watch *watch)
{
    return json_get_text(json_object_get(watch->record, "host"), "containers", "");
}

static const char *name_of(const struct machine_watch *watch)
{
    return json_get_text(watch->record, "name", "");
}

static CHECKED bool call(struct machine_watch *watch, const char *method, const char *suffix,
                         struct machine_http_reply *out, struct error *error)
{
    struct machine_http http = machine_watch_http(watch, socket_of(watch), HOST);
    char path[192];

    http.stopped = NULL; /* otherwise a container that should no longer run could not be ended */
    http.timeout_ms = CALL_MS;
    snprintf(path, sizeof path, "/containers/%s%s", name_of(watch), suffix);
    return machine_http_call(&http, method, path, NULL, out, error);
}

bool machine_container_image(const char *socket, const char *name, char out[128],
                             struct error *error)
{
    const struct machine_http http = { .socket = socket, .base = HOST, .bearer = "" };
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    char path[640];

    snprintf(path, sizeof path, "/images/%s/json", name);
    if (!machine_http_call(&http, "GET", path, NULL, &reply, error))
        return false;
    text_copy(out, 128, json_get_text(reply.body, "Id", ""));
    return strlen(out) >= 64
           || error_set(error, ERROR_UPSTREAM, "%s gave no id for the image %s", socket, name);
}

/* Shows the progress of a pull: {"status": "Downloading", ...} or {"error": ...}. */
static void show_pull(void *context, const json_t *line)
{
    machine_watch_show(context, NULL, "image",
                       json_get_text(line, "error", json_get_text(line, "status", "")));
}

/* Pulls the image if this machine does not have it. An image is pulled by its digest, so that it
 * is the image that the plan shows. */
static CHECKED bool pull(struct machine_watch *watch, struct error *error)
{
    struct machine_http http = machine_watch_http(watch, socket_of(watch), HOST);
    const char *image = json_get_text(watch->record, "image", ""), *at = strchr(image, '@');
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    char path[640], id[128];

    machine_watch_show(watch, "starting", "image", "");
    if (machine_container_image(socket_of(watch), image, id, error))
        return true;
    if (at == NULL)
        return error_set(error, ERROR_NOT_FOUND, "this machine no longer has the image %s", image);
    http.on_line = show_pull;
    http.timeout_ms = PULL_MS;
    snprintf(path, sizeof path, "/images/create?fromImage=%.*s&tag=%s", (int)(at - image), image,
             at + 1);
    return machine_http_call(&http, "POST", path, NULL, &reply, error)
           && machine_container_image(socket_of(watch), image, id, error);
}

/* Returns true if this server's record has labels and the container has all of them. */
static bool is_ours(const json_t *container, const json_t *record)
{
    const json_t *labels = json_object_get(json_object_get(container, "Config"), "Labels");
    const json_t *ours = json_object_get(record, "labels"), *value;
    const char *name;

    json_object_foreach(json_iterable(ours), name, value)
        if (!json_equal(json_object_get(labels, name), value))
            return false;
    return json_object_size(ours) > 0;
}

static CHECKED bool create(struct machine_watch *watch, struct error *error)
{
    struct machine_http http = machine_watch_http(watch, socket_of(watch), HOST);
    json_auto_t *body = machine_container_body(watch->record, watch->key);
    MACHINE_HTTP_REPLY_AUTO found = { 0 };
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    struct error why;
    char path[160];

    if (call(watch, "GET", "/json", &found, &why))
        return is_ours(found.body, watch->record)
               || error_set(error, ERROR_CONFLICT,
                            "there is already a container %s, which opsbrain did not make: it was "
                            "left alone",
                            name_of(watch));
    if (found.status != 404) {
        *error = why;
        return false;
    }
    http.timeout_ms = CALL_MS;
    snprintf(path, sizeof path, "/containers/create?name=%s", name_of(watch));
    return machine_http_call(&http, "POST", path, body, &reply, error);
}

/* ---- From start to removal ---- */

static CHECKED bool start(struct machine_watch *watch, struct error *error)
{
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };

    if (!pull(watch, error) || !create(watch, error))
        return false;
    return call(watch, "POST", "/start", &reply, error) || reply.status == 304;
}

static CHECKED bool check(struct machine_watch *watch, struct error *error)
{
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    const json_t *state;
    struct error why;

    if (!machine_watch_is_due(watch))
        return true;
    if (!call(watch, "GET", "/json", &reply, &why))
        return reply.status != 404 /* any other failure may be temporary */
               || error_set(error, ERROR_UPSTREAM,
                            "the container was removed by something other than opsbrain");
    state = json_object_get(reply.body, "State");
    return json_get_boolean(state, "Running", false)
           || error_set(error, ERROR_UPSTREAM, "the container ended with status %lld%s%.100s",
                        (long long)json_get_integer(state, "ExitCode", -1),
                        json_get_text(state, "Error", "")[0] == '\0' ? "" : ": ",
                        json_get_text(state, "Error", ""));
}

/* Sets *found to whether the container exists and is ours. The container counts as absent only if
 * two reads do not find it. */
static CHECKED bool find_ours(struct machine_watch *watch, struct machine_http_reply *out,
                              bool *found, struct error *error)
{
    *found = false;
    for (int reads = 0; reads < 2; reads++) {
        machine_http_finish(out);
        if (call(watch, "GET", "/json", out, error)) {
            *found = is_ours(out->body, watch->record);
            return json_object_get(out->body, "Config") != NULL
                   || error_set(error, ERROR_UPSTREAM,
                                "the answer from %s does not describe a container",
                                socket_of(watch));
        }
        if (out->status != 404)
            return false;
    }
    return true;
}

static bool has_ended(const json_t *container)
{
    return !json_get_boolean(json_object_get(container, "State"), "Running", true);
}

static bool is_gone(const json_t *container)
{
    return container == NULL;
}

/* Changes the container unless it is absent, is not ours, or is already as wanted. Then reads
 * it again to check that it has changed, because the answer alone does not prove that. */
static CHECKED bool change(struct machine_watch *watch, const char *method, const char *suffix,
                           bool (*is_done)(const json_t *container), struct error *error)
{
    for (int tries = 0; tries < 2; tries++) {
        MACHINE_HTTP_REPLY_AUTO container = { 0 };
        MACHINE_HTTP_REPLY_AUTO reply = { 0 };
        bool found;

        if (!find_ours(watch, &container, &found, error))
            return false;
        if (!found || is_done(container.body))
            return true;
        if (tries == 0 && !call(watch, method, suffix, &reply, error) && reply.status != 304
            && reply.status != 404)
            return false;
    }
    return error_set(error, ERROR_UPSTREAM, "the container %s did not change after a %s request",
                     name_of(watch), method);
}

static CHECKED bool end(struct machine_watch *watch, struct error *error)
{
    return change(watch, "POST", "/stop?t=10", has_ended, error);
}

static CHECKED bool remove_it(struct machine_watch *watch, struct error *error)
{
    return change(watch, "DELETE", "?force=true&v=true", is_gone, error);
}

const struct machine_kind machine_kind_container = { start, check, end, remove_it };
