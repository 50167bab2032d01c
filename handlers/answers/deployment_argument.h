/* The deployment that a call is about: found by its registered name, shown, and asked how it is. */
#pragma once

#include "base/llm/failure.h"
#include "base/net/endpoint.h"
#include "handlers/answer.h"
#include "store/ledger/deployments.h"

#define PARAM_DEPLOYMENT                                                                           \
    {                                                                                              \
        "deployment", VALUE_TEXT, .low = 1, .high = 63,                                            \
                                  .help = "Registered name; not needed where there is one."        \
    }

/* By the argument `deployment`; without it the only one there is. NOT_FOUND and INVALID say which
 * names there are. */
bool deployment_of(const struct call *call, struct deployment *out, struct error *error);

/* How deployments are told in structured answers. */
extern const struct field deployment_fields[];
json_t *deployment_json(const struct deployment *deployment); /* new reference */
/* "hardware 2xL4, labels {...}, owner alice": what is registered beside name, URL and revision. */
void deployment_describe(const struct deployment *deployment, struct text *out);

/* An endpoint with its credential; wiped when it goes out of scope. */
#define ENDPOINT_AUTO __attribute__((cleanup(endpoint_wipe))) struct endpoint
void endpoint_wipe(struct endpoint *endpoint);

/* Address, model and credential now, and what the server says of itself now, which is also noted in
 * the store. UPSTREAM with the failure's class when it does not answer; NOT_FOUND names its models
 * when it has not the deployment's. */
bool deployment_discover(const struct services *services, const struct deployment *deployment,
                         struct endpoint *endpoint, struct model_facts *facts, struct error *error);
/* The same without asking the server where the model is known already: for what is to be quick.
 * within_ms: all that asking it may take. *failure: how the server failed; NONE where it was not
 * asked. */
bool deployment_endpoint(const struct services *services, const struct deployment *deployment,
                         int64_t within_ms, struct endpoint *endpoint, enum failure *failure,
                         struct error *error);
/* After a model was not found: where the deployment means the server's first model, and that is
 * another one by now, true with the endpoint filled in anew. */
bool deployment_model_moved(const struct services *services, const struct deployment *deployment,
                            struct endpoint *endpoint);
/* After the model that a deployment names was not found: where the server lists its models, `error`
 * becomes the sentence that says which it serves. */
void deployment_explain_missing(const struct services *services,
                                const struct deployment *deployment, int64_t within_ms,
                                struct error *error);
