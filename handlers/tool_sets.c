/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/tool_sets.h"

#include <string.h>

#include "handlers/values.h"

static const struct {
    const char *name;
    unsigned set;
} sets[] = { { "fleet", SET_FLEET },
             { "measure", SET_MEASURE },
             { "audit", SET_AUDIT },
             { "deploy", SET_DEPLOY } };

#define SETS (sizeof sets / sizeof *sets)
#define ALL "all"

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(at, word, length) == 0;
}

static bool includes(const char *at, size_t length, const struct tool *tool)
{
    for (size_t i = 0; i < SETS; i++)
        if (is_word(at, length, sets[i].name))
            return (tool->sets & sets[i].set) != 0;
    return is_word(at, length, ALL) || is_word(at, length, tool->name);
}

/* Finds the next word after any commas and spaces; length 0: there is none left. */
static const char *next_word(const char *at, size_t *length)
{
    at += strspn(at, ", ");
    *length = strcspn(at, ", ");
    return at;
}

bool tool_sets_has(const struct tool *tool, const char *words)
{
    size_t length;

    words = next_word(words, &length);
    if (length == 0 || tool->sets == 0)
        return true;
    for (; length > 0; words = next_word(words + length, &length))
        if (includes(words, length, tool))
            return true;
    return false;
}

static bool is_set_or_tool(const char *at, size_t length)
{
    for (size_t i = 0; i < SETS; i++)
        if (is_word(at, length, sets[i].name))
            return true;
    for (size_t i = 0; tools[i] != NULL; i++)
        if (is_word(at, length, tools[i]->name))
            return true;
    return is_word(at, length, ALL);
}

static CHECKED bool refuse(const char *at, size_t length, const char *what, struct error *error)
{
    TEXT_AUTO word = { 0 };
    TEXT_AUTO known = { 0 };
    char shown[VALUE_SHOWN_SIZE];

    text_add_bytes(&word, at, length);
    text_add(&known, ALL);
    for (size_t i = 0; i < SETS; i++)
        text_addf(&known, ", %s", sets[i].name);
    return error_set(error, ERROR_INVALID,
                     "%s names %s, which is neither a set of tools (%s) nor a tool", what,
                     value_show_text(text_string(&word), shown), text_string(&known));
}

bool tool_sets_check(const char *words, const char *what, struct error *error)
{
    size_t length;

    for (words = next_word(words, &length); length > 0; words = next_word(words + length, &length))
        if (!is_set_or_tool(words, length))
            return refuse(words, length, what, error);
    return true;
}
