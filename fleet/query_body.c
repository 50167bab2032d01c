/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/query_body.h"

#include <jansson.h>
#include <string.h>

#include "base/json/json.h"

#define LIMITS (QUERY_MAX_TOKENS | QUERY_MAX_COMPLETION_TOKENS)

static const struct {
    enum query_field field;
    const char *name;
} names[] = {
    { QUERY_MAX_TOKENS, "max_tokens" },
    { QUERY_MAX_COMPLETION_TOKENS, "max_completion_tokens" },
    { QUERY_STREAM_OPTIONS, "stream_options" },
};

unsigned query_fields(const struct query *query)
{
    return query->chat ? LIMITS | QUERY_STREAM_OPTIONS : QUERY_MAX_TOKENS | QUERY_STREAM_OPTIONS;
}

static json_t *messages(const struct query *query)
{
    json_t *list = json_array();

    if (query->system != NULL)
        json_array_append_new(list,
                              json_pack("{s:s, s:s}", "role", "system", "content", query->system));
    json_array_append_new(list, json_pack("{s:s, s:s}", "role", "user", "content", query->prompt));
    return list;
}

/* Plain completions have no roles, so the system prompt is put before the user's message. */
static json_t *prompt(const struct query *query)
{
    TEXT_AUTO text = { 0 };

    if (query->system != NULL)
        text_addf(&text, "%s\n\n", query->system);
    text_add(&text, query->prompt);
    return json_string(text_string(&text));
}

char *query_body(const struct endpoint *endpoint, const struct query *query, unsigned fields)
{
    json_auto_t *body = json_object();

    if (endpoint->model[0] != '\0')
        json_object_set_new(body, "model", json_string(endpoint->model));
    json_object_set_new(body, query->chat ? "messages" : "prompt",
                        query->chat ? messages(query) : prompt(query));
    if (fields & QUERY_MAX_TOKENS)
        json_object_set_new(body, "max_tokens", json_integer(query->max_tokens));
    if (fields & QUERY_MAX_COMPLETION_TOKENS)
        json_object_set_new(body, "max_completion_tokens", json_integer(query->max_tokens));
    if (query->temperature >= 0)
        json_object_set_new(body, "temperature", json_real(query->temperature));
    json_object_set_new(body, "stream", json_true());
    if (fields & QUERY_STREAM_OPTIONS)
        json_object_set_new(body, "stream_options", json_pack("{s:b}", "include_usage", 1));
    return json_write(body);
}

/* A request must keep at least one of the two members that limit its tokens. */
static bool may_be_omitted(unsigned fields, enum query_field field)
{
    return (fields & field) && (!(field & LIMITS) || (fields & LIMITS) == LIMITS);
}

unsigned query_body_refused_field(unsigned fields, const char *refusal, size_t length)
{
    const char *first = NULL;
    unsigned found = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = memmem(refusal, length, names[i].name, strlen(names[i].name));

        if (at != NULL && may_be_omitted(fields, names[i].field) && (first == NULL || at < first)) {
            first = at;
            found = names[i].field;
        }
    }
    return found;
}
