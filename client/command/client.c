/* SPDX-License-Identifier: Apache-2.0 */
#include "client/command/client.h"

#include <string.h>
#include <unistd.h>

#include "base/json/json.h"
#include "base/net/outbound.h"
#include "client/command/person.h"
#include "client/command/wording.h"
#include "client/terminal/display_width.h"
#include "client/terminal/readable.h"

#define ROUNDS_MAX 5 /* maximum rounds of questions in one call */
#define PAGES_MAX 50 /* maximum pages of the list of tools */

const char client_statuses[] =
    "Exit status: 0 done; 1 refused or failed, as the message says; 2 wrong command line; 3 no\n"
    "server answers; 4 the key is missing or invalid, or its role is too low; 5 bench: not\n"
    "completed, or a cell has no figures; 130 Ctrl-C, or bench was not confirmed.\n";

bool client_open(struct client *client, struct error *error)
{
    *client =
        (struct client){ .out = terminal_of(STDOUT_FILENO), .err = terminal_of(fileno(stderr)) };
    client->remote.can_ask = client->err.is_terminal && isatty(STDIN_FILENO) == 1;
    return outbound_global_init(error) && login_read(&client->remote.login, error);
}

void client_finish(struct client *client)
{
    json_decref(client->tools);
    explicit_bzero(client->remote.login.key, sizeof client->remote.login.key);
}

bool client_write(const struct text *text)
{
    return fwrite(text_string(text), 1, text->length, stdout) == text->length
           && fflush(stdout) == 0;
}

/* Returns the exit status for an error from the server or the connection. For a usage error, the
 * caller returns STATUS_USAGE instead. */
static int status_of(enum error_kind kind)
{
    switch ((int)kind) {
    case ERROR_UPSTREAM:
        return STATUS_NO_SERVER;
    case ERROR_UNAUTHENTICATED:
    case ERROR_FORBIDDEN:
        return STATUS_NO_ACCESS;
    case ERROR_CANCELLED:
        return STATUS_INTERRUPTED;
    default:
        return STATUS_FAILED;
    }
}

int client_fail(const struct client *client, const struct error *error)
{
    TEXT_AUTO worded = { 0 }, clean = { 0 };

    text_add(&worded, "opsbrain: ");
    wording_add_refusal(error->message, client->called, &worded);
    readable_add_text(&client->err, text_string(&worded), &clean);
    fputs(text_string(&clean), stderr);
    return status_of(error->kind);
}

/* ---- Tools ---- */

static CHECKED bool list_tools(struct client *client, struct error *error)
{
    json_auto_t *list = json_array(), *params = json_object();
    const char *cursor = "";

    for (int page = 0; page < PAGES_MAX && cursor != NULL; page++) {
        const struct remote_request request = { .method = "tools/list", .params = params };
        json_auto_t *result = NULL;

        if (!remote_ask(&client->remote, &request, &result, error))
            return false;
        json_array_extend(list, json_object_get(result, "tools"));
        cursor = json_get_text(result, "nextCursor", NULL);
        json_object_set_new(params, "cursor", json_string(cursor == NULL ? "" : cursor));
        cursor = cursor == NULL ? NULL : json_get_text(params, "cursor", NULL);
    }
    client->tools = json_incref(list);
    return true;
}

bool client_find_tool(struct client *client, const char *name, const json_t **out,
                      struct error *error)
{
    const json_t *tool;
    size_t i;

    if (client->tools == NULL && !list_tools(client, error))
        return false;
    *out = NULL;
    json_array_foreach(client->tools, i, tool) {
        if (strcmp(json_get_text(tool, "name", ""), name) == 0)
            *out = tool;
    }
    return true;
}

/* ---- Calls ---- */

/* Overwrites the progress that was shown before on the same line of the terminal. */
static void show_progress(void *context, double progress, double total, const char *message)
{
    struct client *client = context;
    TEXT_AUTO line = { 0 };

    text_add_printable(&line, message, strlen(message), 400);
    if (line.length == 0 && total > 0)
        text_addf(&line, "%.0f of %.0f", progress, total);
    line.length = display_width_fit(text_string(&line), line.length, client->err.columns - 1);
    fprintf(stderr, "\r\033[K%.*s", (int)line.length, text_string(&line));
    fflush(stderr);
    client->in_progress = true;
}

static void end_progress(struct client *client)
{
    if (client->in_progress)
        fputs("\r\033[K", stderr);
    client->in_progress = false;
}

