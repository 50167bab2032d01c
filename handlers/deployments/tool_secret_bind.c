/* SPDX-License-Identifier: Apache-2.0 */
/* secret_bind: binds a secret to an origin, or removes the binding. The answer lists where each
 * secret may be sent. */

#include "handlers/deployments/secret_answer.h"

static const struct param params[] = {
    { "secret", VALUE_TEXT, .low = 1, .high = 63, .help = "Name of the secret; omit to list all." },
    { "origin", VALUE_TEXT, .low = 1, .high = 1024,
      .help = "An origin, such as https://model.example.com:8443." },
    { "unbind", VALUE_BOOLEAN, .initial = "false", .help = "True: remove the binding." },
    { 0 },
};

static const struct field fields[] = {
    { "changed", VALUE_BOOLEAN, .help = "False: nothing was written." },
    { "warning", VALUE_TEXT, .optional = true, .help = "Why the secret's value is weak." },
    { "secrets", VALUE_LIST, .help = "All secrets.", .fields = secret_answer_fields },
    { "unbound", VALUE_LIST, .help = "Deployments whose secret may not be sent to their URL.",
      .fields = secret_answer_unbound_fields },
    { 0 },
};

static CHECKED bool change_binding(struct call *call, bool *changed, struct text *out,
                                   struct error *error)
{
    const char *secret = call_text(call, "secret"), *url = call_text(call, "origin");
    bool unbind = call_boolean(call, "unbind", false);
    char origin[ORIGIN_SIZE];

    *changed = false;
    if (secret == NULL && url == NULL)
        return true;
    if (secret == NULL || url == NULL)
        return error_set(
            error, ERROR_INVALID,
            "\"%s\" is missing: give both \"secret\" and \"origin\", or neither to get the list",
            secret == NULL ? "secret" : "origin");
    if (!secret_access_bind(&call->services->access, secret, url, !unbind, &call->change, origin,
                            changed, error))
        return false;
    text_addf(out, "%s %s be sent to %s%s.\n\n", secret, unbind ? "may not" : "may", origin,
              *changed ? " from now on" : ", as before");
    return true;
}

static void warn(const struct call *call, struct answer *answer)
{
    const char *secret = call_text(call, "secret");
    TEXT_AUTO warning = { 0 };

    if (secret == NULL || call_boolean(call, "unbind", false)
        || !secret_access_is_weak(&call->services->access, secret))
        return;
    text_addf(&warning, SECRET_WEAK_WARNING, secret);
    text_addf(&answer->text, "\nWarning: %s.\n", warning.data);
    json_object_set_new(answer->structured, "warning", json_string(warning.data));
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    bool changed;

    if (!change_binding(call, &changed, &answer->text, error)
        || !secret_answer_json(&call->services->access, &answer->structured, error))
        return false;
    json_object_set_new(answer->structured, "changed", json_boolean(changed));
    secret_answer_text(answer->structured, &answer->text);
    warn(call, answer);
    return true;
}

const struct tool tool_secret_bind = {
    .name = "secret_bind",
    .title = "Bind a secret to where it may be sent",
    .help = "Lets a secret be sent to one more origin (scheme, host, port); without arguments, "
            "lists bindings.",
    .more = "A secret is sent only to origins that it is bound to. The list also names the "
            "deployments whose secret is not bound.",
    .sets = SET_FLEET,
    .params = params,
    .fields = fields,
    .role = ROLE_ADMIN,
    .placement = PLACE_WORKER,
    .idempotent = true,
    .destroys = STATED_NO,
    .spends_money = STATED_NO,
    .run = run,
};
