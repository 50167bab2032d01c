/* SPDX-License-Identifier: Apache-2.0 */
#include "server/mcp/client_log.h"

#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/protocol.h"
#include "server/mcp/rpc.h"
#include "server/streams/session.h"
#include "server/streams/stream.h"

static const char *const names[] = {
    [SEVERITY_DEBUG] = "debug",   [SEVERITY_INFO] = "info",
    [SEVERITY_NOTICE] = "notice", [SEVERITY_WARNING] = "warning",
    [SEVERITY_ERROR] = "error",   [SEVERITY_CRITICAL] = "critical",
    [SEVERITY_ALERT] = "alert",   [SEVERITY_EMERGENCY] = "emergency",
};

#define ALL_NAMES "debug, info, notice, warning, error, critical, alert, emergency"

static bool find(const json_t *name, enum severity *out)
{
    for (size_t i = 0; json_is_string(name) && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], json_string_value(name)) == 0) {
            *out = (enum severity)i;
            return true;
        }
    return false;
}

bool client_log_read(struct rpc *rpc)
{
    const json_t *level = json_object_get(rpc_meta(rpc), MCP_META_LOG_LEVEL);

    rpc->wants_logs = level != NULL;
    return level == NULL || find(level, &rpc->log_level)
           || rpc_fail(rpc, RPC_INVALID_PARAMS, 400,
                       "params._meta[\"" MCP_META_LOG_LEVEL "\"] must be one of " ALL_NAMES);
}

bool client_log_set_level(struct rpc *rpc)
{
    enum severity level;
    struct error error;

    if (!find(json_object_get(rpc->params, "level"), &level))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "\"level\" must be one of " ALL_NAMES);
    if (rpc->session == NULL)
        return true;
    if (!session_set_log_level(rpc->server->services->store, rpc->session->id, level, &error))
        return rpc_fail_fault(rpc, "log level", &error);
    atomic_store(&rpc->session->log_level, (int)level);
    return true;
}

/* In protocol version 2026-07-28, a request gets log messages only if it names a level. In earlier
 * versions (the legacy era), a client gets messages at SESSION_LOG_LEVEL and above until it sets
 * another level. */
static bool is_wanted(const struct rpc *rpc, enum severity severity)
{
    struct stream *stream = rpc->stream;

    if (stream == NULL || atomic_load(&rpc->call.cancelled))
        return false;
    if (rpc->era == ERA_MODERN)
        return rpc->wants_logs && severity >= rpc->log_level && stream_has_room(stream);
    return (int)severity >= (rpc->session != NULL ? atomic_load(&rpc->session->log_level)
                                                  : (int)SESSION_LOG_LEVEL)
           && stream_has_room(stream);
}

void client_log_take(struct call *call, enum severity severity, const char *logger, json_t *data)
{
    const struct rpc *rpc = call->host;
    json_auto_t *owned = data;
    json_auto_t *message = NULL;
    FREE_AUTO char *json = NULL;

    if (!is_wanted(rpc, severity))
        return;
    message = json_pack("{s:s, s:s, s:{s:s, s:s*, s:O}}", "jsonrpc", "2.0", "method",
                        "notifications/message", "params", "level", names[severity], "logger",
                        logger, "data", owned);
    json = json_write(message);
    stream_push(rpc->stream, json, strlen(json));
}
