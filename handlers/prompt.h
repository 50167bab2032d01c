/* SPDX-License-Identifier: Apache-2.0 */
/* What a prompt is: instructions for an agent. They name the tools to call, in order, and say how
 * to read their answers. A prompt can have arguments. */
#pragma once

#include "handlers/resource_instances.h"
#include "handlers/tool.h"

#define PROMPT_VALUE_BYTES 200 /* maximum length of an argument's value, in bytes */

struct prompt_argument {
    const char *name;
    const char *help;
    bool required;
    const char *const *choices; /* the values allowed; ends with NULL. NULL: any text */
    const struct resource_instances *instances; /* what its values name; NULL: nothing */
};

struct prompt {
    const char *name;
    const char *title;
    const char *help;
    const struct prompt_argument *arguments; /* ends with a NULL name */
    /* The role that the tools of its steps require, apart from steps before which the agent asks
     * the user. */
    enum role role;
    /* Adds the prompt's messages. The arguments have been checked. */
    CHECKED bool (*write)(struct call *call, json_t *messages, struct error *error);
};

extern const struct prompt *const prompts[]; /* sorted by name; ends with NULL */
/* NULL: there is no such prompt. */
const struct prompt *prompt_find(const struct prompt *const *table, const char *name);

json_t *prompts_list(const struct prompt *const *table); /* MCP's Prompt objects; new reference */

/* Carries out prompts/get: checks the role and `call->arguments` (an object or NULL), and calls the
 * prompt's write(). A refusal is recorded in the audit log. *prompt: the prompt with that name.
 * *out: MCP's PromptMessage objects, new reference. */
CHECKED bool prompt_get(const struct prompt *const *table, struct call *call, const char *name,
                        const struct prompt **prompt, json_t **out, struct error *error);

/* For write(): adds one text message from the user. */
void prompt_write(json_t *messages, const char *text);
