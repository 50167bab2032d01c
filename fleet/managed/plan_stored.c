/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a stored plan again from the present state and compares the two, or reads a stored plan as
 * it was made. */
#include <string.h>

#include "base/json/json.h"
#include "fleet/managed/managed_document.h"
#include "fleet/managed/plan_private.h"

static enum provider_verb verb_find(const char *name)
{
    enum provider_verb verb = VERB_CREATE;

    while (verb < VERB_DESTROY && strcmp(provider_verb_name(verb), name) != 0)
        verb++;
    return verb;
}

static CHECKED bool refuse_difference(const json_t *before, const json_t *after,
                                      struct error *error)
{
    static const struct {
        const char *name, *what;
    } parts[] = {
        { "target", "the target" },
        { "recipe", "the recipe" },
        { "observed", "the existing resource" },
        { "price", "the price" },
        { "wish", "what was asked for" },
        { "steps", "the list of requests" },
    };
    TEXT_AUTO members = { 0 };
    const char *what = "something";

    for (size_t i = sizeof parts / sizeof *parts; i-- > 0;)
        if (!json_equal(json_object_get(before, parts[i].name),
                        json_object_get(after, parts[i].name)))
            what = parts[i].what;
    for (size_t i = 0; i < sizeof parts / sizeof *parts - 1; i++)
        if (strcmp(what, parts[i].what) == 0 && strcmp(parts[i].name, "recipe") != 0)
            managed_document_differences(json_object_get(before, parts[i].name),
                                         json_object_get(after, parts[i].name), 200, &members);
    return error_set(error, ERROR_CONFLICT,
                     "%s has changed since the plan was made: %s; make a new plan with "
                     "deployment_plan",
                     what, members.length == 0 ? "it differs" : text_string(&members));
}

static void read_wish(const struct fleet_plan_row *row, const json_t *document,
                      struct managed_wish *out)
{
    const json_t *wish = json_object_get(document, "wish");

    *out = (struct managed_wish){ .verb = verb_find(row->verb),
                                  .deployment = row->deployment,
                                  .target = row->target,
                                  .recipe = json_get_text(wish, "recipe", ""),
                                  .overrides = json_object_get(wish, "overrides"),
                                  .place = json_get_text(wish, "place", ""),
                                  .kind = json_get_text(wish, "kind", ""),
                                  .at_end = json_get_text(wish, "at_end", ""),
                                  .replicas = json_get_integer(wish, "replicas", 0) };
}

static CHECKED bool parse(const struct fleet_plan_row *row, json_t **out, struct error *error)
{
    *out = json_loads(row->document, 0, NULL);
    return *out != NULL
           || error_set(error, ERROR_INTERNAL, "the stored plan %s cannot be read", row->id);
}

bool managed_plan_again(const struct fleet_frame *frame, const struct fleet_plan_row *row,
                        struct managed_plan *out, struct error *error)
{
    struct making making = {
        .frame = frame, .id = row->id, .ends_ms = row->ends_ms, .created_ms = row->created_ms
    };
    json_auto_t *document = NULL;

    if (!parse(row, &document, error))
        return false;
    read_wish(row, document, &making.wish);
    if (!managed_plan_build(&making, out, error))
        return false;
    if (strcmp(out->row.digest, row->digest) == 0)
        return true;
    error_ignore(refuse_difference(document, out->document, error));
    managed_plan_finish(out);
    return false;
}

bool managed_plan_load(const struct fleet_frame *frame, const struct fleet_plan_row *row,
                       struct managed_plan *out, struct error *error)
{
    struct making making = { .frame = frame, .created_ms = row->created_ms };
    const json_t *recipe;
    const char *place;
    bool done;

    *out = (struct managed_plan){ 0 };
    if (!parse(row, &out->document, error))
        return false;
    out->row = *row;
    out->row.document = NULL;
    out->wish = json_incref(json_object_get(out->document, "wish"));
    read_wish(row, out->document, &making.wish);
    recipe = json_object_get(json_object_get(out->document, "recipe"), "document");
    done = managed_target_find(frame, row->target, &out->target, error)
           && managed_target_place(&out->target, making.wish.place, &place, error)
           && (recipe == NULL || recipe_read(recipe, &out->recipe, error))
           && managed_document_read_steps(json_object_get(out->document, "steps"), &out->steps,
                                          &out->step_count, error);
    if (!done) {
        managed_plan_finish(out);
        return false;
    }
    plan_fill_desired(&making, out, place);
    return true;
}
