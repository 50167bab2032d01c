/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain: the program. A command that is not in the table below is taken to be a tool's name
 * or short word (tool_words.c), and the tool is called on a running server. */

#include <stddef.h>
#include <string.h>

#include "client/command/client_commands.h"
#include "server/program/commands.h"

static const struct {
    const char *name;
    int (*run)(int argc, char *const *argv);
} commands[] = {
    { "serve", command_serve },
    { "key", command_key },
    { "principal", command_principal },
    { "secret", command_secret },
    { "audit-log", command_audit },
    { "clock", command_clock },
    { "plan", command_plan },
    { "fleet", command_fleet },
    { "backup", command_copy },
    { "restore", command_copy },
    { "move", command_copy },
    { "watchdog", command_watchdog },
    { "bench", command_bench },
    { "watch", client_watch },
    { "login", client_login },
    { "logout", client_logout },
    { "call", client_call_command },
    { "tools", client_tools_command },
    { "completion", client_completion },
    { "complete", client_complete },
    { "help", command_help },
    { "--help", command_help },
    { "version", command_version },
    { "--version", command_version },
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].run(argc > 1 ? argc - 1 : argc, argc > 1 ? argv + 1 : argv);
    return client_word(argc - 1, argv + 1);
}
