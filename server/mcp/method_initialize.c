/* SPDX-License-Identifier: Apache-2.0 */
/* initialize and server/discover: the server's name, version and capabilities. */

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/http/exchange.h"
#include "server/mcp/mcp.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/mcp_task.h"
#include "server/mcp/methods.h"
#include "server/mcp/protocol.h"
#include "server/streams/session.h"

#define CLIENT_CAPABILITIES_BYTES_MAX 4096
#define SERVER_CAPABILITIES                                                                        \
    "\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true,\"listChanged\":true},"    \
    "\"prompts\":{\"listChanged\":true},\"completions\":{},\"logging\":{}"

/* The protocol version that the session will use. */
static const char *negotiated_version(const struct rpc *rpc)
{
    const char *requested = json_get_text(rpc->params, "protocolVersion", NULL);
    const char *version = requested != NULL ? mcp_legacy_version(requested) : NULL;

    return version != NULL ? version : mcp_legacy_latest;
}

static void add_text_member(struct text *out, const char *name, const char *value)
{
    text_addf(out, "\"%s\":", name);
    json_add_string(out, value, strlen(value));
}

bool method_initialize_run(struct rpc *rpc)
{
    const json_t *capabilities = json_object_get(rpc->params, "capabilities");
    const char *version = negotiated_version(rpc);
    FREE_AUTO char *stored = NULL;
    struct error error;

    if (json_get_text(rpc->params, "protocolVersion", NULL) == NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200,
                        "params.protocolVersion is missing, or not a string");
    rpc_client_name(json_object_get(rpc->params, "clientInfo"), rpc->client, sizeof rpc->client);
    stored = json_is_object(capabilities) ? json_write(capabilities) : memory_copy_text("{}");
    if (strlen(stored) > CLIENT_CAPABILITIES_BYTES_MAX)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.capabilities is longer than %d bytes",
                        CLIENT_CAPABILITIES_BYTES_MAX);
    if (!session_begin(rpc->server->sessions, rpc->exchange->principal.name, version, rpc->client,
                       stored, &rpc->session, &error))
        return rpc_fail_fault(rpc, "creating a session", &error);
    exchange_add_header(rpc->exchange, "Mcp-Session-Id", rpc->session->id);
    add_text_member(&rpc->result, "protocolVersion", version);
    text_add(&rpc->result, ",\"capabilities\":{" SERVER_CAPABILITIES "},\"serverInfo\":");
    text_add(&rpc->result, strcmp(version, "2025-11-25") >= 0 ? SERVER_DETAILS : SERVER_INFO);
    text_add_char(&rpc->result, ',');
    add_text_member(&rpc->result, "instructions", text_string(&rpc->server->instructions));
    return true;
}

bool method_initialize_discover_run(struct rpc *rpc)
{
    rpc->describes_server = true;
    text_add(&rpc->result, "\"supportedVersions\":[\"" MCP_MODERN_VERSION
                           "\"],\"capabilities\":{" SERVER_CAPABILITIES
                           ",\"extensions\":{\"" TASKS_EXTENSION "\":{}}},");
    add_text_member(&rpc->result, "instructions", text_string(&rpc->server->instructions));
    return true;
}
