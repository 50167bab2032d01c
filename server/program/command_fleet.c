/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain plan: a person's go-ahead at the command line. opsbrain fleet: a moved database. */

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "client/command/client_commands.h"
#include "server/program/admin.h"
#include "server/program/command_action.h"
#include "server/program/commands.h"

struct options {
    char data[CONFIG_TEXT_SIZE];
};

static const struct setting flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, offsetof(struct options, data),
      "folder of the database" },
};

static CHECKED bool print_plan(const struct options *options, const char *command, const char *plan,
                               struct error *error)
{
    json_auto_t *request = json_pack("{s:s, s:s}", "command", command, "plan", plan);
    json_auto_t *reply = NULL;

    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    printf("%s", json_get_text(reply, "text", ""));
    return true;
}

static CHECKED bool show(const void *context, char *const *operands, struct error *error)
{
    return print_plan(context, "plan_show", operands[0], error);
}

static CHECKED bool approve(const void *context, char *const *operands, struct error *error)
{
    if (!print_plan(context, "plan_approve", operands[0], error))
        return false;
    printf("approved: deployment_apply with this plan carries it out\n");
    return true;
}

/* Anything else is the short name of sweep_plan. */
int command_plan(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "show", "ID", "shows the requests of a plan, its cost and its end", show },
        { "approve", "ID", "agrees to a plan, as the administrator of this machine", approve },
        { 0 },
    };
    static const struct command command = { "plan", actions, flags, sizeof flags / sizeof *flags };
    struct options options = { 0 };

    if (argc < 2 || (strcmp(argv[1], "show") != 0 && strcmp(argv[1], "approve") != 0))
        return client_word(argc, argv);
    return command_run(&command, &options, argc, argv);
}

static CHECKED bool resume(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s}", "command", "fleet_resume");
    json_auto_t *reply = NULL;

    (void)operands;
    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    printf("from now on this database changes what runs in its clouds again; a running server "
           "notices within a minute\n");
    return true;
}

int command_fleet(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "resume", "",
          "lets a database that was moved or restored change its clouds again; only where no other "
          "copy does",
          resume },
        { 0 },
    };
    static const struct command command = { "fleet", actions, flags, sizeof flags / sizeof *flags };
    struct options options = { 0 };

    return command_run(&command, &options, argc, argv);
}
