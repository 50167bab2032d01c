/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/consent.h"

#include <stdio.h>
#include <string.h>

#include "base/core/digest.h"
#include "base/json/json.h"
#include "handlers/values.h"

static json_t *form(const struct consent *consent)
{
    return json_pack("{s:s, s:{s:s, s:{s:{s:s, s:s, s:b}}, s:[s]}}", "message", consent->plan,
                     "requestedSchema", "type", "object", "properties", consent->key, "type",
                     "boolean", "title", consent->title, "default", false, "required",
                     consent->key);
}

/* Writes the question's key, under which the client returns the answer. If `identity` is set, the
 * key ends with the start of the identity's digest. Each identity thus has its own key: an answer
 * to a form with a different identity is not found, and the user is asked again. */
static void write_key(const struct consent *consent, char out[64])
{
    char digest[DIGEST_TEXT_SIZE];

    text_copy(out, 64, consent->key);
    if (consent->identity == NULL)
        return;
    digest_sha256_text(consent->identity, strlen(consent->identity), digest);
    snprintf(out, 64, "%.40s-%.16s", consent->key, digest);
}

static CHECKED bool ask_user(struct call *call, const struct consent *consent, struct error *error)
{
    json_auto_t *shown = form(consent), *answers = NULL;
    char key[64];
    const struct question question = { key, "elicitation/create", shown };
    const json_t *answer;

    write_key(consent, key);
    if (!call->ask(call, &question, 1, &answers, error)) {
        if (error->kind != ERROR_UNSUPPORTED)
            return false;
        if (consent->elsewhere != NULL)
            return error_set(error, ERROR_FORBIDDEN, "%s %s", consent->summary, consent->elsewhere);
        return error_set(error, ERROR_INVALID,
                         "%s To go ahead, call again with \"confirm\": \"%s\"", consent->summary,
                         consent->name);
    }
    answer = json_object_get(answers, key);
    if (strcmp(json_get_text(answer, "action", ""), "accept") == 0
        && json_get_boolean(json_object_get(answer, "content"), consent->key, false))
        return true;
    return error_set(error, ERROR_CANCELLED, "%s: the user did not consent", consent->declined);
}

bool consent_get(struct call *call, const struct consent *consent, struct error *error)
{
    const char *confirm = call_text(call, "confirm");
    char shown[VALUE_SHOWN_SIZE];

    if (!call->in_go_ahead)
        return error_set(error, ERROR_INTERNAL, "%s asks for consent outside its go_ahead()",
                         call->change.tool);
    if (confirm == NULL || consent->elsewhere != NULL)
        return ask_user(call, consent, error);
    if (strcmp(confirm, consent->name) == 0)
        return true;
    return error_set(error, ERROR_INVALID, "\"confirm\" is %s: it must repeat the name \"%s\"",
                     value_show_text(confirm, shown), consent->name);
}
