/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_plan.h"

#include <math.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/managed_document.h"

#define SHORTEST_LIFE_MS (10 * 60000LL)

void managed_plan_finish(struct managed_plan *plan)
{
    recipe_finish(&plan->recipe);
    observed_finish(&plan->observed);
    step_list_free(plan->steps, plan->step_count);
    json_decref(plan->wish);
    json_decref(plan->document);
    fleet_plan_finish(&plan->row);
    *plan = (struct managed_plan){ 0 };
}

/* What a plan is made from: a new wish, or a stored plan's. */
struct making {
    const struct fleet_frame *frame;
    struct managed_wish wish;
    const char *id;  /* of the stored plan; NULL: a new one */
    int64_t ends_ms; /* of the stored plan */
    int64_t created_ms;
    struct cloud *cloud;
    struct fleet_managed_row managed; /* of a deployment that exists */
    bool is_managed;
    json_t *before; /* its wish */
    struct price price;
};

static bool is_ending(enum provider_verb verb)
{
    return verb == VERB_STOP || verb == VERB_DESTROY;
}

/* ---- What is wished for ---- */

static CHECKED bool find_managed(struct making *making, struct error *error)
{
    const struct managed_wish *wish = &making->wish;

    if (!fleet_managed_find(making->frame->store, wish->deployment, &making->managed,
                            &making->is_managed, error))
        return false;
    if (wish->verb == VERB_CREATE)
        return true;
    if (!making->is_managed)
        return error_set(error, ERROR_CONFLICT,
                         "%s is not managed by opsbrain: deployment_adopt takes over what runs on "
                         "a target",
                         wish->deployment);
    if (strcmp(making->managed.rights, "watched") == 0)
        return error_set(error, ERROR_FORBIDDEN, "%s was adopted without the right to change it",
                         wish->deployment);
    making->before = json_loads(making->managed.wish, 0, NULL);
    return true;
}

/* What a call did not say is as it was. */
static void complete_wish(struct making *making)
{
    struct managed_wish *wish = &making->wish;
    const json_t *before = making->before;

    if (making->is_managed && wish->verb != VERB_CREATE)
        wish->target = making->managed.target;
    if (wish->recipe[0] == '\0')
        wish->recipe = json_get_text(before, "recipe", "");
    if (wish->overrides == NULL)
        wish->overrides = json_object_get(before, "overrides");
    if (wish->place[0] == '\0')
        wish->place = json_get_text(before, "place", "");
    if (wish->kind[0] == '\0')
        wish->kind = json_get_text(before, "kind", "on_demand");
    if (wish->replicas == 0)
        wish->replicas = json_get_integer(before, "replicas", 0);
    if (wish->at_end[0] == '\0')
        wish->at_end = json_get_text(before, "at_end", "destroy");
}

static CHECKED bool read_recipe(const struct making *making, struct managed_plan *plan,
                                struct error *error)
{
    const struct managed_wish *wish = &making->wish;
    struct recipe plain = { 0 };
    bool done;

    if (is_ending(wish->verb) || (wish->recipe[0] == '\0' && wish->verb != VERB_CREATE))
        return true; /* to end it needs no recipe; what was adopted has none */
    if (!managed_target_allows(&plan->target, wish->recipe))
        return error_set(error, ERROR_FORBIDDEN,
                         "the target %s does not allow the recipe %s: target_show lists those it "
                         "allows",
                         plan->target.plain.name, wish->recipe);
    if (!making->frame->recipe(making->frame->context, wish->recipe, &plain, error))
        return false;
    if (strcmp(plain.provider, plan->target.plain.provider) == 0)
        done = recipe_override(&plain, wish->overrides, &plan->recipe, error)
               && making->frame->fit(&plan->recipe, making->frame->catalog, error);
    else
        done = error_set(error, ERROR_INVALID, "the recipe %s is for %s, and the target %s is %s",
                         plain.name, plain.provider, plan->target.plain.name,
                         plan->target.plain.provider);
    recipe_finish(&plain);
    return done;
}

/* ---- When it ends ---- */

