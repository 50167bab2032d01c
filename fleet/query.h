/* SPDX-License-Identifier: Apache-2.0 */
/* Requests one completion for a user who is trying out a model. The answer is streamed, and the
 * result has the times and counts that the load generator would record. */
#pragma once

#include "base/core/text.h"
#include "base/llm/failure.h"
#include "base/net/endpoint.h"

struct query {
    const char *prompt; /* the user's message */
    const char *system; /* NULL: none */
    int64_t max_tokens;
    double temperature; /* negative: the server's default */
    bool chat;          /* true: /v1/chat/completions; false: /v1/completions */
    int64_t ttft_timeout_ms, idle_timeout_ms, total_timeout_ms;
    /* Receives new visible text, never half a UTF-8 character. `length` is 0 if a chunk arrived
     * without text that can be passed on, for example while the model reasons. `chunks`: how many
     * chunks have arrived. NULL: the caller wants only the result. */
    void (*on_text)(void *context, const char *text, size_t length, int64_t chunks);
    bool (*cancelled)(void *context);
    void *context;
};

struct query_result {
    struct text text;      /* the visible text, at most 1 MiB */
    struct text reasoning; /* text that came as reasoning, at most 1 MiB */
    enum failure failure;
    double ttft_s; /* from sending to the first token; NaN: not sent, or no token was streamed */
    /* from sending to the last bytes or, if none arrived, to the end of the call; NaN: not sent */
    double total_s;
    int64_t prompt_tokens, completion_tokens; /* -1: the server did not report them */
    int64_t chunks;
    double tokens_per_s; /* (completion tokens - 1) / (total - ttft); NaN: not known */
    char finish[24];
    char model[256];
};

/* On any failure, returns false, puts its class into result->failure, and leaves in *result what
 * arrived before the failure. Whatever it returns, the caller frees *result with
 * query_result_finish. */
CHECKED bool query_run(const struct endpoint *endpoint, const struct query *query,
                       struct query_result *result, struct error *error);
void query_result_finish(struct query_result *result);
