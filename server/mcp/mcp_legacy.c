/* SPDX-License-Identifier: Apache-2.0 */
/* The legacy era: revisions 2024-11-05 to 2025-11-25, whose sessions begin with `initialize`. */

#include <string.h>

#include "server/http/exchange.h"
#include "server/mcp/mcp.h"
#include "server/mcp/mcp_server.h"
#include "server/mcp/methods.h"
#include "server/mcp/protocol.h"
#include "server/streams/session.h"

/* The version that the specification prescribes for a request that names none. */
#define DEFAULT_VERSION "2025-03-26"

const char *const mcp_legacy_versions[] = { "2025-11-25", "2025-06-18", DEFAULT_VERSION,
                                            "2024-11-05", NULL };
const char *const mcp_legacy_latest = "2025-11-25";

const char *mcp_legacy_version(const char *name)
{
    for (const char *const *version = mcp_legacy_versions; *version != NULL; version++)
        if (strcmp(*version, name) == 0)
            return *version;
    return NULL;
}

/* Finds the session, if it belongs to the request's principal. For other principals, it does not
 * exist. */
static bool find_session(struct rpc *rpc, const char *id)
{
    struct sessions *sessions = rpc->server->sessions;

    rpc->session = session_find(sessions, id, rpc->exchange->principal.name);
    if (rpc->session != NULL)
        return true;
    return rpc_fail(rpc, RPC_SESSION_NOT_FOUND, 404, "Session not found: initialize a new one");
}

static bool find_version(struct rpc *rpc)
{
    const char *header = rpc->exchange->headers.protocol_version;

    if (header != NULL && mcp_legacy_version(header) == NULL)
        return rpc_fail(
            rpc, RPC_REFUSED, 400,
            "MCP-Protocol-Version \"%.40s\" is not supported: use 2025-11-25, 2025-06-18, "
            "2025-03-26, 2024-11-05 or 2026-07-28 (which also requires members of params._meta)",
            header);
    if (rpc->session != NULL)
        rpc->version = rpc->session->version;
    else
        rpc->version = header != NULL ? mcp_legacy_version(header) : DEFAULT_VERSION;
    return true;
}

/* A request without a session is served as well, unless its method needs a session. */
bool mcp_legacy_admit(struct rpc *rpc)
{
    const char *session = rpc->exchange->headers.session;

    if (rpc->kind == RPC_BROKEN)
        return false;
    rpc->method = rpc->kind == RPC_RESPONSE ? NULL : method_find(rpc->name, ERA_LEGACY);
    if (rpc->kind == RPC_REQUEST && strcmp(rpc->name, "initialize") == 0)
        return true;
    if (session != NULL && !find_session(rpc, session))
        return false;
    if (!find_version(rpc))
        return false;
    if (rpc->session != NULL)
        text_copy(rpc->client, sizeof rpc->client, rpc->session->client);
    if (rpc->kind == RPC_REQUEST && (rpc->method == NULL || rpc->method->notification))
        return rpc_fail(rpc, RPC_METHOD_NOT_FOUND, 200, "there is no method \"%.80s\"", rpc->name);
    if (rpc->kind == RPC_NOTIFICATION && rpc->method != NULL && !rpc->method->notification)
        rpc->method = NULL; /* ignored: without an id, no answer is expected */
    return true;
}

/* ---- GET and DELETE ---- */

struct session *mcp_legacy_session(struct exchange *exchange)
{
    const struct mcp_server *server = exchange->context;
    const char *id = exchange->headers.session;
    struct session *session;

    if (id == NULL) {
        mcp_refuse(exchange, 400, RPC_REFUSED, "the header Mcp-Session-Id is missing");
        return NULL;
    }
    session = session_find(server->sessions, id, exchange->principal.name);
    if (session == NULL)
        mcp_refuse(exchange, 404, RPC_SESSION_NOT_FOUND, "Session not found");
    return session;
}

bool mcp_legacy_refuse_modern(struct exchange *exchange)
{
    const char *version = exchange->headers.protocol_version;

    if (version == NULL || strcmp(version, MCP_MODERN_VERSION) < 0)
        return false;
    exchange_add_header(exchange, "Allow", "POST");
    mcp_refuse(exchange, 405, RPC_REFUSED, "revision " MCP_MODERN_VERSION " supports only POST");
    return true;
}

static void release_session(void *session)
{
    session_release(session);
}

static void end_session(struct exchange *exchange)
{
    const struct mcp_server *server = exchange->context;
    struct error error;

    if (!exchange_may_continue(exchange))
        mcp_refuse(
            exchange, 401, RPC_REFUSED,
            "nothing was done: the caller is no longer authorized, perhaps because its API key "
            "expired, was revoked or has a lower role now");
    else if (session_end(server->sessions, exchange->request, "ended by its client", &error))
        exchange_reply(exchange, 200, NULL, NULL);
    else
        exchange_refuse_fault(exchange, "ending a session", &error);
}

void mcp_delete(struct exchange *exchange)
{
    const struct mcp_server *server = exchange->context;
    struct session *session;
    struct error error;

    if (mcp_legacy_refuse_modern(exchange))
        return;
    session = mcp_legacy_session(exchange);
    if (session == NULL)
        return;
    exchange->request = session;
    exchange->request_finish = release_session;
    if (!exchange_submit(exchange, server->workers, end_session, &error))
        mcp_refuse(exchange, exchange->over_limit ? 429 : 503, RPC_REFUSED, "%s", error.message);
}
