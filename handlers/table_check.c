/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/table_check.h"

static CHECKED bool fail(const char *kind, const char *name, const char *problem,
                         struct error *error)
{
    return error_set(error, ERROR_INTERNAL, "the %s %s %s", kind, name, problem);
}

/* A tool that only reads must state no effects, and every other tool both. A tool must have
 * go_ahead() if and only if it destroys something or spends money. */
static const char *find_effect_problem(const struct tool *tool)
{
    bool states_any = tool->destroys != 0 || tool->spends_money != 0;
    bool states_both = tool->destroys != 0 && tool->spends_money != 0;
    bool is_dangerous = tool->destroys == STATED_YES || tool->spends_money == STATED_YES;

    if (tool->read_only && states_any)
        return "only reads: it must not state whether it destroys anything or spends money";
    if (!tool->read_only && !states_both)
        return "does not state both whether it destroys anything and whether it spends money";
    if (is_dangerous && tool->go_ahead == NULL)
        return "destroys something or spends money, but has no go_ahead()";
    if (!is_dangerous && tool->go_ahead != NULL)
        return "has go_ahead(), but neither destroys anything nor spends money";
    return NULL;
}

static const char *find_tool_problem(const struct tool *tool)
{
    if (tool->role == ROLE_NONE)
        return "has no role";
    if (tool->placement == 0)
        return "has no placement";
    if (tool->params == NULL && tool->input_schema == NULL)
        return "has no params";
    return find_effect_problem(tool);
}

static CHECKED bool check_fields(const char *tool, const struct field *fields, struct error *error)
{
    for (; fields != NULL && fields->name != NULL; fields++) {
        if (fields->type == 0)
            return error_set(error, ERROR_INTERNAL, "the tool %s: the member %s has no type", tool,
                             fields->name);
        if (!check_fields(tool, fields->fields, error))
            return false;
    }
    return true;
}

static CHECKED bool check_params(const struct tool *tool, struct error *error)
{
    for (const struct param *param = tool->params; param != NULL && param->name != NULL; param++)
        if (param->type == 0)
            return error_set(error, ERROR_INTERNAL, "the tool %s: the argument %s has no type",
                             tool->name, param->name);
    return true;
}

bool table_check_tools(const struct tool *const *table, struct error *error)
{
    for (; *table != NULL; table++) {
        const char *problem = find_tool_problem(*table);

        if (problem != NULL)
            return fail("tool", (*table)->name, problem, error);
        if (!check_params(*table, error) || !check_fields((*table)->name, (*table)->fields, error))
            return false;
    }
    return true;
}

bool table_check_resources(const struct resource *const *table, struct error *error)
{
    for (; *table != NULL; table++) {
        if ((*table)->role == ROLE_NONE)
            return fail("resource", (*table)->name, "has no role", error);
        if ((*table)->placement == 0)
            return fail("resource", (*table)->name, "has no placement", error);
    }
    return true;
}

bool table_check_prompts(const struct prompt *const *table, struct error *error)
{
    for (; *table != NULL; table++)
        if ((*table)->role == ROLE_NONE)
            return fail("prompt", (*table)->name, "has no role", error);
    return true;
}
