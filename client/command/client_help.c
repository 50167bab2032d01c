/* SPDX-License-Identifier: Apache-2.0 */
/* Help for commands. The help for a tool comes from this program's own tables or, if this program
 * does not know the tool, from the server's schema. */

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/json/json.h"
#include "client/command/client.h"
#include "client/command/client_commands.h"
#include "client/command/tool_words.h"
#include "client/terminal/display_width.h"
#include "client/terminal/readable.h"
#include "handlers/tool.h"
#include "handlers/values.h"

/* ---- Usage ---- */

static void add_upper(struct text *out, const char *text)
{
    for (; *text != '\0'; text++)
        text_add_char(out, (char)toupper((unsigned char)*text));
}

static void add_usage(struct text *out, const char *name, const struct tool_word *word)
{
    text_addf(out, "  opsbrain %s ", name);
    if (word != NULL && word->upload != NULL)
        text_add(out, "FILE... ");
    else if (word != NULL && word->operands[0] != '\0') {
        add_upper(out, word->operands);
        text_add_char(out, ' ');
    }
    text_add(out, "[--FLAG VALUE]... [--json]\n");
}

static void add_usages(struct text *out, const char *name)
{
    bool found = false;

    for (const struct tool_word *word = tool_words; word->name != NULL; word++)
        if (strcmp(word->name, name) == 0) {
            add_usage(out, name, word);
            found = true;
        }
    if (!found)
        add_usage(out, name, NULL);
}

/* ---- This program's tools ---- */

static void add_flag(struct text *out, const char *name)
{
    text_add(out, "  --");
    for (; *name != '\0'; name++)
        text_add_char(out, *name == '_' ? '-' : *name);
}

static void add_choices(struct text *out, const struct param *param)
{
    for (size_t i = 0; param->type == VALUE_CHOICE && param->choices[i] != NULL; i++)
        text_addf(out, "%s%s", i == 0 ? " " : "|", param->choices[i]);
}

static void add_param(struct text *out, const struct param *param)
{
    add_flag(out, param->name);
    add_choices(out, param);
    if (param->type != VALUE_CHOICE && param->type != VALUE_BOOLEAN)
        text_addf(out, " %s",
                  param->type == VALUE_INTEGERS || param->type == VALUE_NUMBERS ? "1,2,..."
                  : param->type == VALUE_TEXTS                                  ? "A,B,..."
                  : param->type == VALUE_TEXT_MAP                               ? "NAME=VALUE,..."
                  : param->type == VALUE_TEXT                                   ? "TEXT"
                                                                                : "N");
    value_param_range(param, out);
    if (param->initial != NULL)
        text_addf(out, " (default: %s)", param->initial);
    text_addf(out, "\n      %s%s%s\n", param->help, param->more != NULL ? " " : "",
              param->more != NULL ? param->more : "");
}

static void describe_tool(const struct tool *tool, struct text *out)
{
    text_addf(out, "      %s%s%s\n\n", tool->help, tool->more != NULL ? " " : "",
              tool->more != NULL ? tool->more : "");
    for (const struct param *param = tool->params; param->name != NULL; param++)
        add_param(out, param);
}

/* ---- The server's tools ---- */

static void add_printable(struct text *out, const char *text)
{
    text_add_printable(out, text, strlen(text), 2000);
}

static CHECKED bool describe_listed(const char *name, struct text *out, struct error *error)
{
    struct client client;
    const json_t *tool = NULL;
    const char *param;
    json_t *property;
    bool done = client_open(&client, error) && client_find_tool(&client, name, &tool, error);

    if (done && tool == NULL)
        done = error_set(error, ERROR_NOT_FOUND,
                         "there is no command \"%.40s\": run opsbrain help to list the commands",
                         name);
    if (done) {
        text_add(out, "      ");
        add_printable(out, json_get_text(tool, "description", ""));
        text_add(out, "\n\n");
        json_object_foreach(json_object_get(json_object_get(tool, "inputSchema"), "properties"),
                            param, property) {
            text_add(out, "  --");
            add_printable(out, param);
            text_add(out, "\n      ");
            add_printable(out, json_get_text(property, "description", ""));
            text_add_char(out, '\n');
        }
    }
    client_finish(&client);
    return done;
}

static CHECKED bool describe_word(const char *name, struct text *out, struct error *error)
{
    const struct tool_word *word = tool_word_find(name, 0);
    const struct tool *tool;
    TEXT_AUTO tool_name = { 0 };

    text_add(&tool_name, word != NULL ? word->tool : name);
    for (char *c = tool_name.data; c != NULL && *c != '\0'; c++)
        *c = *c == '-' ? '_' : *c;
    tool = tool_find(text_string(&tool_name));
    add_usages(out, name);
    if (tool != NULL)
        describe_tool(tool, out);
    if (strcmp(text_string(&tool_name), "run_report") == 0)
        text_add(out, "  --all\n      The complete report: without this flag a terminal shows a "
                      "brief one.\n");
    if (tool == NULL && !describe_listed(text_string(&tool_name), out, error))
        return false;
    text_add(out, "\n");
    text_add(out, client_statuses);
    return true;
}

bool client_help(const char *name, struct text *out, struct error *error)
{
    static const struct {
        const char *name;
        CHECKED bool (*add)(struct text *out, struct error *error);
    } fixed[] = { { "bench", client_bench_help },
                  { "watch", client_watch_help },
                  { "login", client_login_help },
                  { "logout", client_login_help },
                  { "call", client_call_help },
                  { "tools", client_call_help },
                  { "completion", client_completion_help } };

    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(name, fixed[i].name) == 0)
            return fixed[i].add(out, error);
    return describe_word(name, out, error);
}

bool client_asks_for_help(int argc, char *const *argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

int client_help_show(const char *name)
{
    struct client client = { .out = terminal_of(STDOUT_FILENO), .err = terminal_of(STDERR_FILENO) };
    TEXT_AUTO text = { 0 }, shown = { 0 };
    struct error error;

    display_width_begin();
    if (!client_help(name, &text, &error))
        return client_fail(&client, &error);
    readable_add_text(&client.out, text_string(&text), &shown);
    return client_write(&shown) ? STATUS_DONE : STATUS_FAILED;
}

/* ---- All commands ---- */

static void add_overview_line(const struct tool_word *word, struct text *out)
{
    const struct tool *tool = tool_find(word->tool);
    TEXT_AUTO usage = { 0 };

    text_addf(&usage, "%s ", word->name);
    add_upper(&usage, word->upload != NULL ? "FILE..." : word->operands);
    text_addf(out, "  %-33s %s\n", text_string(&usage), tool == NULL ? "" : tool->title);
}

void client_help_overview(struct text *out)
{
    text_add(out,
             "Client commands; the server is the one in OPSBRAIN_URL, or the one that opsbrain\n"
             "login stored, or else " LOGIN_URL_USUAL ":\n\n");
    for (const struct tool_word *word = tool_words; word->name != NULL; word++)
        if (tool_find(word->tool) != NULL)
            add_overview_line(word, out);
    text_add(out, "  watch [DEPLOYMENT]                Load, tokens/s, latencies as live charts\n"
                  "  call TOOL NAME=VALUE...           Call any tool that opsbrain tools lists\n"
                  "  login [URL], logout [URL]         Store a server and its key; delete the key\n"
                  "  completion bash|zsh|fish          Print a script for shell completion\n\n"
                  "All of them take --help; those that show an answer also take --json.\n\n");
    text_add(out, client_statuses);
}
