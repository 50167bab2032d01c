/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that ask their client questions, or send it log messages. */
#pragma once

#include "base/json/json.h"
#include "store/ledger/deployments.h"
#include "tests/unit/support/served.h"

static atomic_int asking_runs, asking_failed; /* how often asking_confirm began and failed */
static atomic_bool asking_dies; /* simulates a crash between the effect and the answer */

static inline json_t *asking_form(const char *message, const char *field, const char *type)
{
    return json_pack("{s:s, s:{s:s, s:{s:{s:s}}, s:[s]}}", "message", message, "requestedSchema",
                     "type", "object", "properties", field, "type", type, "required", field);
}

/* If `done` is false, counts the run as failed. Returns `done`. */
static inline bool asking_end(bool done)
{
    if (!done)
        atomic_fetch_add(&asking_failed, 1);
    return done;
}

/* Registers a deployment if the client's user agrees. */
static inline bool asking_confirm(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *form = asking_form("Sure?", "ok", "boolean"), *answers = NULL;
    const struct question question = { "sure", "elicitation/create", form };
    struct deployment row = { .retired_ms = 0 }, out;
    const json_t *said;

    atomic_fetch_add(&asking_runs, 1);
    if (!call->ask(call, &question, 1, &answers, error))
        return asking_end(false);
    said = json_object_get(answers, "sure");
    if (!json_get_boolean(json_object_get(said, "content"), "ok", false))
        return asking_end(error_set(error, ERROR_CANCELLED, "the user answered \"%s\"",
                                    json_get_text(said, "action", "nothing")));
    text_copy(row.name, sizeof row.name, call_text(call, "name"));
    text_copy(row.url, sizeof row.url, "http://127.0.0.1:1");
    if (!deployment_add(call->services->store, &row, clock_utc_ms(), &call->change, &out, error))
        return asking_end(false);
    if (atomic_load(&asking_dies))
        return asking_end(error_set(error, ERROR_INTERNAL, "died"));
    text_addf(&answer->text, "registered %s in run %d", row.name, atomic_load(&asking_runs));
    return true;
}

/* Asks three questions at once. */
static inline bool asking_all(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *form = asking_form("Your name?", "name", "string"), *answers = NULL;
    json_auto_t *prompt = json_pack("{s:[{s:s, s:{s:s, s:s}}], s:i}", "messages", "role", "user",
                                    "content", "type", "text", "text", "Greet.", "maxTokens", 50);
    const struct question questions[] = { { "name", "elicitation/create", form },
                                          { "greeting", "sampling/createMessage", prompt },
                                          { "roots", "roots/list", NULL } };
    const json_t *message, *root;

    if (!call->ask(call, questions, 3, &answers, error))
        return false;
    message = json_object_get(json_object_get(answers, "greeting"), "content");
    root = json_array_get(json_object_get(json_object_get(answers, "roots"), "roots"), 0);
    text_addf(
        &answer->text, "%s %s %s", json_get_text(message, "text", ""),
        json_get_text(json_object_get(json_object_get(answers, "name"), "content"), "name", ""),
        json_get_text(root, "uri", ""));
    return true;
}

/* Asks a second question that depends on the first answer. */
static inline bool asking_steps(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *first = asking_form("Your name?", "name", "string"), *answers = NULL;
    json_auto_t *second = NULL, *more = NULL;
    struct question question = { "step1", "elicitation/create", first };
    const char *name;
    char message[100];

    if (!call->ask(call, &question, 1, &answers, error))
        return false;
    name = json_get_text(json_object_get(json_object_get(answers, "step1"), "content"), "name", "");
    snprintf(message, sizeof message, "%s, your colour?", name);
    second = asking_form(message, "colour", "string");
    question = (struct question){ "step2", "elicitation/create", second };
    if (!call->ask(call, &question, 1, &more, error))
        return false;
    text_addf(
        &answer->text, "%s likes %s", name,
        json_get_text(json_object_get(json_object_get(more, "step2"), "content"), "colour", ""));
    return true;
}

static inline bool asking_page(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *page = json_pack("{s:s, s:s, s:s, s:s}", "mode", "url", "message", "Sign in.",
                                  "url", "https://example.com/in", "elicitationId", "e1");
    json_auto_t *answers = NULL;
    const struct question question = { "page", "elicitation/create", page };

    if (!call->ask(call, &question, 1, &answers, error))
        return false;
    text_add(&answer->text, json_get_text(json_object_get(answers, "page"), "action", ""));
    return true;
}

static inline bool asking_talk(struct call *call, struct answer *answer, struct error *error)
{
    (void)error;
    call->log_take(call, SEVERITY_DEBUG, "talk", json_string("hm"));
    call->log_take(call, SEVERITY_INFO, NULL, json_pack("{s:i}", "step", 1));
    call->log_take(call, SEVERITY_ERROR, "talk", json_string("oh"));
    text_add(&answer->text, "talked");
    return true;
}

static const struct param asking_no_params[] = { { 0 } };
static const struct param asking_confirm_params[] = {
    { "name", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "The deployment's name." },
    { 0 },
};

#define ASKING_TOOL(tool_name, ...)                                                                \
    {                                                                                              \
        .name = tool_name, .title = tool_name, .help = tool_name, .role = ROLE_VIEWER,             \
        .placement = PLACE_WAITING, __VA_ARGS__                                                    \
    }
static const struct tool asking_confirm_tool =
    ASKING_TOOL("confirm", .params = asking_confirm_params, .destroys = STATED_NO,
                .spends_money = STATED_NO, .run = asking_confirm);
static const struct tool asking_all_tool =
    ASKING_TOOL("all", .params = asking_no_params, .read_only = true, .run = asking_all);
static const struct tool asking_page_tool =
    ASKING_TOOL("page", .params = asking_no_params, .read_only = true, .run = asking_page);
static const struct tool asking_steps_tool =
    ASKING_TOOL("steps", .params = asking_no_params, .read_only = true, .run = asking_steps);
static const struct tool asking_talk_tool =
    ASKING_TOOL("talk", .params = asking_no_params, .read_only = true, .run = asking_talk);
static const struct tool *const asking_tools[] = {
    &asking_all_tool,   &asking_confirm_tool, &asking_page_tool,
    &asking_steps_tool, &asking_talk_tool,    NULL,
};
