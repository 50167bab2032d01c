/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain audit-log: on the store itself, or through the server that has it. */

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "client/command/client_commands.h"
#include "server/program/admin.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"
#include "server/settings/settings.h"

#define PATIENCE_S 600 /* seconds that reading a long log may take */

struct options {
    char data[CONFIG_TEXT_SIZE], digest[CONFIG_TEXT_SIZE];
    char principal[CONFIG_TEXT_SIZE], tool[CONFIG_TEXT_SIZE], subject[CONFIG_TEXT_SIZE];
    int64_t limit;
};

#define AT(member) offsetof(struct options, member)
static const struct setting flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, AT(data), "folder of the database" },
    { "digest", SETTING_TEXT, "", 0, 0, AT(digest),
      "verify: a row and its digest, from the log or an export" },
    { "principal", SETTING_TEXT, "", 0, 0, AT(principal), "list: only calls of this principal" },
    { "tool", SETTING_TEXT, "", 0, 0, AT(tool), "list: only calls of this tool" },
    { "subject", SETTING_TEXT, "", 0, 0, AT(subject), "list: only changes of this name or id" },
    { "limit", SETTING_INTEGER, "20", 1, 1000, AT(limit), "list: how many of the newest" },
};

static CHECKED bool ask(const struct options *options, json_t *request, json_t **reply,
                        struct error *error)
{
    return admin_request(options->data, "", request, reply, error);
}

static void set_if(json_t *request, const char *name, const char *value)
{
    if (value[0] != '\0')
        json_object_set_new(request, name, json_string(value));
}

static CHECKED bool list(const struct options *options, struct error *error)
{
    json_auto_t *request =
        json_pack("{s:s, s:I}", "command", "audit_list", "limit", (json_int_t)options->limit);
    json_auto_t *reply = NULL;

    set_if(request, "principal", options->principal);
    set_if(request, "tool", options->tool);
    set_if(request, "subject", options->subject);
    if (!ask(options, request, &reply, error))
        return false;
    command_output_text(json_get_text(reply, "text", ""));
    return true;
}

static CHECKED bool verify(const struct options *options, struct error *error)
{
    json_auto_t *request = json_pack("{s:s, s:s, s:i}", "command", "audit_verify", "mark",
                                     options->digest, "patience_s", PATIENCE_S);
    json_auto_t *reply = NULL;

    if (!ask(options, request, &reply, error))
        return false;
    if (!json_get_boolean(reply, "whole", false))
        return error_set(error, ERROR_CONFLICT, "%s", json_get_text(reply, "found", ""));
    puts(json_get_text(reply, "found", ""));
    return true;
}

static void print_line(const json_t *value)
{
    TEXT_AUTO line = { 0 };

    json_add(&line, value);
    puts(text_string(&line));
}

/* Exports up to the row that was the newest at the start, without rows written meanwhile. */
static bool print_page(void *context, const json_t *reply, json_t *request)
{
    const json_t *rows = json_object_get(reply, "rows"), *row;
    json_t *newest = context; /* of the first page */
    json_int_t last, id = json_get_integer(request, "after_id", 0);
    size_t index;

    if (json_object_size(newest) == 0)
        json_object_update(newest, json_object_get(reply, "newest"));
    last = json_get_integer(newest, "id", 0);
    json_array_foreach(rows, index, row) {
        id = json_get_integer(row, "id", 0);
        if (id <= last)
            print_line(row);
    }
    json_object_set_new(request, "after_id", json_integer(id));
    return json_array_size(rows) > 0 && id < last;
}

/* A line for each row; the last line names the newest row with its digest, so that an export proves
 * what the audit log contained. */
static CHECKED bool export(const struct options *options, struct error *error)
{
    json_auto_t *request = json_pack("{s:s, s:i}", "command", "audit_export", "after_id", 0);
    json_auto_t *newest = json_object();

    if (!admin_requests(options->data, request, print_page, newest, error))
        return false;
    print_line(newest);
    return fflush(stdout) == 0 || error_set(error, ERROR_INTERNAL, "the export cannot be written");
}

static const struct {
    const char *what;
    CHECKED bool (*run)(const struct options *options, struct error *error);
} actions[] = {
    { "list", list },
    { "verify", verify },
    { "export", export },
};

static int show_help(void)
{
    TEXT_AUTO text = { 0 };

    text_add(&text,
             "  opsbrain audit-log list [--FLAG VALUE]...\n"
             "      lists the newest rows\n"
             "  opsbrain audit-log verify [--FLAG VALUE]...\n"
             "      checks that the log is what was written; with a digest, also since "
             "then\n"
             "  opsbrain audit-log export [--FLAG VALUE]...\n"
             "      writes all rows as lines of JSON, the oldest first; the last line is the "
             "newest row's digest\n\n");
    config_help(flags, sizeof flags / sizeof *flags, &text);
    fputs(text_string(&text), stdout);
    return 0;
}

int command_audit(int argc, char *const *argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct options options = { 0 };
    struct error error;

    if (client_asks_for_help(argc, argv))
        return show_help();
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(what, actions[i].what) != 0)
            continue;
        if (!config_read(flags, sizeof flags / sizeof *flags, argc - 1, argv + 1, &options, &error)
            || !actions[i].run(&options, &error))
            return command_fail(error.message);
        return 0;
    }
    return command_fail("the audit-log commands are: audit-log list, audit-log verify [--digest "
                        "ROW:DIGEST], audit-log export");
}
