/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that call a tool by its short name, by its own name, or as `opsbrain call TOOL`. The
 * words after the name become the tool's arguments. Also the command `opsbrain tools`. */

#include <string.h>

#include "base/json/json.h"
#include "client/command/client.h"
#include "client/command/client_commands.h"
#include "client/command/client_upload.h"
#include "client/command/tool_flags.h"
#include "client/terminal/display_width.h"
#include "client/terminal/grid.h"
#include "client/terminal/readable.h"
#include "handlers/tool.h"
#include "handlers/values.h"

/* A command that is being carried out. */
struct command {
    struct client client;
    const char *name;             /* the command, or the tool after `call`, as typed */
    const struct tool_word *word; /* the short name's row; NULL: `name` is not a short name */
    const json_t *tool;           /* the tool in the server's list; borrowed from the client */
    struct tool_flags flags;
};

/* ---- Which tool ---- */

/* Hyphens can be typed instead of underscores: deployment-list is deployment_list. */
static void write_tool_name(const struct command *command, struct text *out)
{
    text_add(out, command->word != NULL ? command->word->tool : command->name);
    for (char *c = out->data; c != NULL && *c != '\0'; c++)
        *c = *c == '-' ? '_' : *c;
}

static void keep_nearer(const char *given, const char *name, const char **best)
{
    if (value_name_is_near(given, name)
        && (*best == NULL || value_name_distance(given, name) < value_name_distance(given, *best)))
        *best = name;
}

/* Returns the command or short name of a tool that is most similar to `given`; NULL: none is
 * similar enough. */
static const char *nearest_command(const char *given)
{
    const char *best = NULL;

    for (size_t i = 0; client_fixed_commands[i] != NULL; i++)
        keep_nearer(given, client_fixed_commands[i], &best);
    for (const struct tool_word *word = tool_words; word->name != NULL; word++)
        keep_nearer(given, word->name, &best);
    return best;
}

/* Sets the error for a word that this program does not know as a command or a tool: it was
 * mistyped, or only newer versions have such a tool. `unreached`: why the server could not be
 * reached; NULL: the server was reached, and has no such tool. */
static CHECKED bool refuse_unknown(const struct command *command, const struct error *unreached,
                                   struct error *error)
{
    const char *near = nearest_command(command->name);

    if (near != NULL)
        return error_set(error, ERROR_NOT_FOUND,
                         "there is no command \"%.40s\": did you mean opsbrain %s?", command->name,
                         near);
    return error_set(error, ERROR_NOT_FOUND,
                     "there is no command \"%.40s\"; opsbrain help lists the commands, and "
                     "opsbrain tools lists the server's tools%s%s",
                     command->name, unreached != NULL ? ", but cannot now: " : "",
                     unreached != NULL ? unreached->message : "");
}

static CHECKED bool find_tool(struct command *command, struct error *error)
{
    TEXT_AUTO name = { 0 };
    bool known;

    write_tool_name(command, &name);
    known = command->word != NULL || tool_find(text_string(&name)) != NULL;
    if (!client_find_tool(&command->client, text_string(&name), &command->tool, error)) {
        struct error why = *error;

        return known || why.kind != ERROR_UPSTREAM ? false : refuse_unknown(command, &why, error);
    }
    if (command->tool != NULL)
        return true;
    if (known)
        return error_set(
            error, ERROR_FORBIDDEN,
            "%.200s does not offer you %s, which needs a higher role or a newer server",
            command->client.remote.login.url, text_string(&name));
    return refuse_unknown(command, NULL, error);
}

/* ---- The call ---- */

static CHECKED bool call(struct command *command, const json_t *arguments, struct error *error)
{
    json_auto_t *result = NULL;

    return client_call(&command->client, json_get_text(command->tool, "name", ""), arguments,
                       &result, error)
           && client_show(&command->client, result, error);
}

/* Carries out the command with the words after its name, or after `call TOOL`. *is_usage_error:
 * whether a failure is due to a wrong command line. */
static CHECKED bool carry_out(struct command *command, int argc, char *const *given,
                              bool *is_usage_error, struct error *error)
{
    const char *tool = json_get_text(command->tool, "name", "");
    const struct own_flag own[] = { { "json", .set = &command->client.json },
                                    { strcmp(tool, "run_report") == 0 ? "all" : NULL,
                                      .set = &command->client.all },
                                    { 0 } };
    const char *operands[FLAG_OPERANDS_MAX];
    json_auto_t *arguments = NULL;
    size_t count;

    command->flags = (struct tool_flags){ .schema = json_object_get(command->tool, "inputSchema"),
                                          .tool = tool,
                                          .own = own };
    count = tool_flags_operands(&command->flags, argc, given, operands, FLAG_OPERANDS_MAX);
    if (command->word != NULL)
        command->word = tool_word_find(command->name, count);
    command->flags.word = command->word;
    *is_usage_error = true;
    if (!tool_flags_read(&command->flags, argc, given, &arguments, error))
        return false;
    if (command->word != NULL && !tool_word_takes(command->word, count))
        return error_set(error, ERROR_INVALID, "opsbrain %s takes %s", command->name,
                         command->word->upload != NULL ? "FILE..." : command->word->operands);
    *is_usage_error = false;
    return command->word != NULL && command->word->upload != NULL
               ? client_upload(&command->client, command->word, operands, count, arguments, error)
               : call(command, arguments, error);
}

