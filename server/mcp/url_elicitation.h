/* SPDX-License-Identifier: Apache-2.0 */
/* Forms for a client that shows none, but opens pages (elicitation in mode "url"): a person fills
 * them in at this server's own page /ask/ID. */
#pragma once

#include "handlers/tool.h"

struct rpc;

/* Whether this is such a client, and the address of the pages is known. */
bool url_elicitation_is_needed(const struct rpc *rpc);

/* How the era asks a client; as call->ask. */
CHECKED typedef bool url_elicitation_asks(struct rpc *rpc, const struct question *questions,
                                          size_t count, json_t **answers, struct error *error);
/* Asks for every form by a link to its page, and waits until it is filled in: *answers are as if
 * the client had shown it. Other questions go to the client as they are. */
CHECKED bool url_elicitation_ask(struct rpc *rpc, url_elicitation_asks *ask,
                                 const struct question *questions, size_t count, json_t **answers,
                                 struct error *error);
