/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain help, opsbrain version. */

#include <stdio.h>
#include <string.h>

#include "client/command/client_commands.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"
#include "server/settings/settings.h"

static const char usage[] =
    "opsbrain " OPSBRAIN_VERSION ": an MCP server for teams that run their own LLM serving\n"
    "\n"
    "  opsbrain serve [--SETTING VALUE]...  serves MCP and pages over HTTP\n"
    "  opsbrain bench URL                   measures the model server at URL right away\n"
    "  opsbrain help [COMMAND]              a command's flags; for serve: its settings\n"
    "  opsbrain version\n"
    "\n"
    "Commands on a data folder (--data FOLDER). All but restore work while a server is running:\n"
    "\n"
    "  key add NAME --role ROLE          An API key for a viewer, operator or admin\n"
    "  key list|reset, key revoke ID|NAME\n"
    "  principal list, principal role NAME ROLE\n"
    "  secret list, secret bind|unbind NAME ORIGIN\n"
    "                                    Where a deployment's secret may be sent\n"
    "  audit-log list|verify|export      Who did what, and whether the log is intact\n"
    "  clock show|accept                 Whether the wall clock is trusted\n"
    "  plan show|approve ID              Shows a plan, or asks you to approve it\n"
    "  fleet resume                      Lets a moved database change its clouds again\n"
    "  backup FILE, restore FILE         Everything in one file, for SQLite or PostgreSQL\n"
    "\n"
    "opsbrain move --from DATA|URL --to DATA|URL copies a database into an empty one.\n"
    "\n";

/* Prints the help for a command in the table below or, if it does not have this name, for another
 * command or a tool (client/command/client_help.c). */
static int help_on(char *name)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char *const *argv);
    } own[] = { { "serve", command_serve },   { "key", command_key },
                { "secret", command_secret }, { "principal", command_principal },
                { "clock", command_clock },   { "audit-log", command_audit },
                { "plan", command_plan },     { "fleet", command_fleet },
                { "backup", command_copy },   { "restore", command_copy },
                { "move", command_copy } };
    char flag[] = "--help", *const argv[] = { name, flag, NULL };

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i].name) == 0)
            return own[i].run(2, argv);
    return client_help_show(name);
}

int command_help(int argc, char *const *argv)
{
    TEXT_AUTO text = { 0 };

    if (argc > 1 && argv[1][0] != '-')
        return help_on(argv[1]);
    if (argc > 1 && strcmp(argv[1], "--markdown") == 0) {
        config_markdown(settings_table, settings_count, &text);
    } else {
        text_add(&text, usage);
        client_help_overview(&text);
    }
    command_output_text(text_string(&text));
    return 0;
}

int command_version(int argc, char *const *argv)
{
    (void)argc;
    (void)argv;
    puts("opsbrain " OPSBRAIN_VERSION);
    return 0;
}

int command_fail(const char *message)
{
    fprintf(stderr, "opsbrain: %s\n", message);
    return 1;
}
