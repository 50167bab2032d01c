/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/fleet/plan_answer.h"

#include <math.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answer.h"
#include "handlers/fleet/target_answer.h"

static const struct field approval_fields[] = {
    { "principal", VALUE_TEXT, .help = "Who agreed." },
    { "way", VALUE_TEXT, .help = "person, command line, or agent." },
    { "at", VALUE_TEXT, .help = "When, UTC." },
    { 0 },
};

const struct field plan_answer_fields[] = {
    { "plan", VALUE_TEXT, .help = "Its id: for deployment_apply and plan_approve." },
    { "digest", VALUE_TEXT,
      .help = "Covers requests, prices, target, recipe, existing resources, and the end." },
    { "state", VALUE_TEXT, .help = "planned, applying, done, failed or cancelled." },
    { "verb", VALUE_TEXT, .help = PLAN_VERB_HELP },
    { "deployment", VALUE_TEXT, .help = "The deployment's name." },
    { "target", VALUE_TEXT, .help = "The deployment's target." },
    { "usd_per_hour", VALUE_NUMBER, .optional = true,
      .help = "What the deployment will cost; missing: not known." },
    { "price", VALUE_TEXT, .optional = true, .help = "How the cost is computed, with sources." },
    { "ends_at", VALUE_TEXT, .optional = true,
      .help = "When the deployment ends, UTC; missing: never." },
    { "at_end", VALUE_TEXT, .optional = true, .help = "What happens then: stop or destroy." },
    { "ends_by", VALUE_TEXT, .optional = true,
      .help = "What ends the deployment without opsbrain; missing: nothing." },
    { "lock", VALUE_TEXT, .optional = true, .help = "How access to the server is protected." },
    { "exists", VALUE_OBJECT, .optional = true, .foreign = true,
      .help = "What existed on the platform when the plan was made." },
    { "requests", VALUE_LIST, .help = "The exact requests, in order, without secrets." },
    { "commands", VALUE_TEXTS, .optional = true,
      .help = "The requests as commands of the platform's own tool." },
    { "warnings", VALUE_TEXTS, .sparse = true, .help = "What is allowed but unwise." },
    { "approvals", VALUE_LIST, .sparse = true, .help = "Who agreed so far.",
      .fields = approval_fields },
    { "reason", VALUE_TEXT, .optional = true, .foreign = true,
      .help = "Why it failed or was cancelled." },
    { "by", VALUE_TEXT, .help = "Who planned it." },
    { "waits", VALUE_BOOLEAN, .help = "Whether it can still be approved and applied." },
    { "good_until", VALUE_TEXT, .help = "When it expires, UTC, unless it has begun." },
    { "job", VALUE_TEXT, .optional = true, .help = "The job that carries it out." },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool list_approvals(struct store *store, const char *id, json_t **out,
                                   struct error *error)
{
    FREE_AUTO struct fleet_approval *rows = NULL;
    size_t count;

    if (!fleet_plan_approvals(store, id, &rows, &count, error))
        return false;
    *out = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(*out,
                              json_pack("{s:s, s:s, s:o}", "principal", rows[i].principal, "way",
                                        rows[i].way, "at", answer_json_time(rows[i].created_ms)));
    return true;
}

static void describe_approvals(const json_t *approvals, struct text *out)
{
    const json_t *approval;
    size_t i;

    json_array_foreach(approvals, i, approval)
        text_addf(out, "agreed: %s (%s)\n", json_get_text(approval, "principal", ""),
                  json_get_text(approval, "way", ""));
}

static json_t *plan_json_take(const struct fleet_plan_row *row, const json_t *document,
                              json_t *approvals)
{
    const json_t *advice = json_object_get(document, "advice");
    bool waits = strcmp(row->state, "planned") == 0 && clock_utc_ms() < row->good_until_ms;

    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:O?, s:o, s:o, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, "
        "s:o, s:o, s:s, s:b, s:o, s:o}",
        "plan", row->id, "digest", row->digest, "state", row->state, "verb", row->verb,
        "deployment", row->deployment, "target", row->target, "usd_per_hour",
        json_number_or_null(row->usd_known ? row->usd_per_hour : (double)NAN), "price",
        json_object_get(advice, "price"), "ends_at", answer_json_time(row->ends_ms), "at_end",
        answer_json_text(row->at_end), "ends_by", json_object_get(advice, "ends_by"), "lock",
        json_object_get(advice, "lock"), "exists", json_object_get(document, "observed"),
        "requests", json_object_get(document, "steps"), "commands",
        json_object_get(advice, "commands"), "warnings", json_object_get(advice, "warnings"),
        "approvals", approvals, "reason", answer_json_text(row->reason), "by", row->principal,
        "waits", (int)waits, "good_until", answer_json_time(row->good_until_ms), "job",
        answer_json_text(row->job_id));
}

bool plan_answer_write(struct store *store, const struct fleet_plan_row *row, struct answer *answer,
                       struct error *error)
{
    json_auto_t *document = json_loads(row->document, 0, NULL);
    json_t *approvals;

    if (!list_approvals(store, row->id, &approvals, error))
        return false;
    answer->structured = plan_json_take(row, document, approvals);
    managed_plan_describe(document, row, &answer->text);
    describe_approvals(approvals, &answer->text);
    text_addf(&answer->text, "digest: %s\n", row->digest);
    return true;
}

