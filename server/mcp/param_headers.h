/* SPDX-License-Identifier: Apache-2.0 */
/* Tool arguments that clients repeat in Mcp-Param-* headers, so that a proxy can route by them
 * (revision 2026-07-28). The tool's input schema marks these arguments with "x-mcp-header". */
#pragma once

#include <stdbool.h>

struct param_headers;
struct rpc;
struct tool;

/* NULL: the tool has no such arguments. */
struct param_headers *param_headers_create(const struct tool *tool);
void param_headers_destroy(struct param_headers *headers); /* NULL is fine */
/* Whether the request's headers agree with params.arguments. False: rpc_fail was called. Call it on
 * the HTTP thread. */
bool param_headers_check(const struct param_headers *headers, struct rpc *rpc); /* NULL is fine */
