/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/deployments/registration_answer.h"

#include <inttypes.h>
#include <string.h>

#include "base/net/credential.h"
#include "handlers/answers/deployment_answer.h"
#include "handlers/answers/deployment_endpoint.h"

const struct field registration_answer_fields[] = {
    REGISTRATION_ANSWER_FIELDS(false),
    FIELD_NEXT_STEP,
    { 0 },
};

static void add_found(const struct model_facts *facts, struct answer *answer)
{
    json_object_set_new(answer->structured, "model", answer_json_text(facts->model));
    if (facts->context_tokens > 0)
        json_object_set_new(answer->structured, "context_tokens",
                            json_integer(facts->context_tokens));
    json_object_set_new(answer->structured, "engine", answer_json_text(facts->engine));
    json_object_set_new(answer->structured, "engine_version",
                        answer_json_text(facts->engine_version));
    text_add(&answer->text, "The server is reachable and serves ");
    text_add_printable(&answer->text, facts->model, strlen(facts->model), 120);
    text_add(&answer->text, " on ");
    text_add_printable(&answer->text, facts->engine, strlen(facts->engine), 40);
    if (facts->engine_version[0] != '\0')
        text_add_char(&answer->text, ' ');
    text_add_printable(&answer->text, facts->engine_version, strlen(facts->engine_version), 40);
    if (facts->context_tokens > 0)
        text_addf(&answer->text, ", context %" PRId64 " tokens", facts->context_tokens);
    text_add(&answer->text, ".\n");
}

static void add_bound(const struct call *call, const struct deployment *deployment,
                      const char *origin, struct answer *answer)
{
    TEXT_AUTO warning = { 0 };

    json_object_set_new(answer->structured, "bound", answer_json_text(origin));
    if (origin[0] == '\0')
        return;
    text_addf(&answer->text, "The secret %s may now be sent to %s.\n", deployment->secret, origin);
    if (!secret_access_is_weak(&call->services->access, deployment->secret))
        return;
    text_addf(&warning, SECRET_WEAK_WARNING, deployment->secret);
    text_addf(&answer->text, "Warning: %s.\n", warning.data);
    json_object_set_new(answer->structured, "warning", json_string(warning.data));
}

void registration_answer(const struct call *call, const struct deployment *deployment, bool changed,
                         const char *bound, struct answer *answer)
{
    ENDPOINT_AUTO endpoint = { 0 };
    struct model_facts facts = { 0 };
    struct error problem = { 0 };
    TEXT_AUTO sentence = { 0 };
    bool reachable =
        deployment_endpoint_discover(call->services, deployment, &endpoint, &facts, &problem);
    const char *next =
        reachable ? "model_health; sweep_start with only the deployment's name finds where the "
                    "server saturates"
                  : "model_health once the server is running; deployment_update corrects a wrong "
                    "URL, model or secret";

    credential_add_masked(&sentence, problem.message);
    answer->structured = json_pack(
        "{s:o, s:b, s:b, s:o}", "deployment", deployment_answer_json(deployment), "changed",
        changed, "reachable", reachable, "problem", answer_json_text(text_string(&sentence)));
    text_addf(&answer->text, "%s is %s (revision %" PRId64 ") at %s: ", deployment->name,
              changed ? "stored" : "already stored with these settings", deployment->revision,
              deployment->url);
    deployment_answer_describe(deployment, &answer->text);
    text_add(&answer->text, ".\n");
    add_bound(call, deployment, bound, answer);
    text_copy(answer->changed, sizeof answer->changed, changed ? deployment->name : "");
    if (reachable)
        add_found(&facts, answer);
    else
        text_addf(&answer->text, "Checking the server failed: %s\n", text_string(&sentence));
    answer_next(answer, next);
    answer_shows(answer, "/deployments/%s", deployment->name);
}
