/* SPDX-License-Identifier: Apache-2.0 */
/* The provider for this machine: its row in the table of providers, what a target must have, and
 * how servers are observed. */
#include "fleet/providers/this_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/recipes/recipe.h"

static CHECKED bool check_target(const struct fleet_target *target, struct error *error)
{
    return target->credential.kind == CLOUD_NONE
           || error_set(error, ERROR_INVALID,
                        "\"credential\" must be \"none\" for a target on this machine, not \"%s\"",
                        cloud_kind_name(target->credential.kind));
}

/* ---- Observing ---- */

static void copy(char *out, size_t size, const json_t *server, const char *name)
{
    text_copy(out, size, json_get_text(server, name, ""));
}

static json_t *fields_of(const json_t *server)
{
    static const char *const names[] = { "program", "image", "service", "arguments", "port" };
    json_t *fields = json_object();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (json_object_get(server, names[i]) != NULL)
            json_object_set(fields, names[i], json_object_get(server, names[i]));
    return fields;
}

static void read_server(const json_t *server, struct observed *out)
{
    const json_t *labels = json_object_get(server, "labels");

    *out = (struct observed){ .exists = true };
    copy(out->name, sizeof out->name, server, "name");
    copy(out->state, sizeof out->state, server, "state");
    copy(out->phase, sizeof out->phase, server, "phase");
    copy(out->message, sizeof out->message, server, "message");
    copy(out->address, sizeof out->address, server, "address");
    copy(out->log_line, sizeof out->log_line, server, "log_line");
    copy(out->uid, sizeof out->uid, server, "id");
    copy(out->image_digest, sizeof out->image_digest, server, "image");
    copy(out->instance, sizeof out->instance, labels, THIS_MACHINE_INSTANCE);
    copy(out->deployment, sizeof out->deployment, labels, THIS_MACHINE_DEPLOYMENT);
    snprintf(out->resource, sizeof out->resource, "/servers/%s", out->name);
    out->ends_ms = json_get_integer(server, "ends_ms", 0);
    text_copy(out->at_end, sizeof out->at_end,
              json_get_boolean(server, "end_destroys", true) ? "destroy" : "stop");
    out->replicas = 1;
    out->ready_replicas = strcmp(out->state, "ready") == 0;
    out->fields = fields_of(server);
}

/* Finds the image that has the recipe's tag on this machine now, so that the plan can name the
 * image by its digest. */
static CHECKED bool find_image(struct cloud *cloud, const struct desired *desired,
                               struct observed *out, struct error *error)
{
    const struct recipe *recipe = desired->recipe;
    CLOUD_REPLY_AUTO reply = { 0 };
    char url[640];

    if (recipe == NULL || recipe->image[0] == '\0' || strstr(recipe->image, "@sha256:") != NULL)
        return true;
    snprintf(url, sizeof url, "/images?name=%s", recipe->image);
    if (cloud_call(cloud, "GET", url, NULL, NULL, &reply, error))
        copy(out->image_digest, sizeof out->image_digest, reply.body, "id");
    return reply.verdict == CLOUD_DONE || reply.status == 404;
}

static CHECKED bool observe(struct cloud *cloud, const struct desired *desired,
                            struct observed *out, struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char url[512];

    *out = (struct observed){ 0 };
    snprintf(url, sizeof url, "/servers/%s", desired->deployment);
    if (cloud_call(cloud, "GET", url, NULL, NULL, &reply, error)) {
        read_server(reply.body, out);
        out->ours = observed_is_of(out, desired);
        return true;
    }
    if (reply.status != 404)
        return false;
    text_copy(out->state, sizeof out->state, "absent");
    text_copy(out->resource, sizeof out->resource, url);
    return find_image(cloud, desired, out, error);
}

static CHECKED bool list(struct cloud *cloud, const struct fleet_target *target,
                         struct observed **out, size_t *count, json_t *warnings,
                         struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    const json_t *server;
    size_t i;

    (void)target, (void)warnings;
    *out = NULL;
    *count = 0;
    if (!cloud_call(cloud, "GET", "/servers", NULL, NULL, &reply, error))
        return false;
    json_array_foreach(json_object_get(reply.body, "servers"), i, server)
        read_server(server, observed_list_add(out, count));
    return true;
}

static CHECKED bool check(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                          struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };

    (void)target;
    return cloud_call(cloud, "GET", "/check", NULL, NULL, &reply, error)
           && json_array_extend(findings, json_object_get(reply.body, "findings")) == 0;
}

static CHECKED bool key(struct cloud *cloud, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error)
{
    CLOUD_REPLY_AUTO reply = { 0 };
    char url[512];

    out[0] = '\0';
    snprintf(url, sizeof url, "/servers/%s/key", observed->name);
    if (!cloud_call(cloud, "GET", url, NULL, NULL, &reply, error))
        return false;
    text_copy(out, SECRET_VALUE_SIZE, json_get_text(reply.body, "key", ""));
    return true;
}

/* ---- Advice ---- */

static void warn(json_t *warnings, const char *sentence)
{
    json_array_append_new(warnings, json_string(sentence));
}

static void lint(const struct desired *desired, json_t *warnings)
{
    const struct recipe *recipe = desired->recipe;
    const struct this_machine_engine *engine = this_machine_engine_of(recipe);

    warn(warnings,
         "The server takes memory and processors from everything else on this machine, opsbrain "
         "and its measurements included.");
    if (engine == NULL || engine->key_variable[0] == '\0')
        warn(warnings, "The engine requires no key here: everybody on this machine can call it.");
    if (recipe->image[0] != '\0' && strstr(recipe->image, "@sha256:") == NULL)
        warn(warnings,
             "The recipe names its image by a tag: the plan uses the image that now has this "
             "tag on this machine.");
    if (recipe_text(recipe, "local.pull", NULL) != NULL)
        warn(warnings, "If Ollama runs as a service, the model's file stays on the disk after the "
                       "server is destroyed.");
}

static const char *describe_guard(const struct desired *desired)
{
    (void)desired;
    return "a watchdog on this machine ends the server, even if opsbrain is gone; after a restart "
           "of the machine, neither the server nor its watchdog is running";
}

extern const struct provider provider_local;
const struct provider provider_local = {
    .name = "local",
    .title = "This machine",
    .verbs = VERB_BIT(VERB_CREATE) | VERB_BIT(VERB_START) | VERB_BIT(VERB_STOP)
             | VERB_BIT(VERB_EXTEND) | VERB_BIT(VERB_DESTROY),
    .lacks = { [VERB_UPDATE] = "the old server and the new one cannot have the same port at "
                               "once: destroy the old one, then create the new one",
               [VERB_SCALE] = "a deployment here is one server with one port" },
    .lock = "the server's port is open only on this machine's loopback address; vLLM and llama.cpp "
            "also require a key, which is made here and given only to opsbrain",
    .check_target = check_target,
    .steps = this_machine_steps,
    .outcome = this_machine_outcome,
    .observe = observe,
    .list = list,
    .check = check,
    .lint = lint,
    .command = this_machine_command,
    .describe_guard = describe_guard,
    .key = key,
};
