/* SPDX-License-Identifier: Apache-2.0 */
/* resources/list, resources/templates/list, resources/read, resources/subscribe and unsubscribe. */

#include <stdlib.h>
#include <string.h>

#include "base/core/base64.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answer.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/methods.h"
#include "server/mcp/multi_round.h"
#include "server/streams/notifier.h"

#define URI_ECHO_BYTES 2048

/* ---- The lists ---- */

/* Adds a list of JSON objects to the result. */
static void add_list(struct rpc *rpc, const char *name, const json_t *list)
{
    FREE_AUTO char *json = json_write(list);

    text_addf(&rpc->result, "\"%s\":", name);
    text_add(&rpc->result, json);
}

static bool read_cursor(struct rpc *rpc, const char **out)
{
    const json_t *cursor = json_object_get(rpc->params, "cursor");

    *out = cursor == NULL ? "" : json_string_value(cursor);
    if (*out != NULL && (cursor == NULL || **out != '\0'))
        return true;
    return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.cursor is not valid");
}

bool method_resources_list_run(struct rpc *rpc)
{
    struct mcp_server *server = rpc->server;
    char next[RESOURCE_CURSOR_SIZE];
    json_auto_t *page = NULL;
    const char *cursor;
    struct error error;

    if (!read_cursor(rpc, &cursor))
        return false;
    if (!resources_page(server->resources, server->services, cursor, &page, next, &error))
        return rpc_fail_with(rpc, &error);
    add_list(rpc, "resources", page);
    if (next[0] != '\0') {
        text_add(&rpc->result, ",\"nextCursor\":");
        json_add_string(&rpc->result, next, strlen(next));
    }
    return true;
}

bool method_resources_templates_run(struct rpc *rpc)
{
    json_auto_t *list = NULL;

    if (json_object_get(rpc->params, "cursor") != NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.cursor is not valid: the list has one page");
    list = resource_templates(rpc->server->resources);
    add_list(rpc, "resourceTemplates", list);
    return true;
}

/* ---- Reading ---- */

/* The request's URI; NULL: the request was refused. */
static const char *uri_of(struct rpc *rpc)
{
    const char *uri = json_get_text(rpc->params, "uri", NULL);

    if (uri == NULL)
        rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.uri is missing, or not a string");
    return uri;
}

static void add_uri_to_error(struct rpc *rpc, const char *uri)
{
    rpc->error_data =
        json_pack("{s:o}", "uri", answer_json_foreign(uri, strlen(uri), URI_ECHO_BYTES));
}

static bool fail(struct rpc *rpc, const char *uri, const struct error *error)
{
    rpc_fail_with(rpc, error);
    if (error->kind == ERROR_NOT_FOUND && rpc->era == ERA_LEGACY)
        rpc->error_code = RPC_RESOURCE_NOT_FOUND;
    add_uri_to_error(rpc, uri);
    return false;
}

bool method_resources_read_prepare(struct rpc *rpc)
{
    const char *uri = uri_of(rpc);
    const struct resource *resource;
    char value[INSTANCE_VALUE_SIZE];
    struct error ignored;

    if (uri == NULL)
        return false;
    rpc->placement = PLACE_WORKER;
    if (resource_match(rpc->server->resources, uri, &resource, value, &ignored)
        && resource->placement == PLACE_WAITING)
        rpc->placement = PLACE_WAITING;
    return true;
}

static void write_contents(struct rpc *rpc, const struct resource *resource, const char *uri,
                           const struct text *contents)
{
    struct text *out = &rpc->result;

    text_add(out, "\"contents\":[{\"uri\":");
    json_add_string(out, uri, strlen(uri));
    text_addf(out, ",\"mimeType\":\"%s\",\"%s\":", resource->mime_type,
              resource->binary ? "blob" : "text");
    if (resource->binary) {
        text_add_char(out, '"');
        base64_add(out, text_string(contents), contents->length);
        text_add_char(out, '"');
    } else {
        json_add_string(out, text_string(contents), contents->length);
    }
    text_add(out, "}]");
}

static bool check_size(struct rpc *rpc, const char *uri)
{
    int64_t limit = rpc->server->settings->answer_limit_bytes;

    if (rpc->result.length <= (size_t)limit)
        return true;
    add_uri_to_error(rpc, uri);
    return rpc_fail(rpc, RPC_INTERNAL, 200,
                    "the answer with the resource has %zu bytes, more than the setting "
                    "answer_limit_bytes allows (%lld): use a tool to get the part you need",
                    rpc->result.length, (long long)limit);
}

bool method_resources_read_run(struct rpc *rpc)
{
    struct call call = method_make_call(rpc);
    const char *uri = json_get_text(rpc->params, "uri", "");
    const struct resource *resource;
    TEXT_AUTO contents = { 0 };
    struct error error;

    if (!multi_round_read(rpc, uri))
        return false;
    if (!resource_read(rpc->server->resources, &call, uri, &resource, &contents, &error))
        return multi_round_answer(rpc, &error) || fail(rpc, uri, &error);
    write_contents(rpc, resource, uri, &contents);
    return check_size(rpc, uri);
}

/* ---- Subscriptions of sessions ---- */

static bool check_session(struct rpc *rpc)
{
    return rpc->session != NULL
           || rpc_fail(rpc, RPC_REFUSED, 400,
                       "the header Mcp-Session-Id is missing: without a session there is no stream "
                       "for the notifications");
}

bool method_resources_subscribe_run(struct rpc *rpc)
{
    struct mcp_server *server = rpc->server;
    const char *uri = uri_of(rpc);
    struct error error;

    if (uri == NULL || !check_session(rpc))
        return false;
    if (!resource_find(server->resources, server->services, uri, &error)
        || !notifier_subscribe(server->notifier, rpc->session, uri, &error))
        return fail(rpc, uri, &error);
    return true;
}

bool method_resources_unsubscribe_run(struct rpc *rpc)
{
    const char *uri = uri_of(rpc);
    struct error error;

    if (uri == NULL || !check_session(rpc))
        return false;
    if (!notifier_unsubscribe(rpc->server->notifier, rpc->session, uri, &error))
        return fail(rpc, uri, &error);
    return true;
}
