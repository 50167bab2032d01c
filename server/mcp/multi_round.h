/* SPDX-License-Identifier: Apache-2.0 */
/* Requests in several rounds (2026-07-28): the server's result has questions for the client, which
 * repeats its request with the answers. */
#pragma once

#include "handlers/tool.h"

struct rpc;
struct multi_round;

void multi_round_free(struct multi_round *multi_round); /* NULL is fine */

/* Reads params.inputResponses and params.requestState, if present. `name`: the name of the tool or
 * prompt, or the URI. False: rpc_fail was called. */
bool multi_round_read(struct rpc *rpc, const char *name);
/* Whether the request has a valid state from an earlier round. Call it before multi_round_begin. */
bool multi_round_resumed(const struct rpc *rpc);
/* The nonce, which is the same in all rounds of the request; NULL: it has none yet. */
const char *multi_round_nonce(const struct rpc *rpc);

/* Returns the nonce; makes one if the request has none yet. */
const char *multi_round_begin(struct rpc *rpc);
/* *answers: a new object with the answer to each question, by its key. INPUT_REQUIRED: an answer is
 * missing. UNSUPPORTED: the client cannot be asked. INVALID: an answer has the wrong form. */
CHECKED bool multi_round_ask(struct rpc *rpc, const struct question *questions, size_t count,
                             json_t **answers, struct error *error);
/* If the call failed because a question is open, answers the request with the open questions, or
 * with an error if the answers so far are too long for the state; if it failed because the client
 * cannot be asked, with an error that names the missing capabilities. False: it failed for a
 * different reason, and the request is not answered. */
bool multi_round_answer(struct rpc *rpc, const struct error *error);

/* If the request was already carried out, answers it with the earlier answer, or with an error if
 * that is not stored. If the store fails, answers it with an error. False: it was not carried out.
 * Waits for the store and, for a few seconds, for the earlier request, if it is still running. */
bool multi_round_repeat(struct rpc *rpc);
/* Stores the answer, unless it is too long, in case the client repeats the same round. Does nothing
 * if the request has no nonce, or the call changed nothing. */
void multi_round_store_answer(struct rpc *rpc, const struct change *change);
