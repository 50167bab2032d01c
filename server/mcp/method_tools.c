/* SPDX-License-Identifier: Apache-2.0 */
/* tools/list and tools/call. */

#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/tool_sets.h"
#include "server/http/exchange.h"
#include "server/mcp/client_log.h"
#include "server/mcp/client_request.h"
#include "server/mcp/mcp_apps.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/mcp_setup.h"
#include "server/mcp/methods.h"
#include "server/mcp/multi_round.h"
#include "server/mcp/param_headers.h"
#include "server/streams/notifier.h"
#include "server/streams/stream.h"
#include "server/telemetry/telemetry.h"

/* ---- The list ---- */

/* destructiveHint and idempotentHint have no meaning for a tool that only reads. */
static json_t *hints(const struct tool *tool)
{
    json_t *hints =
        json_pack("{s:b, s:b}", "readOnlyHint", tool->read_only, "openWorldHint", tool->open_world);

    if (!tool->read_only) {
        json_object_set_new(hints, "destructiveHint", json_boolean(tool->destroys == STATED_YES));
        json_object_set_new(hints, "idempotentHint", json_boolean(tool->idempotent));
    }
    return hints;
}

static json_t *describe(const struct tool *tool)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o*, s:o}", "name", tool->name, "title", tool->title,
                     "description", tool->help, "inputSchema", tool_input_schema(tool),
                     "outputSchema", tool_output_schema(tool), "annotations", hints(tool));
}

struct text *method_tools_describe(const struct tool *const *table)
{
    size_t count = 0;
    struct text *rows;

    while (table[count] != NULL)
        count++;
    rows = memory_zeroed(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        json_auto_t *description = describe(table[i]);

        json_add(&rows[i], description);
    }
    return rows;
}

/* The tools to list are those that the URL names (/mcp?tools=measure,fleet) or, if it names none,
 * those that the setting `tools` names. Copies the names, because the connection might be gone when
 * they are used. */
bool method_tools_list_prepare(struct rpc *rpc)
{
    const char *named = exchange_query(rpc->exchange, "tools");
    struct error error;

    rpc->tool_sets =
        memory_copy_text(named != NULL && named[0] != '\0' ? named : rpc->server->settings->tools);
    return tool_sets_check(rpc->tool_sets, "\"tools\" in the URL", &error)
           || rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "%s", error.message);
}

static void add_description(struct rpc *rpc, size_t index, bool has_apps)
{
    const struct text *description = &rpc->server->tool_descriptions[index];

    text_add_bytes(&rpc->result, text_string(description), description->length - 1);
    if (has_apps)
        mcp_apps_add_meta(rpc->server->tools[index], &rpc->result);
    text_add_char(&rpc->result, '}');
}

/* Lists those of the chosen tools that the caller's role may call. Tools that only apps call are
 * listed only for clients that show apps. There is only one page, so no cursor is valid. */
