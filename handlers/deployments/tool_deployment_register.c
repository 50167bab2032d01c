/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_register: gives a model server a name. */

#include "base/core/clock.h"
#include "handlers/deployments/deployment_rights.h"
#include "handlers/deployments/deployment_settings.h"
#include "handlers/deployments/registration_answer.h"
#include "handlers/values.h"
#include "store/ledger/secret_origins.h"

static const struct param params[] = {
    { "name", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Name to call it by from now on.",
      .more = "Letters, digits, '.', '_' and '-', beginning with a letter or digit." },
    { "url", VALUE_TEXT, .required = true, .low = 1, .high = 1024, .help = URL_HELP,
      .more = URL_MORE },
    PARAMS_DEPLOYMENT_SETTINGS,
    PARAM_IDEMPOTENCY_KEY,
    { 0 },
};

/* Returns true if the deployment is registered with the same settings. Registering it again is not
 * an error: an agent that did not get the answer repeats the call. */
static bool is_already_stored(const struct call *call, const struct deployment *wanted,
                              struct deployment *out)
{
    struct error ignored;

    return deployment_find(call->services->store, wanted->name, out, &ignored)
           && deployment_settings_same(wanted, out);
}

/* *changed: whether the store changed; false if the deployment was already registered with these
 * settings, and its secret needed no new binding. */
static CHECKED bool store(struct call *call, const struct deployment *wanted,
                          struct deployment *stored, bool *changed, struct error *error)
{
    struct store *store = call->services->store;

    *changed = !is_already_stored(call, wanted, stored);
    if (*changed)
        return deployment_add(store, wanted, clock_utc_ms(), &call->change, stored, error);
    return wanted->origin_to_bind[0] == '\0'
           || secret_origin_add(store, wanted->secret, wanted->origin_to_bind, clock_utc_ms(),
                                &call->change, changed, error);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct deployment wanted = { .provider = "endpoint", .labels = "{}", .limits = "{}" };
    struct deployment stored;
    bool changed;

    text_copy(wanted.name, sizeof wanted.name, call_text(call, "name"));
    text_copy(wanted.created_by, sizeof wanted.created_by, call->principal.name);
    if (!value_check_name("name", wanted.name, error)
        || !deployment_settings_read(call, &wanted, error)
        || !deployment_check_secret(call, NULL, &wanted, error)
        || !store(call, &wanted, &stored, &changed, error))
        return false;
    registration_answer(call, &stored, changed, wanted.origin_to_bind, answer);
    return true;
}

const struct tool tool_deployment_register = {
    .name = "deployment_register",
    .title = "Register a model server",
    .help = "Registers an OpenAI-compatible model server (vLLM, SGLang, llama.cpp, Ollama, ...) "
            "for the other tools. It starts nothing.",
    .more = "It asks the server which models it has; a server that is down is registered anyway. "
            "Never give a token, only the name of a secret. Repeating the call is not an error. "
            "Next: model_health, then sweep_plan.",
    .sets = SET_FLEET,
    .params = params,
    .fields = registration_answer_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .idempotent = true,
    .open_world = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .changes_resources = true,
    .grows = true,
    .run = run,
};
