/* SPDX-License-Identifier: Apache-2.0 */
/* Requests in several rounds (2026-07-28): a question to the client is a result of its own, and the
 * client repeats its request with the answer. */
#pragma once

#include "handlers/tool.h"

struct rpc;
struct multi_round;

void multi_round_free(struct multi_round *multi_round); /* NULL is fine */

/* Reads params.inputResponses and params.requestState, where there are any; `name`: of the tool or
 * prompt, or the URI. False: rpc_fail. */
bool multi_round_read(struct rpc *rpc, const char *name);
/* Did the client come back, with a state of ours? */
bool multi_round_resumed(const struct rpc *rpc);
/* Its own among the changes it leads to; NULL: it is a first round. */
const char *multi_round_nonce(const struct rpc *rpc);

/* The answers that came; INPUT_REQUIRED where one is missing, UNSUPPORTED where the client cannot
 * be asked. */
CHECKED bool multi_round_ask(struct rpc *rpc, const struct question *questions, size_t count,
                             json_t **answers, struct error *error);
/* Was a failure no failure, but a question or one that could not be asked? Then that is now the
 * answer. */
bool multi_round_answer(struct rpc *rpc, const struct error *error);

/* Was the request carried out before? Then its answer is now the answer. Blocks on the store. */
bool multi_round_repeat(struct rpc *rpc);
/* Stores the answer for repetitions of the same round. */
void multi_round_settle(struct rpc *rpc, const struct change *change);