static CHECKED bool find_end(const struct making *making, int64_t *ends_ms, struct error *error)
{
    const struct managed_wish *wish = &making->wish;
    int64_t now_ms = making->frame->now_ms();

    *ends_ms = making->is_managed ? making->managed.ends_ms : 0;
    if (making->id != NULL)
        *ends_ms = making->ends_ms;
    else if (wish->life_s > 0)
        *ends_ms = making->created_ms + wish->life_s * 1000;
    else if (wish->verb == VERB_EXTEND)
        return error_set(error, ERROR_INVALID, "\"life_s\" says how long %s runs from now on",
                         wish->deployment);
    if (*ends_ms == 0 || is_ending(wish->verb) || *ends_ms >= now_ms + SHORTEST_LIFE_MS)
        return true;
    return error_set(error, making->id == NULL ? ERROR_INVALID : ERROR_CONFLICT,
                     "%s would end in less than ten minutes: %s", wish->deployment,
                     making->id == NULL ? "give a longer life_s" : "make a new plan");
}

/* ---- What there is ---- */

static CHECKED bool check_observed(const struct making *making, const struct observed *observed,
                                   struct error *error)
{
    const char *name = making->wish.deployment;
    bool adopted = making->is_managed && strcmp(making->managed.rights, "adopted") == 0;

    if (making->wish.verb == VERB_CREATE && observed->exists)
        return error_set(error, ERROR_CONFLICT,
                         observed->ours
                             ? "%s exists on the target and has this opsbrain's label: it is left "
                               "from before; deployment_adopt takes it over"
                             : "%s exists on the target and is not opsbrain's: choose another name",
                         name);
    if (observed->exists && !observed->ours && !adopted)
        return error_set(error, ERROR_FORBIDDEN,
                         "what is called %s on the target lacks this opsbrain's label, and is not "
                         "touched",
                         name);
    if (!observed->exists && making->wish.verb != VERB_CREATE && making->wish.verb != VERB_DESTROY)
        return error_set(error, ERROR_CONFLICT,
                         "%s does not exist on the target any more: deployment_destroy closes its "
                         "record",
                         name);
    return true;
}

static void fill_desired(const struct making *making, struct managed_plan *plan, const char *place)
{
    const struct managed_wish *wish = &making->wish;

    plan->desired =
        (struct desired){ .target = &plan->target.plain,
                          .recipe = plan->recipe.document == NULL ? NULL : &plan->recipe,
                          .deployment = plan->row.deployment,
                          .instance = making->frame->instance,
                          .place = place,
                          .kind = wish->kind,
                          .made_ms = making->created_ms,
                          .ends_ms = plan->row.ends_ms,
                          .end_destroys = strcmp(wish->at_end, "stop") != 0,
                          .replicas = wish->replicas,
                          .request_seed = plan->row.id };
}

/* ---- Cost ---- */

static void find_price(struct making *making, struct managed_plan *plan)
{
    plan->row.usd_known = 1;
    if (is_ending(making->wish.verb))
        return;
    plan->row.usd_known = 0;
    if (plan->desired.recipe == NULL)
        return;
    making->frame->price(making->frame->context, plan->desired.recipe, plan->desired.place,
                         making->wish.kind, &making->price);
    plan->row.usd_known = making->price.known;
    if (making->price.known)
        plan->row.usd_per_hour =
            making->price.usd_per_hour * (double)desired_replicas(&plan->desired);
}

static CHECKED bool check_guard(const struct managed_plan *plan, struct error *error)
{
    const struct fleet_target_row *target = &plan->target.row;

    if (plan->row.ends_ms == 0 || target->allows_no_guard
        || plan->target.provider->ends_by(&plan->desired) != NULL)
        return true;
    return error_set(error, ERROR_FORBIDDEN,
                     "nothing ends %s if opsbrain is gone, and the target %s demands something "
                     "that does (allows_no_guard)",
                     plan->row.deployment, target->name);
}

/* ---- The document ---- */

static json_t *recipe_json(const struct managed_plan *plan)
{
    if (plan->desired.recipe == NULL)
        return json_null();
    return json_pack("{s:s, s:I, s:O}", "name", plan->recipe.name, "revision",
                     (json_int_t)plan->recipe.revision, "document", plan->recipe.document);
}

static json_t *price_json(const struct making *making, const struct managed_plan *plan)
{
    return json_pack("{s:b, s:f, s:s}", "known", (int)plan->row.usd_known, "usd_per_hour",
                     plan->row.usd_per_hour, "rows", making->price.rows);
}

