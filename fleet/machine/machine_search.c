/* SPDX-License-Identifier: Apache-2.0 */
/* Finds model servers on this machine that opsbrain did not start. It searches the ports that
 * engines usually use, and the port in the setting this_machine_ollama. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/machine/machine_http.h"
#include "fleet/machine/machine_private.h"

#define PROBE_MS 1000
#define SHOWN_MODELS 5

static const struct engine {
    const char *name;
    int64_t port;
    const char *owner; /* "owned_by" of its models in the reply to GET /v1/models */
} engines[] = {
    { "ollama", 11434, "library" },
    { "vllm", 8000, "vllm" },
    { "llama-cpp", 8080, "llamacpp" },
    { "sglang", 30000, "sglang" },
};
#define ENGINES (sizeof engines / sizeof *engines)

static const char *engine_of(const json_t *models, int64_t port)
{
    const char *owner = json_get_text(json_array_get(models, 0), "owned_by", "");

    for (size_t i = 0; i < ENGINES; i++)
        if (strcmp(engines[i].owner, owner) == 0)
            return engines[i].name;
    for (size_t i = 0; i < ENGINES; i++)
        if (engines[i].port == port)
            return engines[i].name;
    return "server";
}

static void write_models(const json_t *models, struct text *out)
{
    const json_t *model;
    size_t i;

    text_add(out, json_array_size(models) > 0 ? "serves" : "serves no model now");
    json_array_foreach(models, i, model) {
        const char *id = json_get_text(model, "id", "");

        if (i == SHOWN_MODELS)
            break;
        text_add(out, i > 0 ? ", " : " ");
        text_add_printable(out, id, strlen(id), 60);
    }
}

static json_t *describe(int64_t port, const json_t *models, bool needs_key)
{
    char base[64];
    TEXT_AUTO message = { 0 };
    TEXT_AUTO name = { 0 };

    text_addf(&name, "%s-%d", engine_of(models, port), (int)port);
    if (needs_key)
        text_add(&message, "it requires a key");
    else
        write_models(models, &message);
    return json_pack("{s:s, s:s, s:s, s:s, s:I}", "name", text_string(&name), "state", "ready",
                     "message", text_string(&message), "address", machine_http_base(port, base),
                     "port", (json_int_t)port);
}

/* Returns NULL if no model server answers on the port. */
static json_t *ask(int64_t port)
{
    char base[64];
    const struct machine_http http = {
        .socket = "", .base = machine_http_base(port, base), .bearer = "", .timeout_ms = PROBE_MS
    };
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    const json_t *models;
    struct error ignored;
    bool done = machine_http_call(&http, "GET", "/v1/models", NULL, &reply, &ignored);

    models = json_object_get(reply.body, "data");
    if (done && (json_is_array(models) || json_is_null(models))) /* null: Ollama has no models */
        return describe(port, models, false);
    return reply.status == 401 && json_object_get(reply.body, "error") != NULL
               ? describe(port, NULL, true)
               : NULL;
}

static bool has_port(const json_t *servers, int64_t port)
{
    const json_t *server;
    size_t i;

    json_array_foreach(servers, i, server)
        if (json_get_integer(server, "port", 0) == port
            && json_object_get(server, "service") == NULL)
            return true;
    return false;
}

static void search_port(int64_t port, json_t *servers)
{
    json_t *found = has_port(servers, port) ? NULL : ask(port);

    if (found != NULL)
        json_array_append_new(servers, found);
}

/* Returns the port of the URL in the setting this_machine_ollama; 0 if the URL has no port. */
static int64_t port_of_ollama(const struct machine *machine)
{
    const char *port = strrchr(machine->rules.ollama, ':');
    int64_t number = 0;

    return port != NULL && text_to_integer(port + 1, 1, 65535, &number) ? number : 0;
}

void machine_search(const struct machine *machine, json_t *servers)
{
    int64_t ollama_port = port_of_ollama(machine);

    for (size_t i = 0; i < ENGINES; i++)
        search_port(engines[i].port, servers);
    if (ollama_port > 0)
        search_port(ollama_port, servers);
}

bool machine_search_find(const struct machine *machine, const char *name, json_t **out,
                         struct error *error)
{
    json_auto_t *servers = json_array();
    const char *port = strrchr(name, '-');
    int64_t number;
    json_t *server;
    size_t i;

    if (port == NULL || !text_to_integer(port + 1, 1, 65535, &number))
        return error_set(error, ERROR_NOT_FOUND, "this machine has no server %s", name);
    machine_server_list(machine, servers);
    machine_search(machine, servers);
    json_array_foreach(servers, i, server)
        if (strcmp(json_get_text(server, "name", ""), name) == 0) {
            *out = json_incref(server);
            return true;
        }
    return error_set(error, ERROR_NOT_FOUND, "this machine has no server %s", name);
}