/* Returns false, with the answer's text as the error message, if the tool itself failed. */
static CHECKED bool check_result(const json_t *result, struct error *error)
{
    const json_t *block;
    TEXT_AUTO text = { 0 };
    size_t i;

    if (!json_get_boolean(result, "isError", false))
        return true;
    json_array_foreach(json_object_get(result, "content"), i, block)
        text_add(&text, json_get_text(block, "text", ""));
    return error_set(error, ERROR_CONFLICT, "%s", text_string(&text));
}

/* The HTTP headers that repeat those arguments whose schema has "x-mcp-header". */
#define PARAM_HEADERS_MAX 8
struct param_lines {
    struct text texts[PARAM_HEADERS_MAX];
    const char *list[PARAM_HEADERS_MAX + 1]; /* ends with NULL */
};

static void write_value(const json_t *value, struct text *out)
{
    if (json_is_string(value))
        text_add(out, json_string_value(value));
    else
        json_add(out, value);
}

static void add_param_headers(const json_t *tool, const json_t *arguments, struct param_lines *out)
{
    const char *name;
    json_t *property;
    size_t count = 0;

    json_object_foreach(json_object_get(json_object_get(tool, "inputSchema"), "properties"), name,
                        property) {
        const char *header = json_get_text(property, "x-mcp-header", NULL);
        const json_t *value = json_object_get(arguments, name);
        TEXT_AUTO header_name = { 0 }, written = { 0 };

        if (header == NULL || value == NULL || count == PARAM_HEADERS_MAX)
            continue;
        text_addf(&header_name, "Mcp-Param-%s", header);
        write_value(value, &written);
        remote_add_header(&out->texts[count], text_string(&header_name), text_string(&written));
        out->list[count] = text_string(&out->texts[count]);
        count++;
    }
}

static void param_lines_finish(struct param_lines *lines)
{
    for (size_t i = 0; i < PARAM_HEADERS_MAX; i++)
        text_finish(&lines->texts[i]);
}

/* Makes the call and passes the server's questions to the user until there is a result, in at most
 * ROUNDS_MAX rounds. */
static CHECKED bool call_in_rounds(struct client *client, struct remote_request *request,
                                   json_t *params, json_t **result, struct error *error)
{
    for (int round = 0; round < ROUNDS_MAX; round++) {
        json_auto_t *answer = NULL;

        bool done = remote_ask(&client->remote, request, &answer, error);

        end_progress(client);
        if (!done)
            return false;
        if (strcmp(json_get_text(answer, "resultType", ""), "input_required") != 0) {
            *result = json_incref(answer);
            return true;
        }
        json_object_set_new(params, "inputResponses",
                            person_answer(json_object_get(answer, "inputRequests")));
        json_object_set(params, "requestState", json_object_get(answer, "requestState"));
    }
    return error_set(error, ERROR_CONFLICT,
                     "the server keeps asking questions: gave up on the call after %d rounds",
                     ROUNDS_MAX);
}

static CHECKED bool call(struct client *client, const char *name, const json_t *arguments,
                         bool quiet, json_t **result, struct error *error)
{
    json_auto_t *params = json_pack("{s:s, s:O}", "name", name, "arguments", arguments);
    json_auto_t *answer = NULL;
    struct param_lines lines = { 0 };
    const json_t *tool = NULL;
    struct remote_request request = { .method = "tools/call",
                                      .name = name,
                                      .params = params,
                                      .headers = lines.list,
                                      .context = client };
    bool done;

    text_copy(client->called, sizeof client->called, name);
    if (!quiet && client->err.is_drawable)
        request.progress = show_progress;
    if (client->tools != NULL && !client_find_tool(client, name, &tool, error))
        return false;
    add_param_headers(tool, arguments, &lines);
    done = call_in_rounds(client, &request, params, &answer, error);
    param_lines_finish(&lines);
    if (!done || !check_result(answer, error))
        return false;
    *result = json_incref(answer);
    return true;
}

bool client_call(struct client *client, const char *tool, const json_t *arguments, json_t **result,
                 struct error *error)
{
    return call(client, tool, arguments, false, result, error);
}

bool client_call_quietly(struct client *client, const char *tool, const json_t *arguments,
                         json_t **structured, struct error *error)
{
    json_auto_t *result = NULL;

    if (!call(client, tool, arguments, true, &result, error))
        return false;
    *structured = json_incref(json_object_get(result, "structuredContent"));
    return *structured != NULL
           || error_set(error, ERROR_UPSTREAM, "%s answered without structuredContent", tool);
}
