/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain plan: shows the plan of a deployment, and approves it. opsbrain fleet resume: lets
 * opsbrain change a moved database's clouds again. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "client/command/client_commands.h"
#include "client/command/person.h"
#include "client/terminal/readable.h"
#include "server/program/admin.h"
#include "server/program/command_action.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"

struct options {
    char data[CONFIG_TEXT_SIZE], digest[CONFIG_TEXT_SIZE];
    bool json;
};

static const struct setting flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, offsetof(struct options, data),
      "the database's folder" },
    { "json", SETTING_BOOLEAN, "false", 0, 0, offsetof(struct options, json), "prints JSON" },
    { "digest", SETTING_TEXT, "", 0, 0, offsetof(struct options, digest),
      "approve: digest of the plan that you have read; required if there is no terminal" },
};
#define FLEET_FLAGS 2 /* `fleet` has only the first two, --data and --json */

static CHECKED bool ask(const struct options *options, const char *command, const char *plan,
                        json_t **reply, struct error *error)
{
    json_auto_t *request = json_pack("{s:s, s:s}", "command", command, "plan", plan);

    return admin_request(options->data, "", request, reply, error);
}

/* Lines are not wrapped, so that commands in the text can be copied. */
static void print_plan(const json_t *shown, FILE *out)
{
    static const struct terminal unbroken = { 0 };
    TEXT_AUTO clean = { 0 };

    readable_add_text(&unbroken, json_get_text(shown, "text", ""), &clean);
    fputs(text_string(&clean), out);
    fflush(out);
}

static CHECKED bool show(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *shown = NULL;

    if (!ask(options, "plan_show", operands[0], &shown, error))
        return false;
    if (!command_output_json(options->json, json_object_get(shown, "plan")))
        print_plan(shown, stdout);
    return true;
}

/* Fails unless the user agrees to the plan: by passing its digest with --digest, as scripts do, or
 * by answering on the terminal. */
static CHECKED bool agree(const struct options *options, const char *digest, struct error *error)
{
    if (options->digest[0] != '\0')
        return strcmp(options->digest, digest) == 0
               || error_set(
                   error, ERROR_CONFLICT,
                   "--digest is \"%.80s\", but the plan's digest is %s: read the plan again",
                   options->digest, digest);
    if (isatty(STDIN_FILENO) != 1 || isatty(fileno(stderr)) != 1)
        return error_set(
            error, ERROR_FORBIDDEN,
            "there is no terminal to ask on: approve on a terminal, or use --digest to give the "
            "digest of the plan that you have read");
    return person_confirm("Agree to this plan?")
           || error_set(error, ERROR_CANCELLED, "not approved: nothing has changed");
}

static CHECKED bool approve(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *shown = NULL, *approved = NULL;

    if (!ask(options, "plan_show", operands[0], &shown, error))
        return false;
    print_plan(shown, options->json ? stderr : stdout);
    if (!agree(options, json_get_text(shown, "digest", ""), error)
        || !ask(options, "plan_approve", operands[0], &approved, error))
        return false;
    if (command_output_json(options->json, json_object_get(approved, "plan")))
        return true;
    printf("approved: to carry the plan out, run `opsbrain apply %s`\n", operands[0]);
    return true;
}

/* Runs the tool whose short name is the command's name. With --help, shows the tool's help and then
 * the command's own. */
static int run_word(const struct command *command, int argc, char *const *argv)
{
    char flag[] = "--help", *const help[] = { argv[0], flag, NULL };
    int status = client_word(argc, argv);

    return client_asks_for_help(argc, argv) ? command_run(command, NULL, 2, help) : status;
}

/* `opsbrain plan` without show or approve is the short name of the tool sweep_plan. */
int command_plan(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "show", "ID",
          "shows a plan's requests, and the cost and the planned end of its deployment", show },
        { "approve", "ID",
          "shows the plan, and asks you, as this machine's administrator, whether you agree to it",
          approve },
        { 0 },
    };
    static const struct command command = { "plan", actions, flags, sizeof flags / sizeof *flags };
    struct options options = { 0 };

    if (argc < 2 || (strcmp(argv[1], "show") != 0 && strcmp(argv[1], "approve") != 0))
        return run_word(&command, argc, argv);
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
    if (command_output_json(options->json, reply))
        return true;
    printf("from now on, a server on this database changes what runs in its clouds again; a server "
           "that is already running notices this within a minute\n");
    return true;
}

/* "fleet list" does the same as "fleet" alone. */
static int list_fleet(int argc, char *const *argv)
{
    FREE_AUTO char **words = memory_zeroed((size_t)argc, sizeof *words);

    words[0] = argv[0];
    memcpy(words + 1, argv + 2, (size_t)(argc - 2) * sizeof *words);
    return client_word(argc - 1, words);
}

/* `opsbrain fleet` without resume is the short name of the tool fleet_list. */
int command_fleet(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "resume", "",
          "lets a server on a moved or restored database change its clouds again; "
          "run this only if no server on another copy does so",
          resume },
        { 0 },
    };
    static const struct command command = { "fleet", actions, flags, FLEET_FLAGS };
    struct options options = { 0 };

    if (argc > 1 && strcmp(argv[1], "list") == 0)
        return list_fleet(argc, argv);
    if (argc < 2 || strcmp(argv[1], "resume") != 0)
        return run_word(&command, argc, argv);
    return command_run(&command, &options, argc, argv);
}
