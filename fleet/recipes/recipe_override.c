/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and lists the members that a recipe opens to overrides, and copies a recipe with other
 * values for them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "fleet/recipes/recipe.h"
#include "fleet/recipes/recipe_members.h"

#define SHOWN_BYTES 60

static bool is_in_range(const struct recipe_opening *opening, const json_t *range,
                        const json_t *value)
{
    const json_t *choice;
    size_t i;

    if (opening->value != RECIPE_CHOICE)
        return (opening->value == RECIPE_INTEGER ? json_is_integer(value) : json_is_number(value))
               && json_number_value(value) >= json_get_number(range, "least", NAN)
               && json_number_value(value) <= json_get_number(range, "most", NAN);
    json_array_foreach(json_object_get(range, "choices"), i, choice)
        if (json_equal(choice, value))
            return true;
    return false;
}

bool recipe_openings_check(const json_t *recipe, struct error *error)
{
    json_t *overrides = json_object_get(recipe, "overrides"), *range;
    const char *name;

    json_object_foreach(overrides, name, range) {
        const struct recipe_opening *opening = recipe_opening_find(name);
        const json_t *value = recipe_member_of(recipe, opening->path);

        if (value == NULL || !is_in_range(opening, range, value))
            return error_set(error, ERROR_INVALID,
                             "the recipe's \"overrides\" opens \"%s\", but %s", name,
                             value == NULL ? "the recipe has no value for it: add one"
                                           : "does not allow the recipe's own value");
    }
    return true;
}

json_t *recipe_overrides(const struct recipe *recipe)
{
    json_t *opened = json_deep_copy(json_object_get(recipe->document, "overrides"));
    json_t *range;
    const char *name;

    if (opened == NULL)
        return json_object();
    json_object_foreach(opened, name, range) {
        const struct recipe_opening *opening = recipe_opening_find(name);

        json_object_set_new(range, "value", json_deep_copy(recipe_member(recipe, opening->path)));
    }
    return opened;
}

static CHECKED bool refuse_name(const struct recipe *recipe, const char *name, struct error *error)
{
    json_t *opened = json_object_get(recipe->document, "overrides"), *range;
    TEXT_AUTO shown = { 0 };
    TEXT_AUTO known = { 0 };
    const char *each;

    text_add_printable(&shown, name, strlen(name), SHOWN_BYTES);
    json_object_foreach(opened, each, range)
        text_addf(&known, "%s%s", known.length == 0 ? "" : ", ", each);
    return error_set(error, ERROR_INVALID,
                     "the recipe %s does not open \"%s\" to overrides: it opens %s", recipe->name,
                     text_string(&shown), known.length == 0 ? "nothing" : text_string(&known));
}

static CHECKED bool refuse_value(const struct recipe *recipe, const char *name, const json_t *range,
                                 const json_t *value, struct error *error)
{
    TEXT_AUTO shown = { 0 };
    TEXT_AUTO allowed = { 0 };
    char *written = json_write(value);

    text_add_printable(&shown, written, strlen(written), SHOWN_BYTES);
    free(written);
    if (json_object_get(range, "choices") != NULL) {
        text_add(&allowed, "one of ");
        json_add(&allowed, json_object_get(range, "choices"));
    } else
        text_addf(&allowed, "from %.10g to %.10g", json_get_number(range, "least", NAN),
                  json_get_number(range, "most", NAN));
    return error_set(error, ERROR_INVALID, "for the recipe %s, \"%s\" must be %s, not %s",
                     recipe->name, name, text_string(&allowed), text_string(&shown));
}

/* Replaces the value at the path. The path exists: recipe_openings_check has checked that. */
static void write_at(json_t *object, const char *path, json_t *value)
{
    const char *dot = strchr(path, '.');

    if (json_object_get(object, path) != NULL || dot == NULL)
        json_object_set(object, path, value);
    else
        write_at(json_object_getn(object, path, (size_t)(dot - path)), dot + 1, value);
}

bool recipe_override(const struct recipe *recipe, const json_t *overrides, struct recipe *out,
                     struct error *error)
{
    json_t *document = json_deep_copy(recipe->document), *value;
    const json_t *opened = json_object_get(document, "overrides");
    const char *name;
    bool done = overrides == NULL || json_is_null(overrides) || json_is_object(overrides);

    if (!done)
        done = error_set(error, ERROR_INVALID,
                         "overrides must be an object: {\"max_model_len\": 8192}");
    json_object_foreach(json_iterable(overrides), name, value) {
        const json_t *range = json_object_get(opened, name);
        const struct recipe_opening *opening = recipe_opening_find(name);

        if (range == NULL || opening == NULL)
            done = refuse_name(recipe, name, error);
        else if (!is_in_range(opening, range, value))
            done = refuse_value(recipe, name, range, value, error);
        if (!done)
            break;
        write_at(document, opening->path, value);
    }
    done = done && recipe_read(document, out, error);
    if (done)
        out->origin = recipe->origin;
    json_decref(document);
    return done;
}

/* Returns a number if the member is numeric and the text is a number; otherwise the text itself.
 * New reference. */
static json_t *value_of(const char *name, const json_t *text)
{
    const struct recipe_opening *opening = recipe_opening_find(name);
    json_t *number = NULL;
    struct error ignored;

    if (opening != NULL && opening->value != RECIPE_CHOICE && json_is_string(text)
        && json_parse(json_string_value(text), json_string_length(text), &number, &ignored)
        && json_is_number(number))
        return number;
    json_decref(number);
    return json_deep_copy(text);
}

bool recipe_override_texts(const struct recipe *recipe, const json_t *overrides, struct recipe *out,
                           struct error *error)
{
    json_auto_t *values = json_object();
    const char *name;
    const json_t *text;

    json_object_foreach(json_iterable(overrides), name, text)
        json_object_set_new(values, name, value_of(name, text));
    return recipe_override(recipe, values, out, error);
}
