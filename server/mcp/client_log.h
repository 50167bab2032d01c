/* SPDX-License-Identifier: Apache-2.0 */
/* Sends messages for a client's log on the stream of the request that they are about. */
#pragma once

#include "handlers/tool.h"

struct rpc;

/* The `log_take` of struct call, in every era; call->host is the struct rpc. */
void client_log_take(struct call *call, enum severity severity, const char *logger, json_t *data);
/* Reads the level that a request of 2026-07-28 asks for in its envelope. False: rpc_fail was
 * called. */
bool client_log_read(struct rpc *rpc);
bool client_log_set_level(struct rpc *rpc); /* logging/setLevel */