static json_t *steps_json(const struct managed_plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->step_count; i++)
        json_array_append_new(list, managed_document_step(&plan->steps[i]));
    return list;
}

static json_t *commands_json(const struct managed_plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->step_count; i++) {
        TEXT_AUTO command = { 0 };

        plan->target.provider->command(&plan->desired, &plan->steps[i], &command);
        json_array_append_new(list, json_string(text_string(&command)));
    }
    return list;
}

/* What is shown and not part of the digest. */
static json_t *advice_json(const struct making *making, const struct managed_plan *plan)
{
    const struct provider *provider = plan->target.provider;
    const char *ends_by = plan->row.ends_ms == 0 ? NULL : provider->ends_by(&plan->desired);
    json_t *warnings = json_array();

    if (plan->desired.recipe != NULL)
        provider->lint(&plan->desired, warnings);
    return json_pack("{s:s, s:s?, s:s, s:o, s:o}", "price", making->price.breakdown, "ends_by",
                     ends_by, "lock", provider->lock, "commands", commands_json(plan), "warnings",
                     warnings);
}

static json_t *wish_json(const struct making *making, const struct managed_plan *plan)
{
    const struct managed_wish *wish = &making->wish;

    return json_pack("{s:s, s:o, s:s, s:s, s:I, s:s}", "recipe", wish->recipe, "overrides",
                     wish->overrides == NULL ? json_object() : json_deep_copy(wish->overrides),
                     "place", plan->desired.place, "kind", wish->kind, "replicas",
                     (json_int_t)wish->replicas, "at_end", wish->at_end);
}

static void write_document(const struct making *making, struct managed_plan *plan)
{
    const struct fleet_target *target = &plan->target.plain;
    FREE_AUTO char *canonical = NULL;

    plan->wish = wish_json(making, plan);
    plan->desired.kind = json_get_text(plan->wish, "kind", ""); /* the call's is borrowed */
    plan->document = json_pack(
        "{s:s, s:s, s:s, s:O, s:{s:s, s:I}, s:o, s:o, s:o, s:I, s:o}", "verb",
        provider_verb_name(making->wish.verb), "deployment", plan->row.deployment, "instance",
        making->frame->instance, "wish", plan->wish, "target", "name", target->name, "revision",
        (json_int_t)target->revision, "recipe", recipe_json(plan), "observed",
        managed_document_observed(&plan->observed), "price", price_json(making, plan), "ends_ms",
        (json_int_t)plan->row.ends_ms, "steps", steps_json(plan));
    canonical = json_write_canonical(plan->document);
    digest_sha256_text(canonical, strlen(canonical), plan->row.digest);
    json_object_set_new(plan->document, "advice", advice_json(making, plan));
    plan->row.document = json_write(plan->document);
}

/* ---- All of it ---- */

/* The provider's own word on each request, where it has one. */
static CHECKED bool rehearse(const struct making *making, const struct managed_plan *plan,
                             struct error *error)
{
    for (size_t i = 0; i < plan->step_count && making->id == NULL; i++) {
        const struct step *step = &plan->steps[i];
        CLOUD_REPLY_AUTO reply = { 0 };
        struct error problem;

        if (step->dry_run_url[0] != '\0'
            && !making->frame->call(making->cloud, step->method, step->dry_run_url,
                                    step->content_type[0] == '\0' ? NULL : step->content_type,
                                    step->body, &reply, &problem))
            return error_set(error, problem.kind, "the dry run of the request \"%s\" failed: %s",
                             step->name, problem.message);
    }
    return true;
}

static void fill_row(const struct making *making, struct managed_plan *plan)
{
    struct fleet_plan_row *row = &plan->row;

    if (making->id == NULL)
        random_id("pln", row->id);
    else
        text_copy(row->id, sizeof row->id, making->id);
    text_copy(row->verb, sizeof row->verb, provider_verb_name(making->wish.verb));
    text_copy(row->deployment, sizeof row->deployment, making->wish.deployment);
    text_copy(row->target, sizeof row->target, plan->target.plain.name);
    text_copy(row->at_end, sizeof row->at_end, row->ends_ms == 0 ? "" : making->wish.at_end);
    row->target_revision = plan->target.plain.revision;
    row->created_ms = making->created_ms;
    row->good_until_ms = making->created_ms + PLAN_GOOD_MS;
}

