/* SPDX-License-Identifier: Apache-2.0 */
/* The modern era, revision 2026-07-28: every request has its version and method in its body and
 * repeats them in its headers, for proxies. */

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "server/http/exchange.h"
#include "server/mcp/client_log.h"
#include "server/mcp/header_value.h"
#include "server/mcp/mcp.h"
#include "server/mcp/methods.h"
#include "server/mcp/protocol.h"

static bool check_version(struct rpc *rpc)
{
    const char *header = rpc->exchange->headers.protocol_version;
    const char *claim = json_string_value(json_object_get(rpc_meta(rpc), MCP_META_VERSION));

    if (claim == NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 400,
                        "params._meta[\"" MCP_META_VERSION "\"] is missing, or not a string");
    if (header == NULL)
        return rpc_fail(rpc, RPC_HEADER_MISMATCH, 400,
                        "the header MCP-Protocol-Version is missing");
    if (strcmp(header, claim) != 0)
        return rpc_fail(rpc, RPC_HEADER_MISMATCH, 400,
                        "the header MCP-Protocol-Version is \"%.40s\", but the body says \"%.40s\"",
                        header, claim);
    if (strcmp(claim, MCP_MODERN_VERSION) == 0)
        return true;
    rpc->error_data =
        json_pack("{s:[s], s:s}", "supported", MCP_MODERN_VERSION, "requested", claim);
    return rpc_fail(rpc, RPC_UNSUPPORTED_VERSION, 400,
                    "protocol version \"%.40s\" is not supported", claim);
}

static bool check_envelope(struct rpc *rpc)
{
    const json_t *meta = rpc_meta(rpc);

    if (!json_is_object(json_object_get(meta, MCP_META_CAPABILITIES)))
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 400,
                        "params._meta[\"" MCP_META_CAPABILITIES "\"] is missing, or not an object");
    rpc_client_name(json_object_get(meta, MCP_META_CLIENT), rpc->client, sizeof rpc->client);
    return client_log_read(rpc);
}

/* Checks that a header repeats `expected`, a value from the body. */
static bool check_repeats(struct rpc *rpc, const char *name, const char *header,
                          const char *expected)
{
    FREE_AUTO char *value = NULL;

    if (header == NULL)
        return rpc_fail(rpc, RPC_HEADER_MISMATCH, 400, "the header %s is missing", name);
    if (header_value_is_plainly(header, expected))
        return true;
    value = header_value_decode(header);
    if (value == NULL)
        return rpc_fail(rpc, RPC_HEADER_MISMATCH, 400,
                        "the header %s is neither plain text nor =?base64?...?=", name);
    if (strcmp(value, expected) == 0)
        return true;
    return rpc_fail(rpc, RPC_HEADER_MISMATCH, 400,
                    "the header %s is \"%.80s\", but the body says \"%.80s\"", name, value,
                    expected);
}

static bool check_headers(struct rpc *rpc)
{
    const struct http_headers *headers = &rpc->exchange->headers;
    const char *named;

    if (!check_repeats(rpc, "Mcp-Method", headers->method, rpc->name))
        return false;
    if (rpc->method == NULL || rpc->method->named_by == NULL)
        return true;
    named = json_get_text(rpc->params, rpc->method->named_by, NULL);
    if (named == NULL)
        return rpc_fail(rpc, RPC_INVALID_PARAMS, 200, "params.%s is missing, or not a string",
                        rpc->method->named_by);
    return check_repeats(rpc, "Mcp-Name", headers->name, named);
}

bool mcp_modern_admit(struct rpc *rpc)
{
    if (rpc->kind == RPC_BROKEN)
        return false;
    rpc->version = MCP_MODERN_VERSION;
    if (rpc->kind == RPC_RESPONSE)
        return rpc_fail(rpc, RPC_INVALID_REQUEST, 400,
                        "clients must not post responses in revision " MCP_MODERN_VERSION);
    rpc->method = method_find(rpc->name, ERA_MODERN);
    if (rpc->kind == RPC_NOTIFICATION) {
        rpc->method = NULL;
        return true;
    }
    if (!check_version(rpc) || !check_envelope(rpc) || !check_headers(rpc))
        return false;
    if (rpc->method == NULL)
        return rpc_fail(rpc, RPC_METHOD_NOT_FOUND, 404, "there is no method \"%.80s\"", rpc->name);
    return true;
}
