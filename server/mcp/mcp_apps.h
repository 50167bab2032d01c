/* SPDX-License-Identifier: Apache-2.0 */
/* MCP Apps, the extension io.modelcontextprotocol/ui: pages that a host shows with a tool's answer.
 * The server mentions them only to clients that declare the extension. */
#pragma once

#include "server/mcp/rpc.h"

#define APPS_EXTENSION "io.modelcontextprotocol/ui"
#define APPS_MIME_TYPE "text/html;profile=mcp-app"

/* Whether the client shows apps: it declares the extension, either without a list of MIME types or
 * with a list that contains APPS_MIME_TYPE. */
bool mcp_apps_known(const struct rpc *rpc);
/* Adds a comma and the member _meta to a tool's description; adds nothing for a tool without an
 * app. */
void mcp_apps_add_meta(const struct tool *tool, struct text *out);
