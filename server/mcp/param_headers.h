/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a tool that clients repeat in headers Mcp-Param-* (2026-07-28), so that a proxy can
 * route by them: those that the tool's input schema marks with "x-mcp-header". */
#pragma once

#include <stdbool.h>

struct param_headers;
struct rpc;
struct tool;

struct param_headers *param_headers_create(const struct tool *tool); /* NULL: it has none */
void param_headers_destroy(struct param_headers *headers);           /* NULL is fine */
/* Whether the request's headers agree with params.arguments. False: rpc_fail was called. On the
 * HTTP thread. */
bool param_headers_check(const struct param_headers *headers, struct rpc *rpc); /* NULL is fine */
