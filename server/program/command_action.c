/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/command_action.h"

#include <stdio.h>
#include <string.h>

#include "base/core/text.h"
#include "client/command/client.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"

static bool asks_for_help(int argc, char *const *argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return argc == 2 && strcmp(argv[1], "help") == 0;
}

static void add_usage(const struct command *command, const struct action *action, struct text *out)
{
    text_addf(out, "%s %s%s%s", command->name, action->name, action->operands[0] == '\0' ? "" : " ",
              action->operands);
}

static int show_help(const struct command *command)
{
    TEXT_AUTO text = { 0 };

    for (const struct action *action = command->actions; action->name != NULL; action++) {
        text_add(&text, "  opsbrain ");
        add_usage(command, action, &text);
        text_addf(&text, " [--FLAG VALUE]...\n      %s\n", action->help);
    }
    text_add_char(&text, '\n');
    config_help(command->flags, command->flag_count, &text);
    command_output_text(text_string(&text));
    return 0;
}

static int fail_with_usage(const struct command *command, const char *what)
{
    TEXT_AUTO text = { 0 };

    text_addf(&text, "%s; use one of: ", what);
    for (const struct action *action = command->actions; action->name != NULL; action++) {
        text_add(&text, action == command->actions ? "" : ", ");
        add_usage(command, action, &text);
    }
    text_add(&text, " (see --help)");
    command_fail(text_string(&text));
    return STATUS_USAGE;
}

static int count_words(const char *text)
{
    int count = text[0] != '\0';

    for (const char *space = text; (space = strchr(space, ' ')) != NULL; space++)
        count++;
    return count;
}

static int run_action(const struct command *command, const struct action *action, void *options,
                      int argc, char *const *argv)
{
    int wanted = count_words(action->operands), given = 0;
    struct error error;

    while (given < wanted && given + 2 < argc && argv[given + 2][0] != '-')
        given++;
    if (given < wanted) {
        TEXT_AUTO text = { 0 };

        add_usage(command, action, &text);
        text_add(&text, ": an argument is missing");
        return fail_with_usage(command, text_string(&text));
    }
    /* config_read skips its first argument, which is usually the program's name. Here it is the
     * last operand or, if the action has none, the action. */
    if (!config_read(command->flags, command->flag_count, argc - wanted - 1, argv + wanted + 1,
                     options, &error)) {
        command_fail(error.message);
        return STATUS_USAGE;
    }
    return action->run(options, argv + 2, &error) ? STATUS_DONE : command_fail(error.message);
}

int command_run(const struct command *command, void *options, int argc, char *const *argv)
{
    TEXT_AUTO unknown = { 0 };

    if (asks_for_help(argc, argv))
        return show_help(command);
    if (argc < 2)
        return fail_with_usage(command, "no action is given");
    for (const struct action *action = command->actions; action->name != NULL; action++)
        if (strcmp(argv[1], action->name) == 0)
            return run_action(command, action, options, argc, argv);
    text_addf(&unknown, "there is no \"%s %.40s\"", command->name, argv[1]);
    return fail_with_usage(command, text_string(&unknown));
}
