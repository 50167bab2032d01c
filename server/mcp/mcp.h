/* SPDX-License-Identifier: Apache-2.0 */
/* The MCP endpoint. It serves both protocol eras (rpc.h) on one path: each message, with the
 * headers of its request, shows which era it belongs to. */
#pragma once

#include "server/http/routes.h"
#include "server/mcp/rpc.h"

struct exchange;

/* opens a session's long-lived stream, or resumes a stream */
void mcp_get(struct exchange *exchange);
void mcp_delete(struct exchange *exchange); /* ends a session */

/* Checks the message's headers and envelope by the rules of its era, and finds its session, version
 * and method, if it has them. False: rpc_fail was called. */
bool mcp_legacy_admit(struct rpc *rpc); /* mcp_legacy.c */
bool mcp_modern_admit(struct rpc *rpc); /* mcp_modern.c */

/* Makes the stream of a session's call resumable, if the client's revision supports that and the
 * principal may store more events. Call it before the first event is sent. Waits for the store. */
void mcp_streams_keep(struct rpc *rpc); /* mcp_streams.c */
/* Records the end of a resumable stream; does nothing for other streams. Call it after the last
 * event. */
void mcp_streams_end(struct rpc *rpc);

/* For GET and DELETE: the session that the header Mcp-Session-Id names, with a reference; NULL: the
 * request was refused. */
struct session *mcp_legacy_session(struct exchange *exchange);
/* Refuses GET and DELETE in revision 2026-07-28 and later, which use only POST. True: the request
 * was refused. */
bool mcp_legacy_refuse_modern(struct exchange *exchange);

/* The legacy revision with this name; NULL: it is not supported, and `initialize` offers
 * `mcp_legacy_latest` instead. */
const char *mcp_legacy_version(const char *name);
extern const char *const mcp_legacy_latest;
extern const char *const mcp_legacy_versions[]; /* ends with NULL */
/* Replies with a JSON-RPC error that has no id, because it answers no particular message. */
void mcp_refuse(struct exchange *exchange, unsigned http_status, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The server's http_write_refusal callback (server/http/http.h): writes a JSON-RPC error. */
void mcp_write_refusal(unsigned status, const char *id, const char *message, struct text *out);

extern const struct route mcp_routes[]; /* their context is the struct mcp_server */
