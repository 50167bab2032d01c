/* SPDX-License-Identifier: Apache-2.0 */
/* Forms for clients that cannot show them but can open URLs (elicitation in mode "url"): the user
 * fills them in on this server's own page /ask/ID. */
#pragma once

#include "handlers/tool.h"

struct rpc;

/* Whether the client can open URLs but not show forms, and the address of the pages is known. */
bool url_elicitation_is_needed(const struct rpc *rpc);

/* A function that behaves like call->ask: it asks the client as the protocol era requires. */
CHECKED typedef bool url_elicitation_asks(struct rpc *rpc, const struct question *questions,
                                          size_t count, json_t **answers, struct error *error);
/* For every form, asks the client to open the form's page and, if the user agrees, waits for the
 * answer from the page: *answers are the same as if the client had shown the form. Other questions
 * are sent to the client unchanged. Fails as `ask` does, and also with TIMEOUT or CANCELLED if the
 * wait ends without an answer. */
CHECKED bool url_elicitation_ask(struct rpc *rpc, url_elicitation_asks *ask,
                                 const struct question *questions, size_t count, json_t **answers,
                                 struct error *error);
