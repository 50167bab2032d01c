/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests to a session's client, during a call and on its stream. */
#pragma once

#include "handlers/tool.h"

struct rpc;
struct session;

/* The `ask` of struct call, in every era; call->host is the struct rpc. */
CHECKED bool client_request_ask(struct call *call, const struct question *questions, size_t count,
                                json_t **answers, struct error *error);
/* Passes a response that a client posted to the waiting call of its session; a response that no
 * call waits for is dropped. Does not keep the message. */
void client_request_handle_response(const struct rpc *rpc);
