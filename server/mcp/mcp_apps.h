/* SPDX-License-Identifier: Apache-2.0 */
/* MCP Apps, the extension io.modelcontextprotocol/ui: pages that a host shows with a tool's answer.
 * The server mentions them only to clients that declare the extension. */
#pragma once

#include "server/mcp/rpc.h"

#define APPS_EXTENSION "io.modelcontextprotocol/ui"
#define APPS_MIME_TYPE "text/html;profile=mcp-app"

/* Whether the client shows apps: it declares the extension, without a list of types, or with one
 * that has APPS_MIME_TYPE. */
bool mcp_apps_known(const struct rpc *rpc);
/* Adds the member _meta of a tool's description, after a comma; nothing for tools without an app.
 */
void mcp_apps_add_meta(const struct tool *tool, struct text *out);
