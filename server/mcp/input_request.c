/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/input_request.h"

#include <string.h>

#include "base/json/json.h"
#include "handlers/elicitation.h"

json_t *input_request_params(const struct question *question)
{
    return question->params != NULL ? json_incref(question->params) : json_object();
}

json_t *input_request_requests(const struct question *questions, size_t count)
{
    json_t *requests = json_object();

    for (size_t i = 0; i < count; i++)
        json_object_set_new(requests, questions[i].key,
                            json_pack("{s:s, s:o}", "method", questions[i].method, "params",
                                      input_request_params(&questions[i])));
    return requests;
}

/* ---- Capabilities ---- */

/* A client that declares "elicitation" as {}, without "form" or "url", supports forms. */
static bool knows_elicitation(const json_t *capability, const struct question *question)
{
    if (elicitation_is_by_url(question->params))
        return json_is_object(json_object_get(capability, "url"));
    return json_is_object(capability)
           && (json_object_get(capability, "form") != NULL
               || json_object_get(capability, "url") == NULL);
}

static bool knows_sampling(const json_t *capability, const struct question *question)
{
    return json_is_object(capability)
           && (json_object_get(question->params, "tools") == NULL
               || json_is_object(json_object_get(capability, "tools")));
}

/* Adds {"name":{"part":{}}} to *missing, or {"name":{}} if `part` is NULL. */
static void add_missing(json_t **missing, const char *name, const char *part)
{
    json_t *capability;

    if (*missing == NULL)
        *missing = json_object();
    capability = json_object_get(*missing, name);
    if (capability == NULL) {
        capability = json_object();
        json_object_set_new(*missing, name, capability);
    }
    if (part != NULL)
        json_object_set_new(capability, part, json_object());
}

json_t *input_request_missing(const json_t *capabilities, const struct question *questions,
                              size_t count)
{
    json_t *missing = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct question *question = &questions[i];
        const json_t *elicitation = json_object_get(capabilities, "elicitation");
        const json_t *sampling = json_object_get(capabilities, "sampling");

        if (strcmp(question->method, "elicitation/create") == 0) {
            if (!knows_elicitation(elicitation, question))
                add_missing(&missing, "elicitation",
                            elicitation_is_by_url(question->params) ? "url" : NULL);
        } else if (strcmp(question->method, "sampling/createMessage") == 0) {
            if (!knows_sampling(sampling, question))
                add_missing(&missing, "sampling", json_is_object(sampling) ? "tools" : NULL);
        } else if (!json_is_object(json_object_get(capabilities, "roots"))) {
            add_missing(&missing, "roots", NULL);
        }
    }
    return missing;
}

/* ---- Answers ---- */

static CHECKED bool check_message(const json_t *result, struct error *error)
{
    const json_t *content = json_object_get(result, "content");

    if (json_get_text(result, "role", NULL) != NULL && json_get_text(result, "model", NULL) != NULL
        && (json_is_object(content) || json_is_array(content)))
        return true;
    return error_set(
        error, ERROR_INVALID,
        "the client's answer to sampling/createMessage must have \"role\", \"model\" and "
        "\"content\"");
}

static CHECKED bool check_roots(const json_t *result, struct error *error)
{
    const json_t *roots = json_object_get(result, "roots");
    bool good = json_is_array(roots);

    for (size_t i = 0; i < json_array_size(roots); i++)
        good &= json_get_text(json_array_get(roots, i), "uri", NULL) != NULL;
    return good
           || error_set(
               error, ERROR_INVALID,
               "the client's answer to roots/list must have \"roots\", a list of objects with "
               "\"uri\"");
}

bool input_request_check(const struct question *question, const json_t *result, struct error *error)
{
    if (!json_is_object(result))
        return error_set(error, ERROR_INVALID, "the client's answer to %s is not an object",
                         question->method);
    if (strcmp(question->method, "elicitation/create") == 0)
        return elicitation_check(question->params, result, error);
    if (strcmp(question->method, "sampling/createMessage") == 0)
        return check_message(result, error);
    return check_roots(result, error);
}
