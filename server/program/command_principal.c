/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain principal: lists the principals, which call the server with keys, and changes their
 * roles. */

#include <stdio.h>

#include "base/formats/table.h"
#include "base/json/json.h"
#include "server/program/admin.h"
#include "server/program/command_action.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"

struct options {
    char data[CONFIG_TEXT_SIZE];
    bool json;
};

static const struct setting flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, offsetof(struct options, data),
      "the database's folder" },
    { "json", SETTING_BOOLEAN, "false", 0, 0, offsetof(struct options, json), "prints JSON" },
};

static CHECKED bool list(const void *context, char *const *operands, struct error *error)
{
    static const char *const headings[] = { "name",    "role",      "keys", "valid keys",
                                            "created", "last used", NULL };
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s}", "command", "principal_list");
    json_auto_t *reply = NULL;
    struct table *table;
    size_t index;
    json_t *row;

    (void)operands;
    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    if (command_output_json(options->json, reply))
        return true;
    table = command_output_table(headings);
    json_array_foreach(json_object_get(reply, "principals"), index, row) {
        table_cell(table, "%s", json_get_text(row, "name", ""));
        table_cell(table, "%s", json_get_text(row, "role", ""));
        table_cell(table, "%lld", (long long)json_get_integer(row, "keys", 0));
        table_cell(table, "%lld", (long long)json_get_integer(row, "valid_keys", 0));
        command_output_table_time(table, json_get_integer(row, "created_ms", 0));
        command_output_table_time(table, json_get_integer(row, "last_used_ms", 0));
    }
    command_output_table_print(table);
    return true;
}

static CHECKED bool role(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s, s:s, s:s}", "command", "principal_role", "name",
                                     operands[0], "role", operands[1]);
    json_auto_t *reply = NULL;

    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    if (command_output_json(options->json, reply))
        return true;
    printf("the role of %s is now %s; before, it was %s\n", operands[0],
           json_get_text(reply, "role", ""), json_get_text(reply, "before", ""));
    command_output_warn(reply);
    return true;
}

int command_principal(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "list", "", "lists the principals with their roles, keys and last use", list },
        { "role", "NAME ROLE",
          "changes a principal's role to viewer, operator or admin; this has an immediate effect "
          "on all its keys",
          role },
        { 0 },
    };
    static const struct command command = { "principal", actions, flags,
                                            sizeof flags / sizeof *flags };
    struct options options = { 0 };

    return command_run(&command, &options, argc, argv);
}
