/* SPDX-License-Identifier: Apache-2.0 */
/* Requests in several rounds (revision 2026-07-28): the server's result contains questions for the
 * client, which repeats its request with the answers. */
#pragma once

#include "handlers/tool.h"

struct rpc;
struct multi_round;

void multi_round_free(struct multi_round *multi_round); /* NULL is fine */

/* Reads params.inputResponses and params.requestState, if present. `name` is the name of the tool
 * or prompt, or the URI of the resource. False: rpc_fail was called. */
bool multi_round_read(struct rpc *rpc, const char *name);
/* Whether the request has a valid state from an earlier round. Call it before multi_round_begin. */
bool multi_round_resumed(const struct rpc *rpc);
/* The request's nonce, which is the same in all rounds; NULL: the request has none yet. */
const char *multi_round_nonce(const struct rpc *rpc);

/* Returns the nonce; makes one if the request has none yet. */
const char *multi_round_begin(struct rpc *rpc);
/* *answers: a new object with the answer to each question, by its key. INPUT_REQUIRED: an answer is
 * missing. UNSUPPORTED: the client cannot be asked. INVALID: an answer has the wrong form. */
CHECKED bool multi_round_ask(struct rpc *rpc, const struct question *questions, size_t count,
                             json_t **answers, struct error *error);
/* Answers the request if its call failed because a question is open or because the client cannot be
 * asked. In the first case, the answer has the open questions, or is an error if the answers so far
 * are too long for the state. In the second case, it is an error that names the missing
 * capabilities. False: the call failed for a different reason, and the request is not answered. */
bool multi_round_answer(struct rpc *rpc, const struct error *error);

/* If the request was already carried out, answers it with the stored answer, or with an error if
 * none is stored. If the store fails, answers it with an error. False: the request was not carried
 * out yet. Waits for the store and, for a few seconds, for the earlier request if that is still
 * running. */
bool multi_round_repeat(struct rpc *rpc);
/* Stores the answer, unless it is too long, in case the client repeats the same round. Does nothing
 * if the request has no nonce, or the call changed nothing. */
void multi_round_store_answer(struct rpc *rpc, const struct change *change);
