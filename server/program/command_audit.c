/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain audit-log: reads the audit log, through the server that has the store open or, if there
 * is none, from the store itself. */

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "server/program/admin.h"
#include "server/program/command_action.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"

#define PATIENCE_S 600  /* verify: how many seconds to wait for the verdict on a long log */
#define ROWS_AT_ONCE 50 /* list --json: rows per request, since a reply has at most 1 MiB */

struct options {
    char data[CONFIG_TEXT_SIZE], digest[CONFIG_TEXT_SIZE];
    char principal[CONFIG_TEXT_SIZE], tool[CONFIG_TEXT_SIZE], subject[CONFIG_TEXT_SIZE];
    int64_t limit;
    bool json;
};

#define AT(member) offsetof(struct options, member)
static const struct setting flags[] = {
    { "data", SETTING_TEXT, "./data", 0, 0, AT(data), "the database's folder" },
    { "digest", SETTING_TEXT, "", 0, 0, AT(digest),
      "verify: ROW:DIGEST, from the server's log or an export" },
    { "principal", SETTING_TEXT, "", 0, 0, AT(principal), "list: only calls by this principal" },
    { "tool", SETTING_TEXT, "", 0, 0, AT(tool), "list: only calls to this tool" },
    { "subject", SETTING_TEXT, "", 0, 0, AT(subject), "list: only rows about this name or id" },
    { "limit", SETTING_INTEGER, "20", 1, 1000, AT(limit), "list: how many rows, newest first" },
    { "json", SETTING_BOOLEAN, "false", 0, 0, AT(json),
      "prints JSON, as export always does; for list, with the calls' arguments" },
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

/* Rows that are collected page by page, at most `limit` of them. */
struct rows {
    json_t *list;
    int64_t limit;
};

static void set_limit(const struct rows *rows, json_t *request)
{
    int64_t missing = rows->limit - (int64_t)json_array_size(rows->list);

    json_object_set_new(request, "limit",
                        json_integer(missing < ROWS_AT_ONCE ? missing : ROWS_AT_ONCE));
}

static bool add_page(void *context, const json_t *reply, json_t *request)
{
    struct rows *rows = context;
    const json_t *page = json_object_get(reply, "rows");
    size_t count = json_array_size(page);
    const json_t *oldest = json_array_get(page, count > 0 ? count - 1 : 0);

    json_array_extend(rows->list, json_iterable(page));
    json_object_set_new(request, "before_id", json_integer(json_get_integer(oldest, "id", 0)));
    set_limit(rows, request);
    return count == ROWS_AT_ONCE && json_array_size(rows->list) < (size_t)rows->limit;
}

static CHECKED bool print_rows(const struct options *options, json_t *request, struct error *error)
{
    struct rows rows = { json_array(), options->limit };
    json_auto_t *collected = json_pack("{s:o}", "rows", rows.list);

    json_object_set_new(request, "as_rows", json_true());
    set_limit(&rows, request);
    return admin_requests(options->data, request, add_page, &rows, error)
           && command_output_json(true, collected);
}

static CHECKED bool list(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request =
        json_pack("{s:s, s:I}", "command", "audit_list", "limit", (json_int_t)options->limit);
    json_auto_t *reply = NULL;

    (void)operands;
    set_if(request, "principal", options->principal);
    set_if(request, "tool", options->tool);
    set_if(request, "subject", options->subject);
    if (options->json)
        return print_rows(options, request, error);
    if (!ask(options, request, &reply, error))
        return false;
    command_output_text(json_get_text(reply, "text", ""));
    return true;
}

static CHECKED bool verify(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s, s:s, s:i}", "command", "audit_verify", "mark",
                                     options->digest, "patience_s", PATIENCE_S);
    json_auto_t *reply = NULL;

    (void)operands;
    if (!ask(options, request, &reply, error))
        return false;
    command_output_json(options->json, reply);
    if (!json_get_boolean(reply, "whole", false))
        return error_set(error, ERROR_CONFLICT, "%s", json_get_text(reply, "found", ""));
    if (!options->json)
        puts(json_get_text(reply, "found", ""));
    return true;
}

static void print_line(const json_t *value)
{
    TEXT_AUTO line = { 0 };

    json_add(&line, value);
    puts(text_string(&line));
}

/* Prints the rows of a page, except those that were written after the export began. */
static bool print_page(void *context, const json_t *reply, json_t *request)
{
    const json_t *rows = json_object_get(reply, "rows"), *row;
    json_t *newest = context; /* the newest row when the export began */
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

/* Prints a line for each row, and a last line with the newest row's id and digest, so that an
 * export proves what the audit log contained. */
static CHECKED bool export(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s, s:i}", "command", "audit_export", "after_id", 0);
    json_auto_t *newest = json_object();

    (void)operands;
    if (!admin_requests(options->data, request, print_page, newest, error))
        return false;
    print_line(newest);
    return fflush(stdout) == 0 || error_set(error, ERROR_INTERNAL, "the export cannot be written");
}

int command_audit(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "list", "", "lists the newest rows", list },
        { "verify", "",
          "checks that no row has changed since it was written; with --digest, also that the log "
          "still contains the row named there",
          verify },
        { "export", "",
          "writes all rows as lines of JSON, oldest first; "
          "the last line has the newest row's id and digest",
          export },
        { 0 },
    };
    static const struct command command = { "audit-log", actions, flags,
                                            sizeof flags / sizeof *flags };
    struct options options = { 0 };

    return command_run(&command, &options, argc, argv);
}
