/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoint of a deployment, ready to be called: with its model and its credential. */
#pragma once

#include "base/llm/failure.h"
#include "base/net/endpoint.h"
#include "handlers/tool.h"
#include "store/ledger/deployments.h"

/* An endpoint with its credential; wiped when it goes out of scope. */
#define ENDPOINT_AUTO __attribute__((cleanup(deployment_endpoint_wipe))) struct endpoint
void deployment_endpoint_wipe(struct endpoint *endpoint);

/* How many milliseconds of the call's argument `timeout_s` are left, if the call began at
 * `since_ns` (monotonic); at least 1. */
int64_t deployment_endpoint_left_ms(const struct call *call, int64_t since_ns);

/* Asks the server at `endpoint` for its facts, and stores them. Fills in endpoint->model if the
 * deployment names none. UPSTREAM: the server does not answer, or has no model. NOT_FOUND: it does
 * not have the deployment's model; the error names models that it has. */
CHECKED bool deployment_endpoint_ask(const struct services *services,
                                     const struct deployment *deployment, struct endpoint *endpoint,
                                     struct model_facts *facts, struct error *error);
/* Fills in the endpoint from the deployment, then does what deployment_endpoint_ask does. */
CHECKED bool deployment_endpoint_discover(const struct services *services,
                                          const struct deployment *deployment,
                                          struct endpoint *endpoint, struct model_facts *facts,
                                          struct error *error);
/* Fills in the endpoint. If the deployment names no model, the model is the server's first one, as
 * the stored facts name it; if none are stored about the deployment's current revision, asks the
 * server, within `within_ms`. *failure: how the server failed; NONE if it did not, or was not
 * asked. */
CHECKED bool deployment_endpoint(const struct services *services,
                                 const struct deployment *deployment, int64_t within_ms,
                                 struct endpoint *endpoint, enum failure *failure,
                                 struct error *error);
/* Call it when the server did not find the model. If the deployment uses the server's first model,
 * and a different model is first now, fills in the endpoint again and returns true. */
bool deployment_endpoint_model_moved(const struct services *services,
                                     const struct deployment *deployment,
                                     struct endpoint *endpoint);
/* Call it when the server did not find the model. If the deployment names a model, asks the server
 * for its models, within `within_ms`; if the list lacks that model, `error` becomes a sentence that
 * names models of the list. */
void deployment_endpoint_explain_missing(const struct services *services,
                                         const struct deployment *deployment, int64_t within_ms,
                                         struct error *error);
