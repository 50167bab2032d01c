/* deployment_remove: a deployment is retired; what was measured on it stays. */

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "handlers/deployment_of.h"
#include "handlers/sweep_answer.h"
#include "store/scrapes.h"

#define SWEEPS_LOOKED_AT 50

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Registered name of the deployment to remove." },
    { "confirm", VALUE_TEXT, .low = 1, .high = 63,
      .help = "The same name again, to say that it is meant. Left out: the person at the client is "
              "asked, where the client can show a form." },
    { 0 },
};

static const struct field fields[] = {
    { "name", VALUE_TEXT, .help = "The deployment that was retired." },
    { "removed", VALUE_BOOLEAN, .help = "Always true." },
    { 0 },
};

static bool check_idle(struct store *store, const char *name, struct error *error)
{
    struct sweep_row *sweeps = NULL;
    char active[ID_SIZE] = "";
    size_t count;

    if (!sweep_list(store, name, 0, SWEEPS_LOOKED_AT, &sweeps, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (sweep_is_active(&sweeps[i]))
            text_copy(active, sizeof active, sweeps[i].id);
    sweep_rows_free(sweeps, count);
    if (active[0] != '\0')
        return error_set(error, ERROR_CONFLICT,
                         "the sweep %s is at work on %s: wait for it, or call sweep_cancel first",
                         active, name);
    return true;
}

/* ---- Is it meant? ---- */

static void describe(const struct deployment *deployment, struct text *out)
{
    text_addf(
        out,
        "Remove the deployment \"%s\" (%.60s) from the registry? Removed: its entry, and the "
        "watching of its metrics. Kept: its server, which is not touched, its sweeps and runs, "
        "and the entry's revisions: registering the name again brings it back.",
        deployment->name, deployment->url);
}

static json_t *form(const char *plan)
{
    return json_pack("{s:s, s:{s:s, s:{s:{s:s, s:s, s:b}}, s:[s]}}", "message", plan,
                     "requestedSchema", "type", "object", "properties", "remove", "type", "boolean",
                     "title", "Remove it", "default", false, "required", "remove");
}

static bool ask_person(struct call *call, const struct deployment *deployment, struct error *error)
{
    TEXT_AUTO plan = { 0 };
    json_auto_t *shown = NULL, *answers = NULL;
    const json_t *answer;

    describe(deployment, &plan);
    shown = form(text_string(&plan));
    const struct question question = { "remove", "elicitation/create", shown };
    if (!call->ask(call, &question, 1, &answers, error)) {
        if (error->kind != ERROR_UNSUPPORTED)
            return false;
        return error_set(error, ERROR_INVALID, "%s To do it, call again with \"confirm\": \"%s\"",
                         text_string(&plan), deployment->name);
    }
    answer = json_object_get(answers, "remove");
    if (strcmp(json_get_text(answer, "action", ""), "accept") == 0
        && json_get_boolean(json_object_get(answer, "content"), "remove", false))
        return true;
    return error_set(error, ERROR_CANCELLED,
                     "%s stays registered: the person who was asked did not agree to remove it",
                     deployment->name);
}

/* ---- The removal ---- */

static void stop_watching(const struct call *call, const struct deployment *deployment)
{
    struct error problem;

    if (scrape_target_set(call->services->store, deployment->id, 0, NULL, &problem))
        scraper_kick(call->services->scraper);
    else
        log_warning("%s is retired but still watched: %s", deployment->name, problem.message);
}

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *name = call_text(call, "deployment"), *confirm = call_text(call, "confirm");
    struct deployment deployment;

    if (confirm != NULL && strcmp(name, confirm) != 0)
        return error_set(error, ERROR_INVALID,
                         "\"confirm\" must be the deployment's name again (\"%s\")", name);
    if (!deployment_find(call->services->store, name, &deployment, error)
        || !check_idle(call->services->store, name, error)
        || (confirm == NULL && !ask_person(call, &deployment, error))
        || !deployment_retire(call->services->store, name, clock_utc_ms(), &call->change, error))
        return false;
    stop_watching(call, &deployment);
    answer->structured = json_pack("{s:s, s:b}", "name", name, "removed", true);
    text_addf(&answer->text,
              "%s is removed from the registry. Its server was not touched; its sweeps and runs "
              "are kept. Registering the name again brings it back as a new revision.\n",
              name);
    return true;
}

const struct tool tool_deployment_remove = {
    .name = "deployment_remove",
    .title = "Remove a deployment from the registry",
    .help = "Takes a deployment out of the registry and stops watching its metrics. The model "
            "server itself is not touched, and everything measured on it stays readable. Needs "
            "the role admin, and `confirm` with the same name or the consent of the person at the "
            "client, who is asked by a form. Refused while a sweep is at work on it.",
    .params = params,
    .fields = fields,
    .role = ROLE_ADMIN,
    .placement = PLACE_WAITING,
    .destructive = true,
    .changes_resources = true,
    .run = run,
};
