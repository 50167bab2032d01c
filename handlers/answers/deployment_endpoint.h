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

/* Address, model and credential now, and what the server says of itself now, which is also noted in
 * the store. UPSTREAM with the failure's class when it does not answer; NOT_FOUND names its models
 * when it has not the deployment's. */
CHECKED bool deployment_endpoint_discover(const struct services *services,
                                          const struct deployment *deployment,
                                          struct endpoint *endpoint, struct model_facts *facts,
                                          struct error *error);
/* The same without asking the server where the model is known already: for what is to be quick.
 * within_ms: all that asking it may take. *failure: how the server failed; NONE where it was not
 * asked. */
CHECKED bool deployment_endpoint(const struct services *services,
                                 const struct deployment *deployment, int64_t within_ms,
                                 struct endpoint *endpoint, enum failure *failure,
                                 struct error *error);
/* After a model was not found: where the deployment means the server's first model, and that is
 * another one by now, true with the endpoint filled in anew. */
bool deployment_endpoint_model_moved(const struct services *services,
                                     const struct deployment *deployment,
                                     struct endpoint *endpoint);
/* After the model that a deployment names was not found: where the server lists its models, `error`
 * becomes the sentence that says which it serves. */
void deployment_endpoint_explain_missing(const struct services *services,
                                         const struct deployment *deployment, int64_t within_ms,
                                         struct error *error);
