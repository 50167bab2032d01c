/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out the engine, version, models and context length of a model server. */
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
    char version[64]; /* "": not reported */
    struct engine_model models[ENGINE_MODELS];
    size_t model_count;
    bool has_metrics;  /* GET /metrics answers in the Prometheus text format */
    bool has_tokenize; /* POST /tokenize answers */
    /* why the request for the list of models failed; NONE if the probe succeeded */
    enum failure failure;
    /* JSON object with further facts: flags, quantization, parameters, ... */
    char details[4096];
};

/* Sends a few small requests, all within `within_ms`; the first one, for the list of models, may
 * take all of that time. If `within_ms` is 0, each request may take 5 s, and all of them together
 * 15 s; if no models are listed, requests to the deployment's model may take another 30 s, because
 * the server may have to load it. Returns false (UPSTREAM) if no model can be found. Then only
 * out->failure is set; it is NONE if the server answered with an empty list. */
CHECKED bool engine_probe(const struct endpoint *endpoint, int64_t within_ms,
                          struct engine_report *out, struct error *error);

/* Probes the server and returns the facts about the deployment's model. If the deployment names no
 * model, the first one listed is used, and its name is written to endpoint->model. NOT_FOUND if the
 * server does not list the model; the message names a few that it lists. *failure is set as
 * engine_probe sets out->failure. */
CHECKED bool engine_facts(const struct deployment *deployment, struct endpoint *endpoint,
                          int64_t within_ms, struct model_facts *out, enum failure *failure,
                          struct error *error);
