/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a verb (create, stop, ...) into requests to fleet/machine, and judges the replies. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/providers/this_machine.h"
#include "fleet/recipes/recipe.h"

/* ---- Checks ---- */

static const struct this_machine_engine engines[] = {
    { "vllm", "VLLM_API_KEY", "--host" },
    { "llama.cpp", "LLAMA_API_KEY", "--host" },
    { "sglang", "", "--host" },
    { "ollama", "", "OLLAMA_HOST" },
};

const struct this_machine_engine *this_machine_engine_of(const struct recipe *recipe)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (strcmp(engines[i].name, recipe->engine) == 0)
            return &engines[i];
    return NULL;
}

static bool is_program(const struct recipe *recipe)
{
    return recipe_text(recipe, "program", "")[0] != '\0'
           && recipe_text(recipe, "service", "")[0] == '\0';
}

/* An imported recipe would let whoever imported it choose what runs here. */
static CHECKED bool check_origin(const struct recipe *recipe, struct error *error)
{
    return recipe->origin == RECIPE_CATALOGUE || recipe->origin == RECIPE_FOLDER
           || error_set(error, ERROR_FORBIDDEN,
                        "the recipe %s was imported: this machine runs only recipes that come with "
                        "opsbrain or are in the folder that the setting \"recipes\" names",
                        recipe->name);
}

/* Checks that a program is started with a loopback address. For Ollama, this_machine_bodies.c sets
 * one in the program's environment. If other machines can still reach the program's port, its
 * watchdog ends the program. */
static CHECKED bool check_host(const struct recipe *recipe, struct error *error)
{
    const struct this_machine_engine *engine = this_machine_engine_of(recipe);
    const char *host = recipe_text(recipe, "arguments.--host", "");

    if (!is_program(recipe) || engine == NULL || strcmp(engine->host, "--host") != 0
        || strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0
        || strcmp(host, "localhost") == 0)
        return true;
    return error_set(error, ERROR_INVALID,
                     "on this machine a program must listen on loopback only: the recipe %s needs "
                     "\"--host\": \"127.0.0.1\"",
                     recipe->name);
}

static CHECKED bool check_image(const struct recipe *recipe, const struct observed *now,
                                struct error *error)
{
    return recipe->image[0] == '\0' || strstr(recipe->image, "@sha256:") != NULL
           || (now != NULL && now->image_digest[0] != '\0')
           || error_set(error, ERROR_INVALID,
                        "the image %s is named by a tag, but this machine has no image with that "
                        "name: pull it, or name it by its digest",
                        recipe->image);
}

static CHECKED bool check_recipe(const struct desired *desired, const struct observed *now,
                                 struct error *error)
{
    const struct recipe *recipe = desired->recipe;
    const json_t *variable;
    const char *name;

    if (recipe == NULL)
        return error_set(error, ERROR_INVALID, "a server on this machine needs a recipe");
    json_object_foreach(json_iterable(recipe_member(recipe, "environment")), name, variable)
        if (!json_is_string(variable))
            return error_set(error, ERROR_INVALID,
                             "the recipe's \"environment.%s\" is a secret in a provider's store, "
                             "which this machine does not have: use weights that need no token",
                             name);
    if (strcmp(recipe_text(recipe, "weights.from", ""), "bucket") == 0)
        return error_set(error, ERROR_INVALID,
                         "this machine has no bucket: set the recipe's \"weights.from\" to hub or, "
                         "for a folder, to mounted");
    if (desired_replicas(desired) > 1)
        return error_set(error, ERROR_INVALID, "on this machine a deployment has only one server");
    return check_origin(recipe, error) && check_host(recipe, error)
           && check_image(recipe, now, error);
}

static CHECKED bool check(enum provider_verb verb, const struct desired *desired,
                          const struct observed *now, struct error *error)
{
    bool exists = now != NULL && now->exists;

    if (verb == VERB_CREATE && exists && !now->ours)
        return error_set(
            error, ERROR_CONFLICT,
            "there is already a server %s on this machine, and it does not belong to this "
            "deployment",
            desired->deployment);
    if (verb == VERB_CREATE)
        return check_recipe(desired, now, error);
    if (!exists && verb != VERB_DESTROY)
        return error_set(error, ERROR_NOT_FOUND, "this machine has no server %s",
                         desired->deployment);
    return !exists || now->instance[0] != '\0'
           || error_set(error, ERROR_FORBIDDEN,
                        "%s was not started by opsbrain, which therefore does not change it",
                        desired->deployment);
}

/* ---- The steps ---- */

static struct step *add(struct step **out, size_t *count, const struct desired *desired,
                        const char *name, const char *method, const char *suffix)
{
    struct step *step = step_list_add(out, count);

    text_copy(step->name, sizeof step->name, name);
    text_copy(step->method, sizeof step->method, method);
    snprintf(step->resource, sizeof step->resource, "/servers/%s", desired->deployment);
    snprintf(step->url, sizeof step->url, "%s%s", step->resource, suffix);
    return step;
}