bool method_tools_list_run(struct rpc *rpc)
{
    const struct mcp_server *server = rpc->server;
    const bool has_apps = mcp_apps_known(rpc);
    const char *comma = "";

    if (json_object_get(rpc->params, "cursor") != NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.cursor is not valid: the list has one page");
    text_add(&rpc->result, "\"tools\":[");
    for (size_t i = 0; server->tools[i] != NULL; i++) {
        if (!role_allows(rpc->exchange->principal.role, server->tools[i]->role)
            || !tool_sets_has(server->tools[i], rpc->tool_sets)
            || (server->tools[i]->is_for_apps && !has_apps))
            continue;
        text_add(&rpc->result, comma);
        add_description(rpc, i, has_apps);
        comma = ",";
    }
    text_add_char(&rpc->result, ']');
    return true;
}

/* ---- The call ---- */

/* Whether the call can run on the HTTP thread. A call that will be refused runs on a worker, which
 * waits until the audit row is on disk; an HTTP thread is not allowed to wait. */
static bool may_run_inline(struct rpc *rpc, const json_t *arguments)
{
    struct error ignored;

    return rpc->tool->placement == PLACE_INLINE
           && role_allows(rpc->exchange->principal.role, rpc->tool->role)
           && tool_check(rpc->tool, arguments, &rpc->checked, &ignored);
}

static bool check_headers(struct rpc *rpc)
{
    return rpc->era != ERA_MODERN || rpc->tool == NULL
           || param_headers_check(mcp_setup_param_headers(rpc->server, rpc->tool), rpc);
}

bool method_tools_call_prepare(struct rpc *rpc)
{
    const char *name = json_get_text(rpc->params, "name", NULL);
    const json_t *arguments = json_object_get(rpc->params, "arguments");

    if (name == NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.name is missing, or not a string");
    if (arguments != NULL && !json_is_object(arguments))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.arguments must be an object");
    rpc->tool = mcp_setup_find_tool(rpc->server, name);
    if (rpc->tool != NULL && rpc->tool->requires_tasks && !method_tasks_require(rpc))
        return false;
    if (rpc->tool == NULL || rpc->tool->placement != PLACE_WAITING)
        rpc->placement = PLACE_WORKER;
    else
        rpc->placement = PLACE_WAITING;
    if (!check_headers(rpc) || !multi_round_read(rpc, name))
        return false;
    if (rpc->tool != NULL && !multi_round_resumed(rpc) && may_run_inline(rpc, arguments))
        rpc->placement = PLACE_INLINE;
    return true;
}

/* Sends progress on the call's stream, if the client wants it and the value has increased. */
static void send_progress(struct call *call, double progress, double total, const char *message)
{
    struct rpc *rpc = call->host;
    struct stream *stream = rpc->stream;
    TEXT_AUTO json = { 0 };

    if (rpc->progress_token == NULL || stream == NULL || atomic_load(&rpc->call.cancelled)
        || !(progress > rpc->progress) || !stream_has_room(stream))
        return;
    rpc->progress = progress;
    rpc_write_progress(rpc, total, message, &json);
    stream_push(stream, text_string(&json), json.length);
}

static void add_content(struct text *out, const char *text, size_t length)
{
    text_add(out, "[{\"type\":\"text\",\"text\":");
    json_add_string(out, text, length);
    text_add(out, "}]");
}

/* bytes that most results need besides their text and structured content */
#define ENVELOPE_SIZE 192

/* The revision that added resource_link: clients that use an earlier one might reject an answer
 * that contains a link. */
#define LINKS_SINCE "2025-06-18"

static void add_link(const char *name, const char *uri, struct text *out)
{
    json_auto_t *block = NULL;

    if (uri[0] == '\0')
        return;
    block = rpc_link_block(name, uri);
    out->length--; /* removes the bracket that closes the list */
    text_add_char(out, ',');
    json_add(out, block);
    text_add_char(out, ']');
}

/* Adds the links to the answer's file and page, if there are any, as the last content blocks. */
static void add_links(const struct rpc *rpc, const struct answer *answer, struct text *out)
{
    if (rpc->version == NULL || strcmp(rpc->version, LINKS_SINCE) < 0)
        return;
    add_link("file", answer->file, out);
    add_link("page", answer->page, out);
}

static void write_answer(struct rpc *rpc, const struct answer *answer)
{
    struct text *out = &rpc->result;

    text_reserve(out, 2 * answer->text.length + ENVELOPE_SIZE);
    text_add(out, "\"content\":");
    if (answer->content != NULL)
        json_add(out, answer->content);
    else
        add_content(out, text_string(&answer->text), answer->text.length);
    add_links(rpc, answer, out);
    if (answer->structured != NULL) {
        text_add(out, ",\"structuredContent\":");
        json_add(out, answer->structured);
    }
    text_add(out, ",\"isError\":false");
}

/* The error's kind, which is meant for programs, is in _meta, because structuredContent has to
 * conform to the tool's output schema. */
void method_tools_write_error(struct rpc *rpc, const struct error *error)
{
    text_add(&rpc->result, "\"content\":");
    add_content(&rpc->result, error->message, strlen(error->message));
    text_add(&rpc->result, ",\"isError\":true");
    rpc->error_kind = error_kind_name(error->kind);
    telemetry_record_tool_error(mcp_setup_tool_row(rpc->server, rpc->tool));
}

/* Replaces an answer that is too long with an error: the agent can then ask for less, whereas some
 * clients would fail on the long answer. */
static void check_size(struct rpc *rpc)
{
    int64_t limit = rpc->server->settings->answer_limit_bytes;
    struct error error;

    if (rpc->result.length <= (size_t)limit)
        return;
    error_set(&error, ERROR_INVALID,
              "the answer from %s has %zu bytes, more than the setting answer_limit_bytes allows "
              "(%lld): ask for less, with a smaller `limit`, fewer items or a narrower selection",
              rpc->tool->name, rpc->result.length, (long long)limit);
    text_clear(&rpc->result);
    method_tools_write_error(rpc, &error);
}

static void close_stream(struct call *call)
{
    const struct rpc *rpc = call->host;

    if (rpc->stream != NULL)
        stream_hang_up(rpc->stream);
}

/* Whether other calls are waiting for a thread of server->waiting. */
static bool thread_is_wanted(void *host)
{
    const struct rpc *rpc = host;

    return workers_queued(rpc->server->waiting) > 0;
}

struct call method_make_call(struct rpc *rpc)
{
    struct exchange *exchange = rpc->exchange;

    return (struct call){
        .services = rpc->server->services,
        .arguments = json_object_get(rpc->params, "arguments"),
        .checked = rpc->checked,
        .principal = exchange->principal,
        .change = { .actor = { .client = rpc->client, .request_id = exchange->id },
                    .nonce = multi_round_nonce(rpc) },
        .base_url = rpc->base_url,
        .host = rpc,
        .progress = send_progress,
        .is_followed = rpc->progress_token != NULL && rpc->stream != NULL,
        .thread_is_wanted = thread_is_wanted,
        .cancelled = rpc_is_cancelled,
        .ask = client_request_ask,
        .close_stream = close_stream,
        .log_take = client_log_take,
    };
}

static bool answer_with_task(struct rpc *rpc, const struct answer *answer)
{
    return answer->job_id[0] != '\0' && method_tasks_known(rpc)
           && method_tasks_answer_call(rpc, answer->job_id);
}

bool method_tools_call_run(struct rpc *rpc)
{
    struct call call = method_make_call(rpc);
    struct answer answer = { 0 };
    struct error error;

    if (rpc->tool == NULL)
        return tool_missing(&call, json_get_text(rpc->params, "name", ""), &error)
               || rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "%s", error.message);
    if (multi_round_repeat(rpc))
        return true;
    if (tool_call(rpc->tool, &call, &answer, &error)) {
        if (!answer_with_task(rpc, &answer))
            write_answer(rpc, &answer);
        check_size(rpc);
        multi_round_store_answer(rpc, &call.change);
        if (rpc->tool->changes_resources)
            notifier_changed_by_tool(rpc->server->notifier, answer.changed);
    } else if (!multi_round_answer(rpc, &error)
               && (call.change.written || !multi_round_repeat(rpc))) {
        method_tools_write_error(rpc, &error);
    }
    answer_finish(&answer);
    return true;
}
