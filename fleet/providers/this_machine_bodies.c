/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the body of the request to fleet/machine that creates a server, and shows steps as the
 * commands that a user would type. */
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/this_machine.h"
#include "fleet/recipes/recipe.h"

#define STARTUP_S 900 /* how long startup can take if the recipe has no startup probe */

/* Returns the port on the host; the port inside a container ("port") can be different. */
static int64_t port_of(const struct recipe *recipe)
{
    return recipe_integer(recipe, "local.port", recipe_integer(recipe, "port", 0));
}

static json_t *probe_of(const struct recipe *recipe)
{
    int64_t failures = recipe_integer(recipe, "probes.startup.failures", 0);
    int64_t patience_s = recipe_integer(recipe, "probes.startup.initial_s", 0)
                         + failures * recipe_integer(recipe, "probes.startup.period_s", 1);

    return json_pack("{s:s, s:I}", "path", recipe_text(recipe, "probes.startup.path", "/health"),
                     "patience_s", (json_int_t)(patience_s > 0 ? patience_s : STARTUP_S));
}

static json_t *environment_of(const struct recipe *recipe)
{
    const struct this_machine_engine *engine = this_machine_engine_of(recipe);
    json_t *out = json_object(), *variables = json_iterable(recipe_member(recipe, "environment"));

    json_object_update(out, variables);
    if (engine != NULL && strcmp(engine->host, "--host") != 0 && recipe->image[0] == '\0')
        json_object_set_new(out, engine->host, json_sprintf("127.0.0.1:%d", (int)port_of(recipe)));
    return out;
}

/* The first word of the recipe's "command" replaces the image's entrypoint. */
static void add_command(const struct desired *desired, json_t *body)
{
    json_t *words = recipe_argv(desired->recipe, desired->deployment);

    if (desired->recipe->image[0] != '\0' && recipe_member(desired->recipe, "command") != NULL) {
        json_object_set_new(body, "entrypoint", json_pack("[O]", json_array_get(words, 0)));
        json_array_remove(words, 0);
    }
    json_object_set_new(body, "arguments", words);
}

static void add_models(const struct recipe *recipe, json_t *body)
{
    const char *folder = recipe_text(recipe, "weights.folder", NULL);
    const char *mounted_at = recipe_text(recipe, "weights.mounted_at", NULL);

    if (folder != NULL && strcmp(recipe_text(recipe, "weights.from", ""), "mounted") == 0)
        json_object_set_new(body, "models",
                            json_pack("{s:s, s:s*}", "folder", folder, "mounted_at",
                                      recipe->image[0] != '\0' ? mounted_at : NULL));
}

static void add_container_options(const struct recipe *recipe, json_t *body)
{
    int64_t shared_gib = recipe_integer(recipe, "host.shared_memory_gib", 0);

    json_object_set_new(body, "inner_port", json_integer(recipe_integer(recipe, "port", 0)));
    if (recipe->chips > 0 || json_is_true(recipe_member(recipe, "local.gpus")))
        json_object_set_new(body, "gpus", json_true());
    if (shared_gib > 0)
        json_object_set_new(body, "shared_memory_gib", json_integer(shared_gib));
}

/* Adds what to run: a service, an image by its digest, or a program. */
static void add_engine(const struct desired *desired, const struct observed *now, json_t *body)
{
    const struct recipe *recipe = desired->recipe;
    const char *service = recipe_text(recipe, "service", NULL);
    const char *image = recipe->image;

    if (service != NULL) {
        json_object_set_new(body, "service", json_string(service));
        return;
    }
    add_command(desired, body);
    json_object_set_new(body, "environment", environment_of(recipe));
    add_models(recipe, body);
    if (image[0] == '\0') {
        json_object_set_new(body, "program", json_string(recipe_text(recipe, "program", "")));
        return;
    }
    if (strstr(image, "@sha256:") == NULL && now != NULL) {
        json_object_set_new(body, "image_name", json_string(image));
        image = now->image_digest;
    }
    json_object_set_new(body, "image", json_string(image));
    add_container_options(recipe, body);
}

