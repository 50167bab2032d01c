/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/wording.h"

#include <ctype.h>
#include <string.h>

#include "client/command/tool_words.h"
#include "handlers/tool.h"
#include "handlers/values.h"

#define COMMAND "opsbrain "

/* A text that is being rewritten. */
struct rewriting {
    const struct tool *refused; /* the tool that refused the call: its parameters are rewritten even
                                   where they are quoted; NULL: none */
    bool rewrites_params;       /* parameters are rewritten on the current line; if true before the
                                   first line: on every line */
    struct text *out;
};

static void add_dashed(struct text *out, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        text_add_char(out, name[i] == '_' ? '-' : name[i]);
}

/* ---- Words ---- */

static bool ends_with(const struct text *text, const char *end)
{
    size_t length = strlen(end);

    return text->length >= length && memcmp(text->data + text->length - length, end, length) == 0;
}

/* The tool's short name or, if it has none, its own name. */
static const char *command_of(const char *tool)
{
    for (const struct tool_word *word = tool_words; word->name != NULL; word++)
        if (strcmp(word->tool, tool) == 0)
            return word->name;
    return tool;
}

static void add_command(struct text *out, const char *tool)
{
    const char *name = command_of(tool);

    if (!ends_with(out, COMMAND))
        text_add(out, COMMAND);
    add_dashed(out, name, strlen(name));
}

/* Whether a tool has this parameter. False for single-word names, which might be ordinary English
 * words. */
static bool is_parameter(const char *name)
{
    if (strchr(name, '_') == NULL)
        return false;
    for (size_t i = 0; tools[i] != NULL; i++)
        if (value_param_find(tools[i], name) != NULL)
            return true;
    return false;
}

/* Adds a word. A tool is written as its command, and a parameter (wait_s) as its flag (--wait-s).
 * True: the word was added as a flag. */
static bool add_word(struct rewriting *rewriting, const char *text, size_t length)
{
    TEXT_AUTO word = { 0 };

    text_add_bytes(&word, text, length);
    if (tool_find(text_string(&word)) != NULL) {
        add_command(rewriting->out, text_string(&word));
        return false;
    }
    if (rewriting->rewrites_params && is_parameter(text_string(&word))) {
        text_add(rewriting->out, "--");
        add_dashed(rewriting->out, text, length);
        return true;
    }
    text_add_bytes(rewriting->out, text, length);
    return false;
}

/* Writes the JSON list that follows a parameter, such as ["a", "b"], as a,b. Returns the number of
 * bytes read; 0: no list of strings follows. */
static size_t add_list(struct rewriting *rewriting, const char *text)
{
    size_t length = strncmp(text, " [\"", 3) == 0 ? strcspn(text, "]\n") : 0;

    if (length == 0 || text[length] != ']')
        return 0;
    text_add_char(rewriting->out, ' ');
    for (size_t i = 2; i < length; i++)
        if (text[i] != '"' && text[i] != ' ')
            text_add_char(rewriting->out, text[i]);
    return length + 1;
}

/* Writes a parameter in JSON as a flag: "confirm": "demo" as --confirm demo. Returns the number of
 * bytes read; 0: the quoted word is not a parameter of the tool that refused. */
static size_t add_quoted(struct rewriting *rewriting, const char *text)
{
    size_t length = strcspn(text + 1, "\"\n"), value_length, taken = length + 2;
    TEXT_AUTO name = { 0 };

    text_add_bytes(&name, text + 1, length);
    if (rewriting->refused == NULL || text[length + 1] != '"'
        || value_param_find(rewriting->refused, text_string(&name)) == NULL)
        return 0;
    text_add(rewriting->out, "--");
    add_dashed(rewriting->out, text_string(&name), name.length);
    if (strncmp(text + taken, ": \"", 3) != 0)
        return taken;
    value_length = strcspn(text + taken + 3, "\" \n");
    if (value_length == 0 || text[taken + 3 + value_length] != '"')
        return taken;
    text_add_char(rewriting->out, ' ');
    text_add_bytes(rewriting->out, text + taken + 3, value_length);
    return taken + 3 + value_length + 1;
}

/* ---- Lines ---- */

static size_t word_length(const char *text)
{
    size_t length = 0;

    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

/* Part of a path, an address or a file name does not count as a word. */
static bool is_separate_word(const char *line, const char *at, size_t length)
{
    return (at == line || strchr("/.:-@#", at[-1]) == NULL)
           && !(at[length] == '.' && isalnum((unsigned char)at[length + 1]));
}

static void add_line(struct rewriting *rewriting, const char *line, size_t length)
{
    const char *at = line, *end = line + length;

    while (at < end) {
        size_t word = word_length(at), taken = *at == '"' ? add_quoted(rewriting, at) : 0;

        if (taken > 0) {
            at += taken;
        } else if (word == 0) {
            text_add_char(rewriting->out, *at++);
        } else {
            bool separate = is_separate_word(line, at, word);

            if (!separate)
                text_add_bytes(rewriting->out, at, word);
            taken = separate && add_word(rewriting, at, word) ? add_list(rewriting, at + word) : 0;
            at += word + taken;
        }
    }
}

static void add_lines(struct rewriting *rewriting, const char *text)
{
    bool always = rewriting->rewrites_params;

    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        rewriting->rewrites_params =
            always || strncmp(text, "Next: ", 6) == 0 || strncmp(text, "If you know", 11) == 0;
        if (*text == '|' || strncmp(text, "> ", 2) == 0)
            text_add_bytes(rewriting->out, text, length);
        else
            add_line(rewriting, text, length);
        text += length;
        if (*text == '\n')
            text_add_char(rewriting->out, *text++);
    }
}

void wording_add_answer(const char *answer, struct text *out)
{
    add_lines(&(struct rewriting){ .out = out }, answer);
}

/* In an error message, the list of a tool's parameters begins with this. The list is replaced with
 * a reference to the help. */
#define LIST_OF_PARAMETERS "; it takes "

void wording_add_refusal(const char *refusal, const char *tool, struct text *out)
{
    struct rewriting rewriting = { .rewrites_params = true, .out = out };
    const char *list = strstr(refusal, LIST_OF_PARAMETERS);
    TEXT_AUTO shortened = { 0 };

    rewriting.refused = tool != NULL ? tool_find(tool) : NULL;
    text_add_bytes(&shortened, refusal,
                   rewriting.refused != NULL && list != NULL ? (size_t)(list - refusal)
                                                             : strlen(refusal));
    add_lines(&rewriting, text_string(&shortened));
    if (shortened.length < strlen(refusal)) {
        text_add(out, ": opsbrain help ");
        add_dashed(out, command_of(tool), strlen(command_of(tool)));
        text_add(out, " shows what it takes");
    }
}
