/* SPDX-License-Identifier: Apache-2.0 */
/* subscriptions/listen (revision 2026-07-28): a long-lived stream of the notifications that a
 * client asked for. */

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/http/exchange.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/methods.h"
#include "server/mcp/protocol.h"
#include "server/streams/notifier.h"
#include "server/streams/stream.h"

#define SUBSCRIPTION "\"io.modelcontextprotocol/subscriptionId\":"

/* The requested subscriptions that the server can serve. */
struct honoured {
    unsigned lists;                        /* NOTIFIER_... bits */
    const char *uris[SUBSCRIPTIONS_LIMIT]; /* URIs, borrowed from the message */
    size_t uri_count;
    const char *tasks[SUBSCRIPTIONS_LIMIT]; /* ids of tasks, borrowed from the message */
    size_t task_count;
};

static const struct {
    const char *member;
    unsigned list;
} lists[] = {
    { "toolsListChanged", NOTIFIER_TOOLS },
    { "promptsListChanged", NOTIFIER_PROMPTS },
    { "resourcesListChanged", NOTIFIER_RESOURCES },
};

/* Keeps the requested lists. Of the first SUBSCRIPTIONS_LIMIT URIs, keeps those that name existing
 * resources. */
static void read_requested(const struct rpc *rpc, const json_t *requested, struct honoured *out)
{
    const json_t *uris = json_object_get(requested, "resourceSubscriptions");
    struct error ignored;

    *out = (struct honoured){ 0 };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (json_get_boolean(requested, lists[i].member, false))
            out->lists |= lists[i].list;
    for (size_t i = 0; i < json_array_size(uris) && i < SUBSCRIPTIONS_LIMIT; i++) {
        const char *uri = json_string_value(json_array_get(uris, i));

        if (uri != NULL
            && resource_find(rpc->server->resources, rpc->server->services, uri, &ignored))
            out->uris[out->uri_count++] = uri;
    }
}

/* Of the first SUBSCRIPTIONS_LIMIT task ids, keeps those that belong to existing tasks. */
static void read_tasks(const struct rpc *rpc, const json_t *requested, struct honoured *out)
{
    const json_t *ids = json_object_get(requested, "taskIds");
    struct error ignored;
    struct job job;

    for (size_t i = 0; i < json_array_size(ids) && i < SUBSCRIPTIONS_LIMIT; i++) {
        const char *id = json_string_value(json_array_get(ids, i));

        if (id != NULL && job_find(rpc->server->services->store, id, &job, &ignored))
            out->tasks[out->task_count++] = id;
    }
}

static json_t *texts_json(const char *const *texts, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(texts[i]));
    return list;
}

static json_t *honoured_json(const struct honoured *honoured)
{
    json_t *json = json_object();

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if ((honoured->lists & lists[i].list) != 0)
            json_object_set_new(json, lists[i].member, json_true());
    if (honoured->uri_count > 0)
        json_object_set_new(json, "resourceSubscriptions",
                            texts_json(honoured->uris, honoured->uri_count));
    if (honoured->task_count > 0)
        json_object_set_new(json, "taskIds", texts_json(honoured->tasks, honoured->task_count));
    return json;
}

/* Subscribes the stream with the notifier, which first sends the acknowledgement on the stream. */
static void acknowledge(struct rpc *rpc, const struct honoured *honoured)
{
    json_auto_t *acknowledged = honoured_json(honoured);
    FREE_AUTO char *written = json_write(acknowledged);
    struct stream *stream = rpc->stream;
    TEXT_AUTO meta = { 0 };
    TEXT_AUTO json = { 0 };

    text_addf(&meta, "{" SUBSCRIPTION "%s}", rpc->id);
    text_addf(&json,
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
              "\"params\":{\"_meta\":%s,\"notifications\":",
              text_string(&meta));
    text_add(&json, written);
    text_add(&json, "}}");
    notifier_listen(rpc->server->notifier, stream, &json, text_string(&meta), honoured->lists,
                    honoured->uris, honoured->uri_count);
    if (honoured->task_count > 0)
        notifier_listen_tasks(rpc->server->notifier, stream, text_string(&meta), rpc->base_url,
                              honoured->tasks, honoured->task_count);
}

static char *closing_message(const struct rpc *rpc)
{
    struct text json = { 0 };

    text_addf(&json,
              "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"resultType\":\"complete\","
              "\"_meta\":{" SUBSCRIPTION "%s}}}",
              rpc->id, rpc->id);
    return text_take(&json);
}

bool method_listen_prepare(struct rpc *rpc)
{
    const json_t *requested = json_object_get(rpc->params, "notifications");

    if (!json_is_object(requested))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.notifications is missing, or not an object");
    if (!rpc->exchange->headers.accepts_events)
        return rpc_fail(rpc, RPC_REFUSED, 406, "Accept must name text/event-stream");
    if (atomic_load(&rpc->exchange->loop->draining))
        return rpc_fail(rpc, RPC_REFUSED, 503, SERVER_STOPPING);
    return json_object_get(requested, "taskIds") == NULL || method_tasks_require(rpc);
}

bool method_listen_run(struct rpc *rpc)
{
    const json_t *requested = json_object_get(rpc->params, "notifications");
    struct honoured honoured;

    read_requested(rpc, requested, &honoured);
    read_tasks(rpc, requested, &honoured);
    acknowledge(rpc, &honoured);
    stream_set_closing_message_take(rpc->stream, closing_message(rpc));
    rpc->silent = true;
    return true;
}