static void add_create(struct step **out, size_t *count, const struct desired *desired,
                       const struct observed *now)
{
    struct step *step = add(out, count, desired, "server", "PUT", "");

    step->body = this_machine_body(desired, now);
    step->creates = true;
    snprintf(step->dry_run_url, sizeof step->dry_run_url, "%s?dry_run=true", step->resource);
    snprintf(step->undo_url, sizeof step->undo_url, "%s?id=%.64s", step->resource,
             desired->request_seed);
    snprintf(step->summary, sizeof step->summary, "Starts %s and its watchdog on this machine",
             desired->deployment);
}

static json_t *end_of(const struct desired *desired)
{
    return json_pack("{s:I, s:b}", "ends_ms", (json_int_t)desired->ends_ms, "end_destroys",
                     (int)desired->end_destroys);
}

static void add_wait(struct step **out, size_t *count, const struct desired *desired,
                     const char *name, const char *summary)
{
    struct step *step = add(out, count, desired, name, "GET", "");

    step->absent_is_done = strcmp(name, "gone") == 0;
    snprintf(step->summary, sizeof step->summary, "%s", summary);
}

static void add_start(struct step **out, size_t *count, const struct desired *desired)
{
    struct step *step = add(out, count, desired, "start", "POST", "/start");

    step->body = end_of(desired);
    snprintf(step->summary, sizeof step->summary, "Starts %s again", desired->deployment);
    add_wait(out, count, desired, "ready", "Waits until the server is ready");
}

static void add_destroy(struct step **out, size_t *count, const struct desired *desired,
                        const struct observed *now)
{
    struct step *step = add(out, count, desired, "remove-server", "DELETE", "");

    if (now->uid[0] != '\0')
        snprintf(step->url, sizeof step->url, "%s?id=%s", step->resource, now->uid);
    step->absent_is_done = true;
    snprintf(step->summary, sizeof step->summary,
             "Ends %s on this machine, and removes its working folder or container, if it has one",
             desired->deployment);
}

static void add_extend(struct step **out, size_t *count, const struct desired *desired)
{
    struct step *step = add(out, count, desired, "end", "PATCH", "");

    step->body = end_of(desired);
    snprintf(step->summary, sizeof step->summary, "Passes the new end to the watchdog of %s",
             desired->deployment);
}

static void add_stop(struct step **out, size_t *count, const struct desired *desired)
{
    struct step *step = add(out, count, desired, "stop", "POST", "/stop");

    snprintf(step->summary, sizeof step->summary, "Stops %s", desired->deployment);
    add_wait(out, count, desired, "stopped", "Waits until the server has ended");
}

bool this_machine_steps(enum provider_verb verb, const struct desired *desired,
                        const struct observed *now, struct step **out, size_t *count,
                        struct error *error)
{
    *out = NULL;
    *count = 0;
    if (!check(verb, desired, now, error))
        return false;
    if (verb == VERB_CREATE) {
        add_create(out, count, desired, now);
        add_wait(out, count, desired, "ready", "Waits until the server is ready");
    } else if (verb == VERB_START)
        add_start(out, count, desired);
    else if (verb == VERB_DESTROY) {
        if (now != NULL && now->exists)
            add_destroy(out, count, desired, now);
        add_wait(out, count, desired, "gone", "Waits until the server is gone");
    } else if (verb == VERB_EXTEND)
        add_extend(out, count, desired);
    else
        add_stop(out, count, desired);
    return true;
}

/* ---- Outcomes ---- */

static CHECKED enum step_state judge(const struct step *step, const json_t *server,
                                     struct error *error)
{
    const char *state = json_get_text(server, "state", "");

    if (strcmp(step->method, "GET") != 0 || strcmp(state, step->name) == 0)
        return STEP_DONE;
    if (strcmp(step->name, "stopped") == 0 && strcmp(state, "failed") == 0)
        return STEP_DONE; /* a failed server no longer runs: its watchdog ends it */
    if (strcmp(step->name, "ready") != 0 || strcmp(state, "failed") != 0)
        return STEP_WAIT;
    error_set(error, ERROR_UPSTREAM, "%s", json_get_text(server, "message", ""));
    return STEP_FAILED;
}

enum step_state this_machine_outcome(const struct step *step, const struct cloud_reply *reply,
                                     char poll_url[1024], struct error *error)
{
    enum step_state state;

    poll_url[0] = '\0';
    if (reply->verdict == CLOUD_DONE) {
        state = judge(step, reply->body, error);
        if (state == STEP_WAIT)
            snprintf(poll_url, 1024, "%s", step->resource);
        return state;
    }
    if (reply->status == 404 && step->absent_is_done)
        return STEP_DONE;
    error_set(error, ERROR_UPSTREAM, "%s", reply->message);
    if (reply->status == 409 && step->creates)
        return STEP_EXISTS;
    return reply->verdict == CLOUD_AGAIN ? STEP_RETRY : STEP_FAILED;
}
