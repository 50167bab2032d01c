/* SPDX-License-Identifier: Apache-2.0 */
/* A deployment's endpoint, ready to be called: with the model and the credential filled in. */
#pragma once

#include "base/llm/failure.h"
#include "base/net/endpoint.h"
#include "handlers/tool.h"
#include "store/ledger/deployments.h"

/* An endpoint with its credential; wiped when it goes out of scope. */
#define ENDPOINT_AUTO __attribute__((cleanup(deployment_endpoint_wipe))) struct endpoint
void deployment_endpoint_wipe(struct endpoint *endpoint);

/* Returns how many milliseconds are left of the call's argument `timeout_s`, but at least 1.
 * `since_ns`: when the call began, on the monotonic clock. */
int64_t deployment_endpoint_left_ms(const struct call *call, int64_t since_ns);

/* Queries the server at `endpoint` for the facts about its model and engine, and stores them. Fills
 * in endpoint->model if the deployment names no model. UPSTREAM: the server does not answer, or has
 * no model. NOT_FOUND: the server does not have the deployment's model; the error names models that
 * it has. */
CHECKED bool deployment_endpoint_ask(const struct services *services,
                                     const struct deployment *deployment, struct endpoint *endpoint,
                                     struct model_facts *facts, struct error *error);
/* Fills in the endpoint from the deployment, then does what deployment_endpoint_ask does. */
CHECKED bool deployment_endpoint_discover(const struct services *services,
                                          const struct deployment *deployment,
                                          struct endpoint *endpoint, struct model_facts *facts,
                                          struct error *error);
/* Fills in the endpoint. If the deployment names no model, takes the server's first model from the
 * stored facts; if no facts are stored for the deployment's current revision, queries the server,
 * for at most `within_ms` (0: as in engine_probe). *failure: how the server failed; NONE if it did
 * not fail, or was not queried. */
CHECKED bool deployment_endpoint(const struct services *services,
                                 const struct deployment *deployment, int64_t within_ms,
                                 struct endpoint *endpoint, enum failure *failure,
                                 struct error *error);
/* To be called when the server did not find the model. If the deployment uses the server's first
 * model, and a different model is first now, fills in the endpoint again and returns true. */
bool deployment_endpoint_model_moved(const struct services *services,
                                     const struct deployment *deployment,
                                     struct endpoint *endpoint);
/* To be called when the server did not find the model. If the deployment names a model, requests
 * the server's list of models, within `within_ms` (0: as in engine_probe). If that model is not in
 * the list, `error` becomes a message that names models in the list. */
void deployment_endpoint_explain_missing(const struct services *services,
                                         const struct deployment *deployment, int64_t within_ms,
                                         struct error *error);
