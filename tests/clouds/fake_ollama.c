/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/clouds/fake_ollama.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"

static void refuse(struct fake_reply *reply, int status, const char *what)
{
    json_auto_t *body = json_pack("{s:s}", "error", what);

    reply->status = status;
    json_add(&reply->body, body);
}

static void pull(struct fake_ollama *ollama, const char *model, struct fake_reply *reply)
{
    reply->type = "application/x-ndjson";
    text_add(&reply->body, "{\"status\":\"pulling manifest\"}\n");
    if (json_object_get(ollama->library, model) == NULL) {
        text_add(&reply->body, "{\"error\":\"pull model manifest: file does not exist\"}\n");
        return;
    }
    text_add(&reply->body, "{\"status\":\"pulling 4c27e0f5\",\"total\":10,\"completed\":5}\n"
                           "{\"status\":\"success\"}\n");
    json_object_set_new(ollama->models, model, json_true());
}

static void generate(struct fake_ollama *ollama, const json_t *body, const char *model,
                     struct fake_reply *reply)
{
    json_t *stay = json_object_get(body, "keep_alive");

    if (json_object_get(ollama->models, model) == NULL) {
        refuse(reply, 404, "model not found, try pulling it first");
        return;
    }
    if (!json_is_integer(stay) || json_object_get(body, "prompt") != NULL
        || json_get_boolean(body, "stream", true))
        snprintf(ollama->problem, sizeof ollama->problem,
                 "/api/generate has a prompt, streams, or lacks an integer keep_alive");
    if (json_integer_value(stay) == 0)
        json_object_del(ollama->loaded, model);
    else
        json_object_set(ollama->loaded, model, stay);
    text_add(&reply->body, "{\"response\":\"\",\"done\":true}");
}

static void list(const json_t *models, struct fake_reply *reply)
{
    json_auto_t *data = json_array();
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(models), name, value)
        json_array_append_new(data, json_pack("{s:s, s:s}", "id", name, "owned_by", "library"));
    json_auto_t *body = json_pack("{s:s, s:O}", "object", "list", "data", data);
    json_add(&reply->body, body);
}

static void list_loaded(const json_t *loaded, struct fake_reply *reply)
{
    json_auto_t *models = json_array();
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(loaded), name, value)
        json_array_append_new(models, json_pack("{s:s, s:s}", "name", name, "model", name));
    json_auto_t *body = json_pack("{s:O}", "models", models);
    json_add(&reply->body, body);
}

static void answer(void *context, const struct fake_request *request, struct fake_reply *reply)
{
    struct fake_ollama *ollama = context;
    json_auto_t *body = json_loads(request->body, 0, NULL);
    const char *model = json_get_text(body, "model", "");

    json_array_append_new(ollama->calls, json_sprintf("%s %s", request->method, request->path));
    if (strcmp(request->path, "/api/version") == 0)
        text_add(&reply->body, "{\"version\":\"0.12.0\"}");
    else if (strcmp(request->path, "/v1/models") == 0)
        list(ollama->models, reply);
    else if (strcmp(request->path, "/api/ps") == 0)
        list_loaded(ollama->loaded, reply);
    else if (strcmp(request->path, "/api/show") == 0) {
        if (json_object_get(ollama->models, model) == NULL)
            refuse(reply, 404, "model not found");
        else
            text_add(&reply->body, "{\"details\":{}}");
    } else if (strcmp(request->path, "/api/pull") == 0)
        pull(ollama, model, reply);
    else if (strcmp(request->path, "/api/generate") == 0)
        generate(ollama, body, model, reply);
    else
        refuse(reply, 404, "404 page not found");
}

void fake_ollama_start(struct fake_ollama *ollama, int port)
{
    *ollama = (struct fake_ollama){ .library = json_object(),
                                    .models = json_object(),
                                    .loaded = json_object(),
                                    .calls = json_array() };
    ollama->server = fake_server_start_on(port, answer, ollama);
}

void fake_ollama_stop(struct fake_ollama *ollama)
{
    fake_server_stop(ollama->server);
    json_decref(ollama->library);
    json_decref(ollama->models);
    json_decref(ollama->loaded);
    json_decref(ollama->calls);
}