bool plan_answer(const struct call *call, const struct fleet_plan_row *row, struct answer *answer,
                 struct error *error)
{
    if (!plan_answer_write(call->services->store, row, answer, error))
        return false;
    answer_shows(answer, "/plans/%s", row->id);
    return true;
}

struct managed_wish plan_answer_wish(const struct call *call, enum provider_verb verb)
{
    static const char *const names[] = { "deployment", "target", "recipe",
                                         "region",     "kind",   "at_end" };
    struct managed_wish wish = { .verb = verb };
    const char **const members[] = { &wish.deployment, &wish.target, &wish.recipe,
                                     &wish.place,      &wish.kind,   &wish.at_end };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *members[i] = call_text(call, names[i]);
        if (*members[i] == NULL)
            *members[i] = "";
    }
    wish.life_s = call_integer(call, "life_s", 0);
    wish.replicas = call_integer(call, "replicas", 0);
    return wish;
}

json_t *plan_answer_overrides(const struct call *call)
{
    json_t *out = json_object(), *value;
    const char *name;

    json_object_foreach(json_object_get(call->arguments, "overrides"), name, value) {
        json_t *parsed = json_loads(json_string_value(value), JSON_DECODE_ANY, NULL);

        if (json_is_number(parsed) || json_is_boolean(parsed)) {
            json_object_set_new(out, name, parsed);
            continue;
        }
        json_decref(parsed);
        json_object_set(out, name, value);
    }
    return out;
}

bool plan_answer_make(struct call *call, const struct managed_wish *wish, struct answer *answer,
                      struct error *error)
{
    const struct fleet_frame *frame;
    struct managed_plan plan;
    struct fleet_plan_row stored;
    bool done;

    if (!target_answer_frame(call, &frame, error) || !managed_plan_make(frame, wish, &plan, error))
        return false;
    done = fleet_plan_add(call->services->store, &plan.row, &call->change, &stored, error);
    managed_plan_finish(&plan);
    if (!done)
        return false;
    done = plan_answer(call, &stored, answer, error);
    if (done)
        answer_next(answer, "show this to whoever decides; then deployment_apply with this plan");
    fleet_plan_finish(&stored);
    return done;
}

bool plan_answer_check_owner(const struct call *call, const char *name, struct error *error)
{
    struct fleet_managed_row row;
    bool found, allowed;

    if (!fleet_managed_find(call->services->store, name, &row, &found, error))
        return false;
    if (!found)
        return true; /* managed_plan_make refuses a deployment that is not managed */
    allowed = role_allows(call->principal.role, ROLE_ADMIN)
              || strcmp(row.created_by, call->principal.name) == 0;
    if (!allowed)
        error_set(error, ERROR_FORBIDDEN, "%s belongs to %s: only %s or an admin may change it",
                  name, row.created_by, row.created_by);
    fleet_managed_finish(&row);
    return allowed;
}

bool plan_answer_change(struct call *call, enum provider_verb verb, struct answer *answer,
                        struct error *error)
{
    const struct managed_wish wish = plan_answer_wish(call, verb);

    return plan_answer_check_owner(call, wish.deployment, error)
           && plan_answer_make(call, &wish, answer, error);
}

bool plan_answer_check_not_moved(const struct fleet_frame *frame, struct error *error)
{
    if (frame->only_reads == NULL || !atomic_load(frame->only_reads))
        return true;
    return error_set(
        error, ERROR_FORBIDDEN,
        "this database was moved or restored: opsbrain only reads the clouds, and changes "
        "nothing there, until an administrator runs `opsbrain fleet resume`");
}

const struct field plan_answer_begun_fields[] = {
    { "plan", VALUE_TEXT, .help = "The plan." },
    { "deployment", VALUE_TEXT, .help = "The deployment that it changes." },
    { "verb", VALUE_TEXT, .help = PLAN_VERB_HELP },
    { "job", VALUE_TEXT, .optional = true, .help = "The job that carries it out: for job_show." },
    { "started", VALUE_BOOLEAN,
      .help = "False: it had already begun, or needs another person's go-ahead." },
    FIELD_NEXT_STEP,
    { 0 },
};

bool plan_answer_begin(struct call *call, const struct fleet_plan_row *row, const char *way,
                       struct answer *answer, struct error *error)
{
    json_auto_t *document = json_loads(row->document, 0, NULL);
    FREE_AUTO char *wish = json_write(json_object_get(document, "wish"));
    struct fleet_plan_begun begun;

    if (!fleet_plan_begin(call->services->store, row->id, way, wish, clock_utc_ms(), &call->change,
                          &begun, error))
        return false;
    job_pool_wake(call->services->jobs);
    answer->structured =
        json_pack("{s:s, s:s, s:s, s:s, s:b}", "plan", row->id, "deployment", row->deployment,
                  "verb", row->verb, "job", begun.job_id, "started", (int)!begun.existed);
    text_copy(answer->job_id, sizeof answer->job_id, begun.job_id);
    text_copy(answer->changed, sizeof answer->changed, row->deployment);
    text_addf(&answer->text, "%s %s: %s as job %s.\n", row->verb, row->deployment,
              begun.existed ? "it had already begun" : "it has begun", begun.job_id);
    answer_next(answer, "job_show with this job and wait_s 600, until it has ended; then "
                        "deployment_show");
    return true;
}
