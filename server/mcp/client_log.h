/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for a client's log, sent on the stream of the request they are about. */
#pragma once

#include "handlers/tool.h"

struct rpc;

/* struct call's `log_take`, whatever the era; call->host is the struct rpc. */
void client_log_take(struct call *call, enum severity severity, const char *logger, json_t *data);
/* The level that a request of 2026-07-28 asks for in its envelope. False: rpc_fail. */
bool client_log_read(struct rpc *rpc);
bool client_log_set_level(struct rpc *rpc); /* logging/setLevel */
