/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a call's questions to its client. In a session, the questions are requests on the call's
 * stream, and the call waits for the answers. In revision 2026-07-28, the answers are taken from
 * the call's own request; if one is missing, the call ends with a result that contains the
 * questions (multi_round.h). */
#pragma once

#include "handlers/tool.h"

struct rpc;
struct session;

/* The `ask` callback of struct call, for both protocol eras; call->host is the struct rpc. */
CHECKED bool client_request_ask(struct call *call, const struct question *questions, size_t count,
                                json_t **answers, struct error *error);
/* Handles a response that a client posted: passes a copy of it to the call in the client's session
 * that waits for it, or drops the response if no call does. */
void client_request_handle_response(const struct rpc *rpc);
