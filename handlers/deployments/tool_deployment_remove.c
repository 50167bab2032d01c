/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_remove: retires a deployment, but keeps its measurements. */

#include "base/core/clock.h"
#include "base/core/log.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/consent.h"
#include "handlers/deployments/deployment_rights.h"
#include "store/fleet/fleet_managed.h"
#include "store/series/scrapes.h"

static const struct param params[] = {
    { "deployment", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Registered name." },
    PARAM_CONFIRM("The same name again, as confirmation."),
    { 0 },
};

static const struct field fields[] = {
    { "name", VALUE_TEXT, .help = "The deployment that was retired." },
    { "removed", VALUE_BOOLEAN, .help = "Always true." },
    { 0 },
};

/* Refuses to remove a managed deployment that opsbrain has the right to end: without its entry in
 * the registry, its server would keep running, and perhaps cost money, without anybody noticing. */
static CHECKED bool check_unmanaged(struct store *store, const char *name, struct error *error)
{
    struct fleet_managed_row row;
    bool found, good;

    if (!fleet_managed_find(store, name, &row, &found, error))
        return false;
    if (!found)
        return true;
    good = strcmp(row.rights, "watched") == 0
           || error_set(error, ERROR_CONFLICT,
                        "%s is managed by opsbrain on the target %s: call deployment_destroy, "
                        "which also retires its name",
                        name, row.target);
    fleet_managed_finish(&row);
    return good;
}

/* Called before the user is asked and again before the removal, since the user may take minutes to
 * answer. */
static CHECKED bool check(const struct call *call, struct deployment *out, struct error *error)
{
    const char *name = call_text(call, "deployment");

    return deployment_find(call->services->store, name, out, error)
           && deployment_check_owner(call, out, error)
           && check_unmanaged(call->services->store, name, error)
           && deployment_argument_check_idle(call->services->store, name, error);
}

static CHECKED bool get_consent(struct call *call, const struct deployment *deployment,
                                struct error *error)
{
    TEXT_AUTO plan = { 0 };
    TEXT_AUTO declined = { 0 };

    text_addf(
        &plan,
        "Remove the deployment \"%s\" (%.60s) from the registry? Its metrics will no longer be "
        "stored. Its server is not touched. Its sweeps, runs and revisions are kept: registering "
        "the name again brings the deployment back.",
        deployment->name, deployment->url);
    text_addf(&declined, "%s stays registered", deployment->name);
    const struct consent consent = { .name = deployment->name,
                                     .key = "remove",
                                     .title = "Remove it",
                                     .plan = text_string(&plan),
                                     .summary = text_string(&plan),
                                     .declined = text_string(&declined) };
    return consent_get(call, &consent, error);
}

static CHECKED bool go_ahead(struct call *call, struct error *error)
{
    struct deployment deployment;

    return check(call, &deployment, error) && get_consent(call, &deployment, error);
}

/* ---- The removal ---- */

static void stop_watching(const struct call *call, const struct deployment *deployment)
{
    struct error problem;

    if (scrape_target_set(call->services->store, deployment->id, 0, NULL, &problem))
        scraper_wake(call->services->scraper);
    else
        log_warning("%s is retired, but its metrics_watch setting could not be cleared: %s",
                    deployment->name, problem.message);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    const char *name = call_text(call, "deployment");
    struct deployment deployment;

    /* The release comes first: if the process is killed before the name is retired, the call can be
     * repeated. */
    if (!check(call, &deployment, error)
        || !fleet_managed_release(call->services->store, name, clock_utc_ms(), error)
        || !deployment_retire(call->services->store, name, clock_utc_ms(), &call->change, error))
        return false;
    stop_watching(call, &deployment);
    text_copy(answer->changed, sizeof answer->changed, name);
    answer->structured = json_pack("{s:s, s:b}", "name", name, "removed", true);
    text_addf(&answer->text,
              "%s was removed from the registry. Its server was not touched; its sweeps and runs "
              "are kept. Registering the name again brings it back as a new revision.\n",
              name);
    return true;
}

const struct tool tool_deployment_remove = {
    .name = "deployment_remove",
    .title = "Remove a deployment from the registry",
    .help = "Takes a deployment out of the registry; its server and everything measured stay.",
    .more = "Its metrics are no longer watched. Only its owner and admins may remove it, with "
            "consent, and while no sweep is using it.",
    .sets = SET_FLEET,
    .params = params,
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .destroys = STATED_YES,
    .spends_money = STATED_NO,
    .changes_resources = true,
    .go_ahead = go_ahead,
    .run = run,
};
