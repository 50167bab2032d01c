/* opsbrain secret: on the store itself, or through the server that has it. */

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "handlers/secret_answer.h"
#include "server/admin.h"
#include "server/commands.h"
#include "server/settings.h"

struct options {
    const char *what, *name, *origin; /* the last two: "" unless given */
    char data[CONFIG_TEXT_SIZE], secrets[CONFIG_TEXT_SIZE];
};

#define AT(member) offsetof(struct options, member)
static const struct setting flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, AT(data), "folder of the database" },
    { "secrets", SETTING_TEXT, "", 0, 0, AT(secrets),
      "folder of the secrets' files; a running server uses its own" },
};

static bool bind_secret(const struct options *options, struct error *error)
{
    bool unbind = strcmp(options->what, "unbind") == 0;
    json_auto_t *request =
        json_pack("{s:s, s:s, s:s}", "command", unbind ? "secret_unbind" : "secret_bind", "name",
                  options->name, "origin", options->origin);
    json_auto_t *reply = NULL;

    if (!admin_request(options->data, options->secrets, request, &reply, error))
        return false;
    printf("%s %s be sent to %s%s\n", options->name, unbind ? "may not" : "may",
           json_get_text(reply, "origin", ""),
           json_get_boolean(reply, "changed", false) ? " from now on" : ", as before");
    if (json_get_boolean(reply, "weak", false))
        fprintf(stderr, "opsbrain: " SECRET_WEAK_WARNING "\n", options->name);
    return true;
}

static bool list(const struct options *options, struct error *error)
{
    json_auto_t *request = json_pack("{s:s}", "command", "secret_list");
    json_auto_t *reply = NULL;
    TEXT_AUTO text = { 0 };

    if (!admin_request(options->data, options->secrets, request, &reply, error))
        return false;
    secrets_text(reply, &text);
    fputs(text_string(&text), stdout);
    return true;
}

static const struct {
    const char *what;
    int words; /* that it takes */
    bool (*run)(const struct options *options, struct error *error);
} actions[] = {
    { "bind", 2, bind_secret },
    { "unbind", 2, bind_secret },
    { "list", 0, list },
};

int command_secret(int argc, char *const *argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct options options = { .what = what };
    struct error error;

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        int words = actions[i].words, skip = 1 + words;

        if (strcmp(what, actions[i].what) != 0)
            continue;
        if (argc <= skip || (words > 0 && (argv[2][0] == '-' || argv[3][0] == '-')))
            return command_fail("which one, and where? as in: opsbrain secret bind LAB "
                                "https://model.example.com");
        if (!config_read(flags, sizeof flags / sizeof *flags, argc - skip, argv + skip, &options,
                         &error))
            return command_fail(error.message);
        options.name = words > 0 ? argv[2] : "";
        options.origin = words > 0 ? argv[3] : "";
        return actions[i].run(&options, &error) ? 0 : command_fail(error.message);
    }
    return command_fail("the secret commands are: secret bind NAME ORIGIN, secret unbind NAME "
                        "ORIGIN, secret list");
}
