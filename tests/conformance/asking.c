/* SPDX-License-Identifier: Apache-2.0 */
/* Tools that ask the client for input: a filled-in form (elicitation), a completion (sampling) or
 * its roots. Clients with a session receive requests. Clients of protocol version 2026-07-28
 * receive a result that asks for the input, and repeat the call with the input. */

#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fixtures.h"

#define ELICIT "elicitation/create"
#define SAMPLE "sampling/createMessage"
#define ROOTS "roots/list"

/* ---- Questions and answers ---- */

/* Asks the client one question with call->ask. Releases `params`. */
static bool ask_take(struct call *call, const char *key, const char *method, json_t *params,
                     json_t **answers, struct error *error)
{
    const struct question question = { key, method, params };
    bool done = call->ask(call, &question, 1, answers, error);

    json_decref(params);
    return done;
}

static json_t *form_with(const char *message, const char *name, const char *type)
{
    return json_pack("{s:s, s:{s:s, s:{s:{s:s}}, s:[s]}}", "message", message, "requestedSchema",
                     "type", "object", "properties", name, "type", type, "required", name);
}

static json_t *prompt_with(const char *text, int max_tokens)
{
    return json_pack("{s:[{s:s, s:{s:s, s:s}}], s:i}", "messages", "role", "user", "content",
                     "type", "text", "text", text, "maxTokens", max_tokens);
}

bool fixture_ask_for(struct call *call, const char *key, const char *message, const char *name,
                     json_t **answers, struct error *error)
{
    return ask_take(call, key, ELICIT, form_with(message, name, "string"), answers, error);
}

const char *fixture_entered(const json_t *answers, const char *key, const char *name)
{
    const json_t *content = json_object_get(json_object_get(answers, key), "content");

    return json_get_text(content, name, "nobody");
}

/* Returns the text of a completion. Since protocol version 2025-11-25, its content can be a list of
 * blocks, of which the first is used. Borrowed from `answers`. */
static const char *completion_text(const json_t *answers, const char *key)
{
    const json_t *content = json_object_get(json_object_get(answers, key), "content");

    return json_get_text(json_is_array(content) ? json_array_get(content, 0) : content, "text", "");
}

static void add_answer_line(struct answer *answer, const char *heading, const json_t *answers,
                            const char *key)
{
    const json_t *given = json_object_get(answers, key);
    const json_t *content = json_object_get(given, "content");
    FREE_AUTO char *written = content != NULL ? json_write(content) : memory_copy_text("{}");

    text_addf(&answer->text, "%s: action=%s, content=%s", heading,
              json_get_text(given, "action", ""), written);
}

/* ---- Tools ---- */

static bool sample(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *answers = NULL;

    if (!ask_take(call, "answer", SAMPLE, prompt_with(call_text(call, "prompt"), 100), &answers,
                  error))
        return false;
    text_addf(&answer->text, "LLM response: %s", completion_text(answers, "answer"));
    return true;
}

static bool elicit(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *answers = NULL;
    json_t *schema =
        fixture_json("{\"type\":\"object\",\"properties\":{"
                     "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
                     "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},"
                     "\"required\":[\"username\",\"email\"]}");

    if (!ask_take(call, "user", ELICIT,
                  json_pack("{s:s, s:o}", "message", call_text(call, "message"), "requestedSchema",
                            schema),
                  &answers, error))
        return false;
    add_answer_line(answer, "User response", answers, "user");
    return true;
}

static bool elicit_with(struct call *call, const char *params, struct answer *answer,
                        struct error *error)
{
    json_auto_t *answers = NULL;

    if (!ask_take(call, "form", ELICIT, fixture_json(params), &answers, error))
        return false;
    add_answer_line(answer, "Elicitation completed", answers, "form");
    return true;
}

static bool elicit_defaults(struct call *call, struct answer *answer, struct error *error)
{
    return elicit_with(
        call,
        "{\"message\":\"Please review these values.\",\"requestedSchema\":{\"type\":\"object\","
        "\"properties\":{\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
        "\"age\":{\"type\":\"integer\",\"default\":30},"
        "\"score\":{\"type\":\"number\",\"default\":95.5},"
        "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
        "\"default\":\"active\"},"
        "\"verified\":{\"type\":\"boolean\",\"default\":true}},\"required\":[]}}",
        answer, error);
}

