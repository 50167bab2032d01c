/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain clock: shows whether the wall clock is trusted (base/core/timeline.h), or confirms it.
 */

#include <stdio.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "server/program/admin.h"
#include "server/program/command_action.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"

#define HOUR_MS 3600000
#define DAY_MS (24 * HOUR_MS)

struct options {
    char data[CONFIG_TEXT_SIZE];
    bool json;
};

static const struct setting flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, offsetof(struct options, data),
      "the database's folder" },
    { "json", SETTING_BOOLEAN, "false", 0, 0, offsetof(struct options, json), "prints JSON" },
};

static CHECKED bool show(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s}", "command", "clock_show");
    json_auto_t *reply = NULL;
    char text[CLOCK_TEXT_SIZE];

    (void)operands;
    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    if (command_output_json(options->json, reply))
        return true;
    if (json_get_integer(reply, "ahead_ms", 0) == 0)
        printf("the wall clock is trusted\n");
    else
        printf("the wall clock is %.1f days ahead of the time that the machine's uptime suggests, "
               "so ages are computed as of %s; the wall clock will be trusted after opsbrain has "
               "run for %.1f more hours, or once you run `opsbrain clock accept`\n",
               (double)json_get_integer(reply, "ahead_ms", 0) / DAY_MS,
               clock_format_utc(json_get_integer(reply, "now_ms", 0), text),
               (double)json_get_integer(reply, "waits_ms", 0) / HOUR_MS);
    return true;
}

static CHECKED bool accept_clock(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s}", "command", "clock_accept");
    json_auto_t *reply = NULL;

    (void)operands;
    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    if (command_output_json(options->json, reply))
        return true;
    printf("the wall clock is trusted%s\n",
           json_get_integer(reply, "ahead_ms", 0) == 0 ? ", as before" : " from now on");
    return true;
}

int command_clock(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "show", "", "shows whether the wall clock is trusted to tell how old rows are", show },
        { "accept", "", "trusts the wall clock, for example after it was set or the server was off",
          accept_clock },
        { 0 },
    };
    static const struct command command = { "clock", actions, flags, sizeof flags / sizeof *flags };
    struct options options = { 0 };

    return command_run(&command, &options, argc, argv);
}
