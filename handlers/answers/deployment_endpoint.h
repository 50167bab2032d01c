/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoint of a deployment, ready to be called: with its model and its credential. */
#pragma once

#include "base/llm/failure.h"
#include "base/net/endpoint.h"
#include "handlers/services.h"
#include "store/ledger/deployments.h"

/* An endpoint with its credential; wiped when it goes out of scope. */
#define ENDPOINT_AUTO __attribute__((cleanup(deployment_endpoint_wipe))) struct endpoint
void deployment_endpoint_wipe(struct endpoint *endpoint);

/* Asks the server of an endpoint for its facts, which are also stored. UPSTREAM with the failure's
 * class if it does not answer; NOT_FOUND lists its models if it does not have the deployment's. */
CHECKED bool deployment_endpoint_ask(const struct services *services,
                                     const struct deployment *deployment, struct endpoint *endpoint,
                                     struct model_facts *facts, struct error *error);
/* The same, after address, model and credential were resolved now. */
CHECKED bool deployment_endpoint_discover(const struct services *services,
                                          const struct deployment *deployment,
                                          struct endpoint *endpoint, struct model_facts *facts,
                                          struct error *error);
/* Resolves them for fast calls: without asking the server if the model is already known. within_ms:
 * time limit for asking it. *failure: how the server failed; NONE if it was not asked. */
CHECKED bool deployment_endpoint(const struct services *services,
                                 const struct deployment *deployment, int64_t within_ms,
                                 struct endpoint *endpoint, enum failure *failure,
                                 struct error *error);
/* For a model that was not found: if the deployment uses the server's first model and that has
 * changed, fills in the endpoint again and returns true. */
bool deployment_endpoint_model_moved(const struct services *services,
                                     const struct deployment *deployment,
                                     struct endpoint *endpoint);
/* For a model that was not found: if the server lists its models, adds them to the sentence of
 * `error`. */
void deployment_endpoint_explain_missing(const struct services *services,
                                         const struct deployment *deployment, int64_t within_ms,
                                         struct error *error);
