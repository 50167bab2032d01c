/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/methods.h"

#include <string.h>

#include "base/core/memory.h"
#include "server/mcp/client_log.h"
#include "server/streams/session.h"

#define BOTH (ERA_LEGACY | ERA_MODERN)
#define CACHE_MS 300000 /* how long a client may cache answers that seldom change */

static bool answer_empty(struct rpc *rpc)
{
    (void)rpc;
    return true;
}

/* Cancels a call only if it belongs to the same session: clients choose the ids of their requests,
 * and two clients might choose the same id. */
static bool cancel(struct rpc *rpc)
{
    FREE_AUTO char *id = rpc_token(json_object_get(rpc->params, "requestId"));

    if (rpc->session != NULL && id != NULL)
        session_cancel_call(rpc->session, id);
    return true;
}

const struct method methods[] = {
    { "initialize", ERA_LEGACY, .placement = PLACE_WORKER, .run = method_initialize_run },
    { "ping", ERA_LEGACY, .placement = PLACE_INLINE, .run = answer_empty },
    { "logging/setLevel", ERA_LEGACY, .placement = PLACE_WORKER, .run = client_log_set_level },
    { "server/discover", ERA_MODERN, .placement = PLACE_INLINE, .cacheable = true,
      .ttl_ms = CACHE_MS, .run = method_initialize_discover_run },
    { "tools/list", BOTH, .placement = PLACE_INLINE, .cacheable = true, .ttl_ms = CACHE_MS,
      .prepare = method_tools_list_prepare, .run = method_tools_list_run },
    { "tools/call", BOTH, .placement = PLACE_WORKER, .named_by = "name",
      .prepare = method_tools_call_prepare, .run = method_tools_call_run },
    { "resources/list", BOTH, .cacheable = true, .placement = PLACE_WORKER,
      .run = method_resources_list_run },
    { "resources/templates/list", BOTH, .placement = PLACE_INLINE, .cacheable = true,
      .ttl_ms = CACHE_MS, .run = method_resources_templates_run },
    { "resources/read", BOTH, .placement = PLACE_WORKER, .cacheable = true, .named_by = "uri",
      .prepare = method_resources_read_prepare, .run = method_resources_read_run },
    { "resources/subscribe", ERA_LEGACY, .placement = PLACE_WORKER,
      .run = method_resources_subscribe_run },
    { "resources/unsubscribe", ERA_LEGACY, .placement = PLACE_WORKER,
      .run = method_resources_unsubscribe_run },
    { "prompts/list", BOTH, .placement = PLACE_INLINE, .cacheable = true, .ttl_ms = CACHE_MS,
      .run = method_prompts_list_run },
    { "prompts/get", BOTH, .placement = PLACE_WORKER, .named_by = "name",
      .run = method_prompts_get_run },
    { "completion/complete", BOTH, .placement = PLACE_WORKER, .run = method_completion_run },
    { "tasks/get", ERA_MODERN, .placement = PLACE_WORKER, .named_by = "taskId",
      .prepare = method_tasks_require, .run = method_tasks_get_run },
    { "tasks/update", ERA_MODERN, .placement = PLACE_WORKER, .named_by = "taskId",
      .prepare = method_tasks_require, .run = method_tasks_update_run },
    { "tasks/cancel", ERA_MODERN, .placement = PLACE_WORKER, .named_by = "taskId",
      .prepare = method_tasks_require, .run = method_tasks_cancel_run },
    { "subscriptions/listen", ERA_MODERN, .placement = PLACE_WORKER, .long_lived = true,
      .prepare = method_listen_prepare, .run = method_listen_run },
    { "notifications/initialized", ERA_LEGACY, .placement = PLACE_INLINE, .notification = true,
      .run = answer_empty },
    { "notifications/cancelled", ERA_LEGACY, .placement = PLACE_INLINE, .notification = true,
      .run = cancel },
    { 0 },
};

bool methods_check(const struct method *table, struct error *error)
{
    for (; table->name != NULL; table++)
        if (table->placement == 0 || table->eras == 0)
            return error_set(error, ERROR_INTERNAL, "the method %s has no %s", table->name,
                             table->eras == 0 ? "era" : "placement");
    return true;
}

const struct method *method_find(const char *name, enum era era)
{
    for (const struct method *method = methods; method->name != NULL; method++)
        if ((method->eras & era) != 0 && strcmp(method->name, name) == 0)
            return method;
    return NULL;
}
