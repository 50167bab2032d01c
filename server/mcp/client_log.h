/* SPDX-License-Identifier: Apache-2.0 */
/* Sends log messages to a client, on the stream of the request that they are about. */
#pragma once

#include "handlers/tool.h"

struct rpc;

/* The `log_take` callback of struct call, for all protocol versions; call->host is the struct
 * rpc. */
void client_log_take(struct call *call, enum severity severity, const char *logger, json_t *data);
/* Reads the log level that a request of protocol version 2026-07-28 asks for in its `_meta`. False:
 * rpc_fail was called. */
bool client_log_read(struct rpc *rpc);
/* Runs the method logging/setLevel. False: rpc_fail was called. */
bool client_log_set_level(struct rpc *rpc);
