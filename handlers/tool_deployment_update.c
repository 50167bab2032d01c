/* deployment_update: what is known of a deployment changes, as a new revision. */

#include <inttypes.h>

#include "base/clock.h"
#include "handlers/deployment_settings.h"
#include "handlers/deployment_welcome.h"

static const struct param params[] = {
    PARAM_DEPLOYMENT,
    { "revision", VALUE_INTEGER, .low = 1, .high = 1e9,
      .help = "The revision you have seen: refused if someone changed it since. Left out: whatever "
              "it is now." },
    { "url", VALUE_TEXT, .low = 1, .high = 1024, .help = URL_HELP },
    PARAMS_DEPLOYMENT_SETTINGS,
    PARAM_IDEMPOTENCY_KEY,
    { 0 },
};

static bool check_revision(const struct call *call, const struct deployment *before,
                           struct error *error)
{
    int64_t seen = call_integer(call, "revision", before->revision);

    if (seen != before->revision)
        return error_set(error, ERROR_CONFLICT,
                         "%s is at revision %" PRId64 " by now, not %" PRId64
                         ": look at it with deployment_show and decide again",
                         before->name, before->revision, seen);
    return true;
}

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct deployment before, after;
    bool changed;

    if (!deployment_of(call, &before, error))
        return false;
    after = before;
    text_copy(after.created_by, sizeof after.created_by, call->principal.name);
    if (!deployment_settings_read(call, &after, error)
        || !deployment_secret_check(call, &before, &after, error))
        return false;
    changed = !deployment_settings_same(&before, &after); /* the same call again changes nothing */
    if (changed && !check_revision(call, &before, error))
        return false;
    if (changed
        && !deployment_change(call->services->store, &after, clock_utc_ms(), &call->change, &after,
                              error))
        return false;
    deployment_welcome(call, changed ? &after : &before, changed, answer);
    return true;
}

const struct tool tool_deployment_update = {
    .name = "deployment_update",
    .title = "Change a deployment's settings",
    .help =
        "Changes what is registered of a deployment: URL, model, secret's name, hardware, labels, "
        "limits. Only what you name changes; a text given as \"\" is cleared. The change is a new "
        "revision: results measured before keep pointing at the old one. It does not touch the "
        "server itself. The settings are told in full by deployment_register. Moving a deployment "
        "that has a secret to another host needs the secret "
        "named again, or an admin.",
    .params = params,
    .params_told_in = "deployment_register",
    .fields = deployment_welcome_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .idempotent = true,
    .open_world = true,
    .changes_resources = true,
    .run = run,
};
