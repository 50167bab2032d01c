/* SPDX-License-Identifier: Apache-2.0 */
/* Requests in several rounds (2026-07-28): the server asks the client by a result, and the client
 * repeats its request with the answer. */
#pragma once

#include "handlers/tool.h"

struct rpc;
struct multi_round;

void multi_round_free(struct multi_round *multi_round); /* NULL is fine */

/* Reads params.inputResponses and params.requestState, if present; `name`: that of the tool or
 * prompt, or the URI. False: rpc_fail was called. */
bool multi_round_read(struct rpc *rpc, const char *name);
/* Whether the client came back with a valid state. */
bool multi_round_resumed(const struct rpc *rpc);
/* The nonce of the request's change; NULL: it is the first round. */
const char *multi_round_nonce(const struct rpc *rpc);

/* Begins a round, if the client is not in one; returns its nonce. */
const char *multi_round_begin(struct rpc *rpc);
/* The answers so far; INPUT_REQUIRED if one is missing, UNSUPPORTED if the client cannot be asked.
 */
CHECKED bool multi_round_ask(struct rpc *rpc, const struct question *questions, size_t count,
                             json_t **answers, struct error *error);
/* Whether the call only failed because of a question, even one that could not be asked; then that
 * is now the answer. */
bool multi_round_answer(struct rpc *rpc, const struct error *error);

/* Whether the request was already carried out; then its answer is now the answer. Waits for the
 * store. */
bool multi_round_repeat(struct rpc *rpc);
/* Stores the answer, in case the client repeats the same round. */
void multi_round_store_answer(struct rpc *rpc, const struct change *change);
