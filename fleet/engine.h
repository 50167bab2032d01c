/* SPDX-License-Identifier: Apache-2.0 */
/* What runs behind an endpoint, asked of the server itself: engine, version, models, context
 * length. */
#pragma once

#include "base/llm/failure.h"
#include "base/net/endpoint.h"
#include "store/ledger/deployments.h"

#define ENGINE_MODELS 64

struct engine_model {
    char id[256];
    int64_t context_tokens; /* 0: not reported */
};

struct engine_report {
    char engine[32]; /* vllm, llama.cpp, sglang, ollama, tgi, llama-cpp-python, openai-compatible */
    char version[64];
    struct engine_model models[ENGINE_MODELS];
    size_t model_count;
    bool has_metrics;     /* GET /metrics answers in the Prometheus text format */
    bool has_tokenize;    /* POST /tokenize answers */
    enum failure failure; /* of the models request */
    char details[4096];   /* JSON object: whatever else it reports (flags, quantization, parameters)
                           */
};

/* Sends a few small requests. within_ms: for all of them together; the first, for the models, may
 * take all of it; 0: 5 s each and 15 s together, 45 s where a named model has to be loaded. False
 * (UPSTREAM, with the failure's class in the sentence) if not even the models list answers; then
 * only out->failure is set. */
CHECKED bool engine_probe(const struct endpoint *endpoint, int64_t within_ms,
                          struct engine_report *out, struct error *error);

/* Probes, and picks the facts of the deployment's model (if none is named, its first model, which
 * is stored in endpoint->model). NOT_FOUND if the server does not list the model; the sentence
 * names those it has. *failure: how the probe failed, or NONE. */
CHECKED bool engine_facts(const struct deployment *deployment, struct endpoint *endpoint,
                          int64_t within_ms, struct model_facts *out, enum failure *failure,
                          struct error *error);
