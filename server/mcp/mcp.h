/* SPDX-License-Identifier: Apache-2.0 */
/* The MCP endpoint: both protocol eras on one path, distinguished by each message and the
 * headers of its request. */
#pragma once

#include "server/http/routes.h"
#include "server/mcp/rpc.h"

struct exchange;

void mcp_get(struct exchange *exchange); /* a session's standing stream, or the rest of a call's */
void mcp_delete(struct exchange *exchange); /* ends a session */

/* Checks whether the era accepts the message, by its headers and envelope, and finds its session,
 * version and method, as far as it has them. False: rpc_fail was called. */
bool mcp_legacy_admit(struct rpc *rpc); /* mcp_legacy.c */
bool mcp_modern_admit(struct rpc *rpc); /* mcp_modern.c */

/* Makes the stream of a session's call resumable, if the client's revision supports that and the
 * principal may store more events. Call it before the first event; waits for the store. */
void mcp_streams_keep(struct rpc *rpc); /* mcp_streams.c */
/* Records the end of a resumable stream; does nothing for others. Call it after the last event. */
void mcp_streams_end(struct rpc *rpc);

/* For GET and DELETE: the session that the header names, with a reference; NULL: the request was
 * refused. */
struct session *mcp_legacy_session(struct exchange *exchange);
/* Refuses GET and DELETE of 2026-07-28 and later, which have neither. True: the request was
 * refused. */
bool mcp_legacy_refuse_modern(struct exchange *exchange);

/* The legacy revision of that name; NULL: it is not supported. `initialize` then offers
 * `mcp_legacy_latest`. */
const char *mcp_legacy_version(const char *name);
extern const char *const mcp_legacy_latest;
extern const char *const mcp_legacy_versions[]; /* ends with NULL */
/* Replies with a JSON-RPC error that answers no message in particular. */
void mcp_refuse(struct exchange *exchange, unsigned http_status, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The server's http_write_refusal (server/http/http.h): writes a JSON-RPC error. */
void mcp_write_refusal(unsigned status, const char *id, const char *message, struct text *out);

extern const struct route mcp_routes[]; /* their context: struct mcp_server */
