/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain help, opsbrain version. */

#include <stdio.h>
#include <string.h>

#include "client/command/client_commands.h"
#include "server/program/commands.h"
#include "server/settings/settings.h"

static const char usage[] =
    "opsbrain " OPSBRAIN_VERSION ": an MCP server for teams that run their own LLM serving\n"
    "\n"
    "  opsbrain serve [--SETTING VALUE]...\n"
    "      serve MCP over HTTP; SIGTERM stops it gracefully\n"
    "  opsbrain key add NAME --role viewer|operator|admin [--label TEXT] [--expires 30d]\n"
    "      create an API key, shown once\n"
    "  opsbrain key list\n"
    "  opsbrain key revoke ID|NAME\n"
    "  opsbrain key reset\n"
    "  opsbrain principal list\n"
    "  opsbrain principal role NAME viewer|operator|admin\n"
    "  opsbrain secret bind|unbind NAME ORIGIN\n"
    "  opsbrain secret list\n"
    "      where a secret of deployments may be sent, such as https://model.example.com:8443\n"
    "  opsbrain audit-log list [--principal NAME] [--tool NAME] [--subject WHAT] [--limit 20]\n"
    "  opsbrain audit-log verify [--digest ROW:DIGEST]\n"
    "      whether it is what was written; with a digest from the log or an export, also since "
    "then\n"
    "  opsbrain audit-log export\n"
    "      as lines of JSON, the oldest row first; the last line is the newest row's digest\n"
    "  opsbrain clock show|accept\n"
    "      whether old rows are deleted by the wall clock\n"
    "  opsbrain plan show|approve ID\n"
    "      what a plan of a deployment would do; a person's go-ahead to it\n"
    "  opsbrain fleet resume\n"
    "      lets a moved or restored database change its clouds again\n"
    "      all but serve also work while a server runs, with --data FOLDER; each has a --help\n"
    "  opsbrain help [COMMAND] [--markdown]\n"
    "  opsbrain version\n"
    "\n";

static const char serve_usage[] =
    "\n"
    "Settings of serve, as flags or in the environment (OPSBRAIN_LISTEN for --listen):\n"
    "\n";

/* Of a command of the process, or of the client. */
static int help_on(char *name)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char *const *argv);
    } own[] = { { "serve", command_serve },   { "key", command_key },
                { "secret", command_secret }, { "principal", command_principal },
                { "clock", command_clock },   { "audit-log", command_audit },
                { "plan", command_plan },     { "fleet", command_fleet } };
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
        text_add(&text, serve_usage);
        config_help(settings_table, settings_count, &text);
    }
    fputs(text_string(&text), stdout);
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
