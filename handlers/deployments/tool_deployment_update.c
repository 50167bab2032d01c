/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_update: changes a deployment's settings, as a new revision, or plans a change to a
 * managed server. */

#include <inttypes.h>
#include <string.h>

#include "base/core/clock.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/consent.h"
#include "handlers/deployments/deployment_rights.h"
#include "handlers/deployments/deployment_settings.h"
#include "handlers/deployments/registration_answer.h"
#include "handlers/fleet/managed_update.h"
#include "handlers/values.h"
#include "store/ledger/secret_origins.h"

static const struct param params[] = {
    PARAM_DEPLOYMENT,
    { "revision", VALUE_INTEGER, .low = 1, .high = 1e9, .rare = true,
      .help = "The revision that you read: refused if there is a newer one." },
    { "url", VALUE_TEXT, .low = 1, .high = 1024, .help = URL_HELP, .more = URL_MORE },
    PARAMS_DEPLOYMENT_SETTINGS,
    { "owner", VALUE_TEXT, .low = 1, .high = 63, .rare = true,
      .help = "For admins: the new owner." },
    PARAMS_MANAGED_UPDATE,
    PARAM_CONFIRM("Its name, to confirm the new URL."),
    PARAM_IDEMPOTENCY_KEY,
    { 0 },
};

static const struct field fields[] = {
    REGISTRATION_ANSWER_FIELDS(true),
    { "plan", VALUE_OBJECT, .optional = true, .help = "As deployment_plan returns it." },
    FIELD_NEXT_STEP,
    { 0 },
};

static CHECKED bool check_revision(const struct call *call, const struct deployment *before,
                                   struct error *error)
{
    int64_t expected = call_integer(call, "revision", before->revision);

    if (expected != before->revision)
        return error_set(error, ERROR_CONFLICT,
                         "%s is now at revision %" PRId64 ", not %" PRId64
                         ": read it with deployment_show and decide again",
                         before->name, before->revision, expected);
    return true;
}

/* ---- The owner ---- */

static CHECKED bool read_owner(const struct call *call, struct deployment *after,
                               struct error *error)
{
    const char *owner = call_text(call, "owner");
    char shown[VALUE_SHOWN_SIZE];
    bool exists;

    if (owner == NULL || strcmp(owner, after->owner) == 0)
        return true;
    if (!role_allows(call->principal.role, ROLE_ADMIN))
        return error_set(error, ERROR_FORBIDDEN, "only an admin may hand %s over to another owner",
                         after->name);
    if (!principal_exists(call->services->store, owner, &exists, error))
        return false;
    if (!exists)
        return error_set(error, ERROR_NOT_FOUND,
                         "\"owner\" is %s: no principal has that name (`opsbrain key list` lists "
                         "the names)",
                         value_show_text(owner, shown));
    text_copy(after->owner, sizeof after->owner, owner);
    return true;
}

/* ---- The URL and the secret ---- */

static CHECKED bool get_consent(struct call *call, const struct deployment *before,
                                const struct deployment *after, struct error *error)
{
    char from[ORIGIN_SIZE], to[ORIGIN_SIZE];
    TEXT_AUTO plan = { 0 };
    TEXT_AUTO summary = { 0 };
    TEXT_AUTO declined = { 0 };

    if (!url_origin(before->url, from, error) || !url_origin(after->url, to, error))
        return false;
    text_addf(
        &plan,
        "Point the deployment \"%s\" (owner: %s) to %s instead of %s? From then on, everybody's "
        "requests to it (prompts, benchmarks, metrics) go there%s%s.",
        before->name, before->owner, after->url, before->url,
        after->secret[0] != '\0' ? ", with the secret " : "", after->secret);
    text_addf(&summary, "This points \"%s\" to %s instead of %.60s, for everybody who uses it.",
              before->name, to, from);
    text_addf(&declined, "%s stays at %.200s", before->name, before->url);
    const struct consent consent = { .name = before->name,
                                     .key = "move",
                                     .title = "Point it there",
                                     .plan = text_string(&plan),
                                     .summary = text_string(&summary),
                                     .declined = text_string(&declined) };
    return consent_get(call, &consent, error);
}

