/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts: one with only text, one with arguments, one with a resource, one with an image, and one
 * that first asks the user for the context. */

#include <string.h>

#include "fixtures.h"

static void add_block_take(json_t *messages, json_t *block)
{
    json_array_append_new(messages, json_pack("{s:s, s:o}", "role", "user", "content", block));
}

static bool write_simple(struct call *call, json_t *messages, struct error *error)
{
    (void)call, (void)error;
    prompt_write(messages, "This is a simple prompt for testing.");
    return true;
}

static bool write_arguments(struct call *call, json_t *messages, struct error *error)
{
    TEXT_AUTO text = { 0 };

    (void)error;
    text_addf(&text, "Prompt with arguments: arg1='%s', arg2='%s'", call_text(call, "arg1"),
              call_text(call, "arg2"));
    prompt_write(messages, text_string(&text));
    return true;
}

static bool write_resource(struct call *call, json_t *messages, struct error *error)
{
    (void)error;
    add_block_take(messages,
                   json_pack("{s:s, s:{s:s, s:s, s:s}}", "type", "resource", "resource", "uri",
                             call_text(call, "resourceUri"), "mimeType", "text/plain", "text",
                             "Embedded resource content for testing."));
    prompt_write(messages, "Please process the embedded resource above.");
    return true;
}

static bool write_image(struct call *call, json_t *messages, struct error *error)
{
    (void)call, (void)error;
    add_block_take(messages, fixture_json(fixture_image));
    prompt_write(messages, "Please analyze the image above.");
    return true;
}

static bool write_after_asking(struct call *call, json_t *messages, struct error *error)
{
    json_auto_t *answers = NULL;
    TEXT_AUTO text = { 0 };

    if (!fixture_ask_for(call, "user_context", "What context should the prompt use?", "context",
                         &answers, error))
        return false;
    text_addf(&text, "Prompt with context: %s",
              fixture_entered(answers, "user_context", "context"));
    prompt_write(messages, text_string(&text));
    return true;
}

static const struct prompt_argument no_arguments[] = { { 0 } };
static const struct prompt_argument two_arguments[] = {
    { "arg1", "First test argument", .required = true },
    { "arg2", "Second test argument", .required = true },
    { 0 },
};
static const struct prompt_argument uri_argument[] = {
    { "resourceUri", "URI of the resource to embed", .required = true },
    { 0 },
};

const struct prompt fixture_prompts[] = {
    { .name = "test_input_required_result_prompt",
      .title = "Question",
      .help = "First asks the user for the context.",
      .arguments = no_arguments,
      .role = ROLE_VIEWER,
      .write = write_after_asking },
    { .name = "test_prompt_with_arguments",
      .title = "Arguments",
      .help = "Has two arguments.",
      .arguments = two_arguments,
      .role = ROLE_VIEWER,
      .write = write_arguments },
    { .name = "test_prompt_with_embedded_resource",
      .title = "Resource",
      .help = "Has an embedded resource.",
      .arguments = uri_argument,
      .role = ROLE_VIEWER,
      .write = write_resource },
    { .name = "test_prompt_with_image",
      .title = "Image",
      .help = "Has an image.",
      .arguments = no_arguments,
      .role = ROLE_VIEWER,
      .write = write_image },
    { .name = "test_simple_prompt",
      .title = "Text",
      .help = "Has only text.",
      .arguments = no_arguments,
      .role = ROLE_VIEWER,
      .write = write_simple },
    { 0 },
};
