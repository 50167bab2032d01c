/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a call's questions to its client. In a session, the questions are requests on the call's
 * stream, and the call waits for the answers. In revision 2026-07-28, the answers are taken from
 * the call's own request; if an answer is missing, the call ends with a result that contains the
 * open questions (multi_round.h). */
#pragma once

#include "handlers/tool.h"

struct rpc;
struct session;

/* The `ask` callback of struct call, for both protocol eras; call->host is the struct rpc. */
CHECKED bool client_request_ask(struct call *call, const struct question *questions, size_t count,
                                json_t **answers, struct error *error);
/* Handles a response that a client posted. If a call in the client's session is waiting for the
 * response, the call gets a copy of it; otherwise, the response is dropped. */
void client_request_handle_response(const struct rpc *rpc);