static bool moves(const struct deployment *before, const struct deployment *after)
{
    return strcmp(before->url, after->url) != 0;
}

static CHECKED bool check_url_and_secret(struct call *call, const struct deployment *before,
                                         struct deployment *after, struct error *error)
{
    if ((moves(before, after) || strcmp(before->secret, after->secret) != 0)
        && !deployment_check_owner(call, before, error))
        return false;
    if (!deployment_check_secret(call, before, after, error))
        return false;
    return !moves(before, after)
           || (managed_update_check_url(call, before, after, error)
               && check_revision(call, before, error)
               && deployment_argument_check_idle(call->services->store, before->name, error));
}

/* Reads the current state, and computes the new one. Called before the user is asked and again
 * before the change, since the user may take minutes to answer. */
static CHECKED bool read(struct call *call, struct deployment *before, struct deployment *after,
                         struct error *error)
{
    if (!deployment_argument(call, before, error))
        return false;
    *after = *before;
    text_copy(after->created_by, sizeof after->created_by, call->principal.name);
    return deployment_settings_read(call, after, error) && read_owner(call, after, error)
           && check_url_and_secret(call, before, after, error);
}

static CHECKED bool go_ahead(struct call *call, struct error *error)
{
    struct deployment before, after;
    bool requested;

    if (!managed_update_is_requested(call, &requested, error))
        return false;
    return requested /* a plan needs no go-ahead until it is applied */
           || (read(call, &before, &after, error)
               && (!moves(&before, &after) || get_consent(call, &before, &after, error)));
}

/* ---- The change ---- */

/* *changed: whether the store changed; a repeated call changes nothing. */
static CHECKED bool store(struct call *call, const struct deployment *before,
                          struct deployment *after, bool *changed, struct error *error)
{
    struct store *store = call->services->store;
    int64_t now_ms = clock_utc_ms();

    *changed = !deployment_settings_same(before, after) || strcmp(before->owner, after->owner) != 0;
    if (*changed)
        return check_revision(call, before, error)
               && deployment_change(store, after, now_ms, &call->change, after, error);
    return after->origin_to_bind[0] == '\0'
           || secret_origin_add(store, after->secret, after->origin_to_bind, now_ms, &call->change,
                                changed, error);
}

static CHECKED bool change(struct call *call, struct answer *answer, struct error *error)
{
    char bound[ORIGIN_SIZE];
    struct deployment before, after;
    bool changed;

    if (!read(call, &before, &after, error))
        return false;
    text_copy(bound, sizeof bound, after.origin_to_bind);
    if (!store(call, &before, &after, &changed, error))
        return false;
    registration_answer(call, changed ? &after : &before, changed, bound, answer);
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct deployment deployment;
    bool requested;

    if (!managed_update_is_requested(call, &requested, error))
        return false;
    if (!requested)
        return change(call, answer, error);
    return deployment_argument(call, &deployment, error)
           && managed_update_plan(call, &deployment, answer, error);
}

const struct tool tool_deployment_update = {
    .name = "deployment_update",
    .title = "Change a deployment's settings",
    .help = "Changes a deployment's settings: only those you name; \"\" clears a text.",
    .more =
        "If the deployment is managed, recipe and overrides plan a change to the server; "
        "deployment_apply carries it out. The old server serves until the new one is ready, and a "
        "plan with the earlier recipe and overrides undoes the change. The settings change only "
        "the registry, as a new revision: earlier results keep the old revision. Only the owner "
        "and admins may change URL and secret; a new URL needs consent and is refused while a "
        "sweep is planned or running. The settings are those of deployment_register.",
    .sets = SET_FLEET,
    .params = params,
    .params_described_in = "deployment_register",
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .idempotent = true,
    .destroys = STATED_YES,
    .spends_money = STATED_NO,
    .open_world = true,
    .changes_resources = true,
    .grows = true,
    .go_ahead = go_ahead,
    .run = run,
};
