/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/recipes/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/credential.h"
#include "fleet/recipes/recipe_members.h"

#define DEPLOYMENT "{deployment}"

const char *recipe_origin_name(enum recipe_origin origin)
{
    return origin == RECIPE_CATALOGUE ? "catalogue"
           : origin == RECIPE_FOLDER  ? "folder"
                                      : "imported";
}

/* ---- Reading ---- */

/* Checks what the table of members cannot express: rules about several members, and the form of a
 * program's path. */
static CHECKED bool check_combinations(const json_t *recipe, struct error *error)
{
    const char *program = json_get_text(recipe, "program", NULL);
    bool cannot_work = strcmp(json_get_text(recipe, "status", ""), "cannot_work") == 0;

    if ((json_object_get(recipe, "image") != NULL) + (program != NULL)
            + (json_object_get(recipe, "service") != NULL)
        != 1)
        return error_set(error, ERROR_INVALID,
                         "the recipe must have exactly one of \"image\", \"program\" and "
                         "\"service\"");
    if (program != NULL && (program[0] != '/' || strstr(program, "/../") != NULL))
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"program\" must be an absolute path without \"..\"");
    if (cannot_work && json_object_get(recipe, "reason") == NULL)
        return error_set(error, ERROR_INVALID,
                         "the recipe's \"status\" is \"cannot_work\", so it needs a \"reason\"");
    if (json_object_get(recipe, "chips") != NULL && json_object_get(recipe, "hardware") == NULL)
        return error_set(error, ERROR_INVALID,
                         "the recipe has \"chips\" but no \"hardware\": name the accelerator");
    return true;
}

static void copy_text(char *out, size_t size, const json_t *recipe, const char *name)
{
    text_copy(out, size, json_get_text(recipe, name, ""));
}

static void fill(json_t *document, struct recipe *out)
{
    *out = (struct recipe){ .document = document };
    copy_text(out->name, sizeof out->name, document, "name");
    copy_text(out->title, sizeof out->title, document, "title");
    copy_text(out->provider, sizeof out->provider, document, "provider");
    copy_text(out->engine, sizeof out->engine, document, "engine");
    copy_text(out->model, sizeof out->model, document, "model");
    copy_text(out->quantization, sizeof out->quantization, document, "quantization");
    copy_text(out->image, sizeof out->image, document, "image");
    copy_text(out->hardware, sizeof out->hardware, document, "hardware");
    copy_text(out->status, sizeof out->status, document, "status");
    copy_text(out->reason, sizeof out->reason, document, "reason");
    copy_text(out->source, sizeof out->source, document, "source");
    copy_text(out->as_of, sizeof out->as_of, document, "as_of");
    out->revision = json_get_integer(document, "revision", 0);
    out->chips = json_get_integer(document, "chips", out->hardware[0] == '\0' ? 0 : 1);
}

/* A recipe must not contain a credential: it is shown to every user and written into requests. */
static CHECKED bool check_no_credential(const json_t *recipe, struct error *error)
{
    FREE_AUTO char *written = json_write(recipe);

    return !credential_is_in(written)
           || error_set(error, ERROR_INVALID,
                        "the recipe contains what looks like a credential (not repeated here): "
                        "revoke it, and name a secret in the provider's store instead");
}

/* Takes ownership of the reference `document`. */
static CHECKED bool read_take(json_t *document, struct recipe *out, struct error *error)
{
    if (recipe_members_check(document, json_get_text(document, "provider", NULL), error)
        && check_no_credential(document, error) && check_combinations(document, error)
        && recipe_openings_check(document, error)) {
        fill(document, out);
        return true;
    }
    json_decref(document);
    return false;
}

bool recipe_read(const json_t *document, struct recipe *out, struct error *error)
{
    if (!json_is_object(document))
        return error_set(error, ERROR_INVALID, "a recipe must be a JSON object");
    return read_take(json_deep_copy(document), out, error);
}

bool recipe_parse(const char *json, size_t length, struct recipe *out, struct error *error)
{
    json_t *document;

    if (length > RECIPE_BYTES_MAX)
        return error_set(error, ERROR_INVALID,
                         "a recipe may have at most %d bytes: this one has more", RECIPE_BYTES_MAX);
    if (!json_parse(json, length, &document, error))
        return false;
    if (!json_is_object(document)) {
        json_decref(document);
        return error_set(error, ERROR_INVALID, "a recipe must be a JSON object");
    }
    return read_take(document, out, error);
}

void recipe_finish(struct recipe *recipe)
{
    json_decref(recipe->document);
    *recipe = (struct recipe){ 0 };
}

/* ---- Members ---- */

const json_t *recipe_member_of(const json_t *object, const char *path)
{
    const char *dot = strchr(path, '.');
    const json_t *found = json_object_get(object, path);

    if (found != NULL || dot == NULL)
        return found;
    return recipe_member_of(json_object_getn(object, path, (size_t)(dot - path)), dot + 1);
}

const json_t *recipe_member(const struct recipe *recipe, const char *path)
{
    return recipe_member_of(recipe->document, path);
}

int64_t recipe_integer(const struct recipe *recipe, const char *path, int64_t fallback)
{
    const json_t *value = recipe_member(recipe, path);

    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

double recipe_number(const struct recipe *recipe, const char *path, double fallback)
{
    const json_t *value = recipe_member(recipe, path);

    return json_is_number(value) ? json_number_value(value) : fallback;
}

const char *recipe_text(const struct recipe *recipe, const char *path, const char *fallback)
{
    const json_t *value = recipe_member(recipe, path);

    return json_is_string(value) ? json_string_value(value) : fallback;
}

bool recipe_lists(const struct recipe *recipe, const char *path, const char *text)
{
    const json_t *item;
    size_t i;

    json_array_foreach(recipe_member(recipe, path), i, item)
        if (json_is_string(item) && strcmp(json_string_value(item), text) == 0)
            return true;
    return false;
}

/* ---- The command ---- */

/* Appends the text, with the deployment's name in place of the first "{deployment}". */
static void add_word(json_t *argv, const char *text, const char *deployment)
{
    const char *at = strstr(text, DEPLOYMENT);
    TEXT_AUTO word = { 0 };

    if (at != NULL) {
        text_add_bytes(&word, text, (size_t)(at - text));
        text_add(&word, deployment);
        text = at + strlen(DEPLOYMENT);
    }
    text_add(&word, text);
    json_array_append_new(argv, json_string(text_string(&word)));
}

static void add_argument(json_t *argv, const char *name, const json_t *value,
                         const char *deployment)
{
    char *written;

    if (json_is_false(value))
        return;
    json_array_append_new(argv, json_string(name));
    if (json_is_string(value))
        add_word(argv, json_string_value(value), deployment);
    else if (!json_is_true(value)) {
        written = json_write(value);
        json_array_append_new(argv, json_string(written));
        free(written);
    }
}

json_t *recipe_argv(const struct recipe *recipe, const char *deployment)
{
    const json_t *word, *value;
    json_t *argv = json_array();
    const char *name;
    size_t i;

    json_array_foreach(recipe_member(recipe, "command"), i, word)
        add_word(argv, json_string_value(word), deployment);
    json_object_foreach(json_iterable(recipe_member(recipe, "arguments")), name, value)
        add_argument(argv, name, value, deployment);
    return argv;
}
