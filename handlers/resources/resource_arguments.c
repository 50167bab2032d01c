/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://arguments/{tool}: explains all arguments of a tool, with their ranges and defaults.
 * tools/list says only a few words about each common argument, because its text takes up space in
 * each agent's context. */

#include <string.h>

#include "base/core/memory.h"
#include "handlers/options.h"
#include "handlers/resource.h"
#include "handlers/values.h"

/* ---- The tools, by name ---- */

static CHECKED bool list_tools(const struct services *services, const char *after, size_t limit,
                               struct instance **out, size_t *count, char next[INSTANCE_VALUE_SIZE],
                               struct error *error)
{
    (void)services;
    (void)error;
    *out = memory_zeroed(limit, sizeof **out);
    *count = 0;
    next[0] = '\0';
    for (size_t i = 0; tools[i] != NULL; i++) {
        if (strcmp(tools[i]->name, after) <= 0)
            continue;
        if (*count == limit) {
            text_copy(next, INSTANCE_VALUE_SIZE, (*out)[limit - 1].value);
            return true;
        }
        text_copy((*out)[(*count)++].value, INSTANCE_VALUE_SIZE, tools[i]->name);
    }
    return true;
}

static CHECKED bool find_tool(const struct services *services, const char *value,
                              struct error *error)
{
    char shown[VALUE_SHOWN_SIZE];

    (void)services;
    return tool_find(value) != NULL
           || error_set(error, ERROR_NOT_FOUND, "no tool is called %s: tools/list lists all tools",
                        value_show_text(value, shown));
}

static const struct resource_instances tool_instances = { "tool", list_tools, find_tool };

/* ---- The arguments of a tool ---- */

static void add_choices(const char *const *choices, struct text *out)
{
    text_add(out, "one of ");
    for (size_t i = 0; choices[i] != NULL; i++)
        text_addf(out, "%s%s", i == 0 ? "" : ", ", choices[i]);
}

static void add_kind(const struct param *param, struct text *out)
{
    if (param->type == VALUE_CHOICE) {
        add_choices(param->choices, out);
    } else {
        text_add(out, value_kind(param->type)->phrase);
        value_param_range(param, out);
    }
    if (param->required)
        text_add(out, "; required");
    if (param->initial != NULL)
        text_addf(out, "; %s by default", param->initial);
}

static void add_param(const struct param *param, struct text *out)
{
    text_addf(out, "- `%s` (", param->name);
    add_kind(param, out);
    text_addf(out, "): %s%s%s\n", param->help, param->more != NULL ? " " : "",
              param->more != NULL ? param->more : "");
}

static void add_params(const struct tool *tool, bool rare, struct text *out)
{
    for (const struct param *param = tool->params; param->name != NULL; param++)
        if (param->rare == rare)
            add_param(param, out);
}

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    const struct tool *tool = tool_find(value);

    (void)call;
    if (tool == NULL)
        return find_tool(NULL, value, error);
    text_addf(out, "# %s\n\n%s %s\n\n## Arguments\n\n", tool->name, tool->help, tool->more);
    add_params(tool, false, out);
    if (options_has(tool))
        text_add(out, "\n## Options\n\nGive options in `" OPTIONS_PARAM
                      "`, a list of name=value strings, such as "
                      "[\"window_s=10\", \"stop=a,b\"], or as separate arguments.\n\n");
    add_params(tool, true, out);
    return true;
}

const struct resource resource_arguments = {
    .name = "arguments",
    .uri = "opsbrain://arguments/{tool}",
    .title = "Arguments of a tool",
    .help = "Explains what a tool does and what all its arguments mean, including those in "
            "`options`, with ranges and defaults.",
    .mime_type = "text/markdown",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &tool_instances,
    .unlisted = true,
    .read = read,
};
