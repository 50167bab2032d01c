/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain secret: manages where secrets may be sent, through the server that has the store open
 * or, if there is none, in the store itself. */

#include <stdio.h>

#include "base/json/json.h"
#include "handlers/deployments/secret_answer.h"
#include "server/program/admin.h"
#include "server/program/command_action.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"

struct options {
    char data[CONFIG_TEXT_SIZE], secrets[CONFIG_TEXT_SIZE];
    bool json;
};

#define AT(member) offsetof(struct options, member)
static const struct setting flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, AT(data), "the database's folder" },
    { "secrets", SETTING_TEXT, "", 0, 0, AT(secrets),
      "folder with the secrets' files; a running server uses its own setting" },
    { "json", SETTING_BOOLEAN, "false", 0, 0, AT(json), "prints JSON" },
};

static CHECKED bool bind_secret(const struct options *options, char *const *operands, bool bound,
                                struct error *error)
{
    json_auto_t *request =
        json_pack("{s:s, s:s, s:s}", "command", bound ? "secret_bind" : "secret_unbind", "name",
                  operands[0], "origin", operands[1]);
    json_auto_t *reply = NULL;

    if (!admin_request(options->data, options->secrets, request, &reply, error))
        return false;
    if (command_output_json(options->json, reply))
        return true;
    printf("%s %s be sent to %s%s\n", operands[0], bound ? "may" : "may not",
           json_get_text(reply, "origin", ""),
           json_get_boolean(reply, "changed", false) ? " from now on" : ", as before");
    if (json_get_boolean(reply, "weak", false))
        fprintf(stderr, "opsbrain: " SECRET_WEAK_WARNING "\n", operands[0]);
    return true;
}

static CHECKED bool bind_origin(const void *options, char *const *operands, struct error *error)
{
    return bind_secret(options, operands, true, error);
}

static CHECKED bool unbind_origin(const void *options, char *const *operands, struct error *error)
{
    return bind_secret(options, operands, false, error);
}

static CHECKED bool list(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s}", "command", "secret_list");
    json_auto_t *reply = NULL;
    TEXT_AUTO text = { 0 };

    (void)operands;
    if (!admin_request(options->data, options->secrets, request, &reply, error))
        return false;
    if (command_output_json(options->json, reply))
        return true;
    secret_answer_text(reply, &text);
    command_output_text(text_string(&text));
    return true;
}

int command_secret(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "bind", "NAME ORIGIN",
          "lets a secret be sent to an origin, such as https://model.example.com:8443",
          bind_origin },
        { "unbind", "NAME ORIGIN", "revokes that permission", unbind_origin },
        { "list", "", "lists the secrets, and where each may be sent", list },
        { 0 },
    };
    static const struct command command = { "secret", actions, flags,
                                            sizeof flags / sizeof *flags };
    struct options options = { 0 };

    return command_run(&command, &options, argc, argv);
}