json_t *this_machine_body(const struct desired *desired, const struct observed *now)
{
    const struct recipe *recipe = desired->recipe;
    const struct this_machine_engine *engine = this_machine_engine_of(recipe);
    const char *pull = recipe_text(recipe, "local.pull", NULL);
    json_t *body =
        json_pack("{s:s, s:{s:s, s:s}, s:s, s:s*, s:I, s:o, s:I, s:b}", "id", desired->request_seed,
                  "labels", THIS_MACHINE_INSTANCE, desired->instance, THIS_MACHINE_DEPLOYMENT,
                  desired->deployment, "engine", recipe->engine, "model", pull, "port",
                  (json_int_t)port_of(recipe), "probe", probe_of(recipe), "ends_ms",
                  (json_int_t)desired->ends_ms, "end_destroys", (int)desired->end_destroys);

    if (engine != NULL && engine->key_variable[0] != '\0'
        && recipe_text(recipe, "service", NULL) == NULL)
        json_object_set_new(body, "key_variable", json_string(engine->key_variable));
    add_engine(desired, now, body);
    return body;
}

/* ---- Commands ---- */

static void add_word(struct text *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:=,@%+";

    text_add(out, out->length == 0 || out->data[out->length - 1] == '\n' ? "" : " ");
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        text_add(out, word);
        return;
    }
    text_add_char(out, '\'');
    for (; *word != '\0'; word++)
        if (*word == '\'')
            text_add(out, "'\\''");
        else
            text_add_char(out, *word);
    text_add_char(out, '\'');
}

static void add_words(struct text *out, const json_t *words)
{
    const json_t *word;
    size_t i;

    json_array_foreach(words, i, word)
        add_word(out, json_string_value(word));
}

static void add_variables(struct text *out, const json_t *body, const char *flag)
{
    const char *name, *key = json_get_text(body, "key_variable", NULL);
    const json_t *value;
    TEXT_AUTO variable = { 0 };

    json_object_foreach(json_iterable(json_object_get(body, "environment")), name, value) {
        text_clear(&variable);
        text_addf(&variable, "%s=%s", name, json_string_value(value));
        text_addf(out, "%s", flag);
        add_word(out, text_string(&variable));
    }
    if (key != NULL)
        text_addf(out, "%s %s=\"$(openssl rand -hex 24)\"", flag, key);
}

static void add_container(const char *name, const json_t *body, struct text *out)
{
    const json_t *models = json_object_get(body, "models");
    const json_t *entrypoint = json_array_get(json_object_get(body, "entrypoint"), 0);
    int64_t shared_gib = json_get_integer(body, "shared_memory_gib", 0);

    text_addf(out, "podman run -d --name %s -p 127.0.0.1:%d:%d --cap-drop=all", name,
              (int)json_get_integer(body, "port", 0), (int)json_get_integer(body, "inner_port", 0));
    text_add(out, " --security-opt=no-new-privileges");
    if (json_object_get(models, "mounted_at") != NULL)
        text_addf(out, " -v %s:%s:ro", json_get_text(models, "folder", ""),
                  json_get_text(models, "mounted_at", ""));
    if (json_get_boolean(body, "gpus", false))
        text_add(out, " --gpus=all");
    if (shared_gib > 0)
        text_addf(out, " --shm-size=%dg", (int)shared_gib);
    add_variables(out, body, " -e");
    if (entrypoint != NULL) {
        text_add(out, " --entrypoint");
        add_word(out, json_string_value(entrypoint));
    }
    add_word(out, json_get_text(body, "image", ""));
}

static void add_create(const char *name, const json_t *body, struct text *out)
{
    const char *model = json_get_text(body, "model", NULL);

    if (json_object_get(body, "service") != NULL) {
        text_addf(out, "ollama pull %s && ollama run %s --keepalive=-1m ''\n", model, model);
        return;
    }
    if (json_object_get(body, "image") != NULL)
        add_container(name, body, out);
    else {
        text_add(out, "env -i");
        add_variables(out, body, "");
        add_word(out, json_get_text(body, "program", ""));
    }
    add_words(out, json_object_get(body, "arguments"));
    text_add(out, "\n");
    if (model != NULL)
        text_addf(out, "OLLAMA_HOST=127.0.0.1:%d ollama pull %s\n",
                  (int)json_get_integer(body, "port", 0), model);
}

void this_machine_command(const struct desired *desired, const struct step *step, struct text *out)
{
    const char *name = desired->deployment;

    if (strcmp(step->name, "server") == 0)
        add_create(name, step->body, out);
    else if (strcmp(step->name, "ready") == 0)
        text_addf(out, "curl --fail --retry 100 --retry-all-errors http://127.0.0.1:%d%s\n",
                  desired->recipe != NULL ? (int)port_of(desired->recipe) : 0,
                  desired->recipe != NULL
                      ? recipe_text(desired->recipe, "probes.startup.path", "/health")
                      : "/health");
    else /* the server's watchdog carries out this step; no shell command does */
        text_addf(out, "# %s\n", step->summary);
}