/* argv[0] is the command's name or, after `call`, the tool's. */
static int run(struct command *command, int argc, char *const *argv)
{
    struct error error;
    bool is_usage_error = false;
    int status;

    if (client_asks_for_help(argc, argv))
        return client_help_show(command->name);
    if (client_open(&command->client, &error) && find_tool(command, &error)
        && carry_out(command, argc - 1, argv + 1, &is_usage_error, &error))
        return STATUS_DONE;
    status = client_fail(&command->client, &error);
    return is_usage_error || error.kind == ERROR_NOT_FOUND ? STATUS_USAGE : status;
}

int client_word(int argc, char *const *argv)
{
    struct command command = { .name = argv[0], .word = tool_word_find(argv[0], 0) };
    int status;

    display_width_begin();
    status = run(&command, argc, argv);
    client_finish(&command.client);
    return status;
}

int client_call_command(int argc, char *const *argv)
{
    struct command command = { .name = argc > 1 ? argv[1] : "" };
    int status;

    if (argc > 1 && argv[1][0] == '-' && client_asks_for_help(argc, argv))
        return client_help_show("call");
    if (argc < 2 || argv[1][0] == '-') {
        fputs("opsbrain: call needs a tool: opsbrain call TOOL name=value ...; "
              "opsbrain tools lists the tools\n",
              stderr);
        return STATUS_USAGE;
    }
    display_width_begin();
    status = run(&command, argc - 1, argv + 1);
    client_finish(&command.client);
    return status;
}

bool client_call_help(struct text *out, struct error *error)
{
    (void)error;
    text_add(out, "  opsbrain call TOOL [NAME=VALUE]... [--json]\n"
                  "      Calls any tool of the server; opsbrain help TOOL lists its arguments.\n"
                  "  opsbrain tools [--json]\n"
                  "      Lists the server's tools.\n\n");
    text_add(out, client_statuses);
    return true;
}

/* ---- opsbrain tools ---- */

static const char *word_of(const char *tool)
{
    for (const struct tool_word *word = tool_words; word->name != NULL; word++)
        if (strcmp(word->tool, tool) == 0)
            return word->name;
    return "";
}

static void add_tool(struct grid *grid, const json_t *tool)
{
    static const char *const columns[] = { "name", "title" };
    const char *word = word_of(json_get_text(tool, "name", ""));

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *value = json_get_text(tool, columns[i], "");
        TEXT_AUTO clean = { 0 };

        text_add_printable(&clean, value, strlen(value), 200);
        grid_cell(grid, text_string(&clean), clean.length);
        if (i == 0)
            grid_cell(grid, word, strlen(word));
    }
}

static void add_tools(const struct client *client, struct text *out)
{
    struct grid *grid = grid_create();
    const json_t *tool;
    size_t i;

    grid_column(grid, "Tool", 4, false);
    grid_column(grid, "Command", 7, false);
    grid_column(grid, "What it does", 12, false);
    json_array_foreach(client->tools, i, tool)
        add_tool(grid, tool);
    grid_render(grid, &client->out, out);
    grid_destroy(grid);
}

static CHECKED bool list_tools(struct client *client, struct error *error)
{
    const json_t *none;
    TEXT_AUTO text = { 0 };

    if (!client_find_tool(client, "", &none, error))
        return false;
    if (client->json)
        readable_add_json(client->tools, READABLE_INDENT, &text);
    else
        add_tools(client, &text);
    return client_write(&text)
           || error_set(error, ERROR_INTERNAL, "the list cannot be written to standard output");
}

static CHECKED bool read_words(struct client *client, int argc, char *const *given,
                               struct error *error)
{
    static const struct tool_word word = { "tools", "", "" };
    const struct own_flag own[] = { { "json", .set = &client->json }, { 0 } };
    const struct tool_flags flags = { .word = &word, .tool = "", .own = own };
    json_auto_t *others = NULL;

    if (!tool_flags_read(&flags, argc, given, &others, error))
        return false;
    return json_object_size(others) == 0
           || error_set(error, ERROR_INVALID,
                        "opsbrain tools takes no arguments, only the flag --json");
}

int client_tools_command(int argc, char *const *argv)
{
    struct client client;
    struct error error;
    int status = STATUS_DONE;

    if (client_asks_for_help(argc, argv))
        return client_help_show("tools");
    display_width_begin();
    if (!client_open(&client, &error))
        status = client_fail(&client, &error);
    else if (!read_words(&client, argc - 1, argv + 1, &error)) {
        client_fail(&client, &error);
        status = STATUS_USAGE;
    } else if (!list_tools(&client, &error))
        status = client_fail(&client, &error);
    client_finish(&client);
    return status;
}