static bool elicit_enums(struct call *call, struct answer *answer, struct error *error)
{
    return elicit_with(
        call,
        "{\"message\":\"Please choose.\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"
        "\"untitledSingle\":{\"type\":\"string\",\"enum\":[\"option1\",\"option2\",\"option3\"]},"
        "\"titledSingle\":{\"type\":\"string\",\"oneOf\":["
        "{\"const\":\"value1\",\"title\":\"First Option\"},"
        "{\"const\":\"value2\",\"title\":\"Second Option\"},"
        "{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
        "\"legacyEnum\":{\"type\":\"string\",\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
        "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
        "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
        "\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
        "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":["
        "{\"const\":\"value1\",\"title\":\"First Choice\"},"
        "{\"const\":\"value2\",\"title\":\"Second Choice\"},"
        "{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}},\"required\":[]}}",
        answer, error);
}

static bool ask_name(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *answers = NULL;

    if (!fixture_ask_for(call, "user_name", "What is your name?", "name", &answers, error))
        return false;
    text_addf(&answer->text, "Hello, %s!", fixture_entered(answers, "user_name", "name"));
    return true;
}

static bool ask_model(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *answers = NULL;

    if (!ask_take(call, "capital_question", SAMPLE,
                  prompt_with("What is the capital of France?", 100), &answers, error))
        return false;
    text_add(&answer->text, completion_text(answers, "capital_question"));
    return true;
}

static bool ask_roots(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *answers = NULL;
    const json_t *roots, *root;
    size_t i;

    if (!ask_take(call, "client_roots", ROOTS, NULL, &answers, error))
        return false;
    roots = json_object_get(json_object_get(answers, "client_roots"), "roots");
    text_addf(&answer->text, "%zu roots:", json_array_size(roots));
    json_array_foreach(roots, i, root)
        text_addf(&answer->text, " %s", json_get_text(root, "uri", ""));
    return true;
}

static bool ask_confirmation(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *answers = NULL;

    if (!ask_take(call, "confirm", ELICIT, form_with("Please confirm", "ok", "boolean"), &answers,
                  error))
        return false;
    text_add(&answer->text, "state-ok");
    return true;
}

static bool ask_three(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *form = form_with("What is your name?", "name", "string");
    json_auto_t *prompt = prompt_with("Generate a greeting", 50);
    const struct question questions[] = {
        { "user_name", ELICIT, form },
        { "greeting", SAMPLE, prompt },
        { "client_roots", ROOTS, NULL },
    };
    json_auto_t *answers = NULL;

    if (!call->ask(call, questions, 3, &answers, error))
        return false;
    text_addf(&answer->text, "%s %s", completion_text(answers, "greeting"),
              fixture_entered(answers, "user_name", "name"));
    return true;
}

static bool ask_twice(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *first = NULL, *second = NULL;

    if (!fixture_ask_for(call, "step1", "Step 1: What is your name?", "name", &first, error)
        || !fixture_ask_for(call, "step2", "Step 2: What is your favorite color?", "color", &second,
                            error))
        return false;
    text_addf(&answer->text, "%s likes %s", fixture_entered(first, "step1", "name"),
              fixture_entered(second, "step2", "color"));
    return true;
}

/* Asks the client's user or, if the client does not support forms, the client's model. */
static bool ask_user_or_model(struct call *call, struct answer *answer, struct error *error)
{
    return ask_name(call, answer, error)
           || (error->kind == ERROR_UNSUPPORTED && ask_model(call, answer, error));
}

static const struct param prompt_params[] = {
    { "prompt", VALUE_TEXT, .required = true, .high = 10000,
      .help = "The prompt for the client's model." },
    { 0 },
};
static const struct param message_params[] = {
    { "message", VALUE_TEXT, .required = true, .high = 10000,
      .help = "The message for the client's user." },
    { 0 },
};

#define ASKING_TOOL                                                                                \
    .role = ROLE_VIEWER, .placement = PLACE_WAITING, .read_only = true, .open_world = true

const struct tool asking_tools[] = {
    { .name = "test_sampling",
      .title = "Sampling",
      .help = "Asks the client's model.",
      .params = prompt_params,
      .run = sample,
      ASKING_TOOL },
    { .name = "test_elicitation",
      .title = "Form",
      .help = "Asks the client's user to fill in a form.",
      .params = message_params,
      .run = elicit,
      ASKING_TOOL },
    { .name = "test_elicitation_sep1034_defaults",
      .title = "Form with defaults",
      .help = "Sends a form with a default for each type of field.",
      .params = fixture_no_params,
      .run = elicit_defaults,
      ASKING_TOOL },
    { .name = "test_elicitation_sep1330_enums",
      .title = "Form with choices",
      .help = "Sends a form with each kind of enum.",
      .params = fixture_no_params,
      .run = elicit_enums,
      ASKING_TOOL },
    { .name = "test_streaming_elicitation",
      .title = "Form in a stream",
      .help = "Asks for a name.",
      .params = fixture_no_params,
      .run = ask_name,
      ASKING_TOOL },
    { .name = "test_missing_capability",
      .title = "Missing capability",
      .help = "Asks the client's model, and fails if the client does not support sampling.",
      .params = fixture_no_params,
      .run = ask_model,
      ASKING_TOOL },
    { .name = "test_input_required_result_elicitation",
      .title = "Rounds: a form",
      .help = "Asks for a name.",
      .params = fixture_no_params,
      .run = ask_name,
      ASKING_TOOL },
    { .name = "test_input_required_result_sampling",
      .title = "Rounds: a completion",
      .help = "Asks the client's model.",
      .params = fixture_no_params,
      .run = ask_model,
      ASKING_TOOL },
    { .name = "test_input_required_result_list_roots",
      .title = "Rounds: roots",
      .help = "Asks for the client's roots.",
      .params = fixture_no_params,
      .run = ask_roots,
      ASKING_TOOL },
    { .name = "test_input_required_result_request_state",
      .title = "Rounds: state",
      .help = "Asks for a confirmation.",
      .params = fixture_no_params,
      .run = ask_confirmation,
      ASKING_TOOL },
    { .name = "test_input_required_result_multiple_inputs",
      .title = "Rounds: three questions",
      .help = "Asks for three things at once.",
      .params = fixture_no_params,
      .run = ask_three,
      ASKING_TOOL },
    { .name = "test_input_required_result_multi_round",
      .title = "Rounds: two questions",
      .help = "Asks for a name and then, in a second round, for a color.",
      .params = fixture_no_params,
      .run = ask_twice,
      ASKING_TOOL },
    { .name = "test_input_required_result_tampered_state",
      .title = "Rounds: sealed state",
      .help = "Asks for a confirmation.",
      .params = fixture_no_params,
      .run = ask_confirmation,
      ASKING_TOOL },
    { .name = "test_input_required_result_capabilities",
      .title = "Rounds: capabilities",
      .help = "Asks the client's user, or the client's model if the client does not support forms.",
      .params = fixture_no_params,
      .run = ask_user_or_model,
      ASKING_TOOL },
    { 0 },
};
