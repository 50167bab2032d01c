/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the client of a call. With sessions, this sends requests on the call's stream and waits for
 * the answers; in 2026-07-28, it takes the answers from the call's request or, if one is missing,
 * ends the call with an answer that has the questions (multi_round.h). */
#pragma once

#include "handlers/tool.h"

struct rpc;
struct session;

/* The `ask` of struct call, in every era; call->host is the struct rpc. */
CHECKED bool client_request_ask(struct call *call, const struct question *questions, size_t count,
                                json_t **answers, struct error *error);
/* Handles a response that a client posted: passes it to the call of the client's session that waits
 * for it, or drops it if none does. Does not keep the message. */
void client_request_handle_response(const struct rpc *rpc);
