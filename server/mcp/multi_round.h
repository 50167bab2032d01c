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
/* Whether the request has a valid state from an earlier round. */
bool multi_round_resumed(const struct rpc *rpc);
/* The nonce of the request's change; NULL: it is the first round. */
const char *multi_round_nonce(const struct rpc *rpc);

/* Begins a round, if the client is not in one; returns its nonce. */
const char *multi_round_begin(struct rpc *rpc);
/* The answers so far; INPUT_REQUIRED if one is missing, UNSUPPORTED if the client cannot be asked.
 */
CHECKED bool multi_round_ask(struct rpc *rpc, const struct question *questions, size_t count,
                             json_t **answers, struct error *error);
/* If the call failed only because of a question, makes that the request's answer: the question, or
 * the error that the client cannot be asked. False: it failed for another reason. */
bool multi_round_answer(struct rpc *rpc, const struct error *error);

/* If the request was already carried out, makes the earlier answer the request's answer. False: it
 * was not. Waits for the store. */
bool multi_round_repeat(struct rpc *rpc);
/* Stores the answer, in case the client repeats the same round. */
void multi_round_store_answer(struct rpc *rpc, const struct change *change);