static CHECKED bool read_inputs(struct making *making, struct managed_plan *plan,
                                struct error *error)
{
    const struct fleet_frame *frame = making->frame;

    if (!find_managed(making, error))
        return false;
    complete_wish(making);
    return managed_target_find(frame, making->wish.target, &plan->target, error)
           && provider_check_verb(plan->target.provider, making->wish.verb, error)
           && read_recipe(making, plan, error) && find_end(making, &plan->row.ends_ms, error)
           && frame->cloud(frame->context, &plan->target.plain, &making->cloud, error);
}

static CHECKED bool make(struct making *making, struct managed_plan *plan, struct error *error)
{
    const struct provider *provider;
    const char *place;

    if (!read_inputs(making, plan, error)
        || !managed_target_place(&plan->target, making->wish.place, &place, error))
        return false;
    provider = plan->target.provider;
    fill_row(making, plan);
    fill_desired(making, plan, place);
    if (!provider->observe(making->cloud, &plan->desired, &plan->observed, error)
        || !check_observed(making, &plan->observed, error)
        || !provider->steps(making->wish.verb, &plan->desired, &plan->observed, &plan->steps,
                            &plan->step_count, error))
        return false;
    find_price(making, plan);
    if (!fleet_plan_within(&plan->target.row, &plan->row, error)
        || (!is_ending(making->wish.verb) && !check_guard(plan, error))
        || !rehearse(making, plan, error))
        return false;
    write_document(making, plan);
    return true;
}

static CHECKED bool run_making(struct making *making, struct managed_plan *out, struct error *error)
{
    bool done;

    *out = (struct managed_plan){ 0 };
    done = make(making, out, error);
    fleet_managed_finish(&making->managed);
    json_decref(making->before);
    if (!done)
        managed_plan_finish(out);
    return done;
}

bool managed_plan_make(const struct fleet_frame *frame, const struct managed_wish *wish,
                       struct managed_plan *out, struct error *error)
{
    struct making making = { .frame = frame, .wish = *wish, .created_ms = frame->now_ms() };

    return run_making(&making, out, error);
}

/* ---- A stored plan ---- */

static enum provider_verb verb_find(const char *name)
{
    enum provider_verb verb = VERB_CREATE;

    while (verb < VERB_DESTROY && strcmp(provider_verb_name(verb), name) != 0)
        verb++;
    return verb;
}

/* "state absent -> ready": the first members that differ. */
static void describe_members(const json_t *before, const json_t *after, struct text *out)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(before), name, value) {
        json_t *now = json_object_get(after, name);

        if (json_equal(value, now) || out->length > 200)
            continue;
        text_addf(out, "%s %s ", out->length == 0 ? "" : ",", name);
        json_add(out, value);
        text_add(out, " -> ");
        json_add(out, now);
    }
}

static CHECKED bool refuse_difference(const json_t *before, const json_t *after,
                                      struct error *error)
{
    static const struct {
        const char *name, *what;
    } parts[] = {
        { "target", "the target" }, { "recipe", "the recipe" },       { "observed", "what exists" },
        { "price", "the price" },   { "wish", "what was asked for" }, { "steps", "the requests" },
    };
    TEXT_AUTO members = { 0 };
    const char *what = "something";

    for (size_t i = sizeof parts / sizeof *parts; i-- > 0;)
        if (!json_equal(json_object_get(before, parts[i].name),
                        json_object_get(after, parts[i].name)))
            what = parts[i].what;
    for (size_t i = 0; i < sizeof parts / sizeof *parts - 1; i++)
        if (strcmp(what, parts[i].what) == 0 && strcmp(parts[i].name, "recipe") != 0)
            describe_members(json_object_get(before, parts[i].name),
                             json_object_get(after, parts[i].name), &members);
    return error_set(error, ERROR_CONFLICT,
                     "%s has changed since the plan was made:%s; make a new one with "
                     "deployment_plan",
                     what, members.length == 0 ? " it is another" : text_string(&members));
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
    if (!run_making(&making, out, error))
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
           && managed_document_steps(json_object_get(out->document, "steps"), &out->steps,
                                     &out->step_count, error);
    if (!done) {
        managed_plan_finish(out);
        return false;
    }
    fill_desired(&making, out, place);
    return true;
}
