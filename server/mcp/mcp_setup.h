/* SPDX-License-Identifier: Apache-2.0 */
/* Sets up and frees a struct mcp_server, including what it keeps for each tool. */
#pragma once

#include "base/core/error.h"

struct mcp_server;
struct param_headers;
struct telemetry;
struct telemetry_row;
struct tool;

/* Completes a struct whose borrowed members are set; `instructions` is copied. Free with
 * mcp_setup_finish, even after a failure. */
CHECKED bool mcp_setup(struct mcp_server *server, struct telemetry *telemetry,
                       const char *instructions, struct error *error);
void mcp_setup_finish(struct mcp_server *server); /* also works on a zeroed struct */

/* NULL: there is no such tool. */
const struct tool *mcp_setup_find_tool(const struct mcp_server *server, const char *name);
/* The next two functions return what the server keeps for one of its tools, borrowed. The tool's
 * param_headers are NULL if headers repeat none of its arguments. */
const struct param_headers *mcp_setup_param_headers(const struct mcp_server *server,
                                                    const struct tool *tool);
struct telemetry_row *mcp_setup_tool_row(const struct mcp_server *server, const struct tool *tool);
