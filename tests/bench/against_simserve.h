/* SPDX-License-Identifier: Apache-2.0 */
/* For the programs that measure a cell with the load generator and compare the result with
 * simserve's own record of what it wrote and when. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/random.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "bench/cell/cell.h"
#include "tests/simserve/harness/truth.h"

struct against {
    const char *url;
    enum bench_api api;
    unsigned fields; /* request fields, in addition to those that every request has */
    int64_t users; /* concurrent users; in an open loop, the maximum number of requests in flight */
    int64_t rate;  /* Poisson arrivals per second (open loop); 0: closed loop */
    int64_t input_tokens, output_tokens, window_s, shards;
    bool only_libcurl;
};

/* Makes a workload whose prompts consist of token ids or words. simserve counts each as one token.
 */
static inline void against_workload(const struct against *against, struct workload *out)
{
    bool chat = against->api == BENCH_CHAT;

    *out = (struct workload){ .api = against->api,
                              .form = chat ? PROMPT_WORDS : PROMPT_IDS,
                              .source = "simserve",
                              .overhead_tokens = chat ? 11 : 0,
                              .tokens_per_piece = 1,
                              .reports_usage = true,
                              .piece_count = WORKLOAD_PIECES };
    out->fields = FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS | against->fields;
    for (int i = 0; i < WORKLOAD_PIECES; i++)
        snprintf(out->pieces[i], WORKLOAD_PIECE_SIZE, chat ? "w%d" : "%d", 1000 + i);
}

static inline bool against_never(void *context, const char *doing, double elapsed_s)
{
    (void)context, (void)doing, (void)elapsed_s;
    return false;
}

static inline void against_die(const char *what, const struct error *error)
{
    fprintf(stderr, "%s: %s\n", what, error->message);
    exit(1);
}

/* Returns the number in an argument; ends the program if it is not from 0 to 10,000,000. */
static inline int64_t against_number(const char *text)
{
    int64_t value = 0;

    if (text_to_integer(text, 0, 10000000, &value))
        return value;
    fprintf(stderr, "'%s' is not a whole number from 0 to 10000000\n", text);
    exit(2);
}

static inline void against_plan(const struct against *against, struct plan *out)
{
    struct error error;
    json_auto_t *arguments =
        json_pack("{s:[I], s:[I], s:[I], s:I, s:f}", "concurrency", against->users, "input_tokens",
                  against->input_tokens, "output_tokens", against->output_tokens, "window_s",
                  against->window_s, "warmup_limit_s", 30.0);

    if (against->rate > 0) {
        json_object_set_new(arguments, "arrival", json_string("poisson"));
        json_object_set_new(arguments, "request_rate", json_pack("[I]", against->rate));
    }
    if (!plan_read(arguments, out, &error))
        against_die("plan", &error);
}

/* Measures the cell and reads simserve's record of it (the truth); ends the program if that fails.
 */
static inline void against_measure(const struct against *against, struct cell_result *result,
                                   struct truth *truth)
{
    static struct workload workload;
    static struct endpoint endpoint;
    struct plan plan;
    struct error error;
    uint64_t nonce;

    against_plan(against, &plan);
    text_copy(endpoint.url, sizeof endpoint.url, against->url);
    text_copy(endpoint.model, sizeof endpoint.model, "simserve/toy");
    against_workload(against, &workload);
    random_bytes(&nonce, sizeof nonce);
    const struct cell_order order = { .endpoint = &endpoint,
                                      .workload = &workload,
                                      .plan = &plan,
                                      .concurrency = against->users,
                                      .request_rate = (double)against->rate,
                                      .input_tokens = against->input_tokens,
                                      .output_tokens = against->output_tokens,
                                      .nonce = nonce,
                                      .probe = true,
                                      .shards = (unsigned)against->shards,
                                      .only_libcurl = against->only_libcurl,
                                      .stopped = against_never };
    if (!cell_measure(&order, result, &error))
        against_die("cell", &error);
    truth_create(truth);
    if (!truth_read(against->url, result, nonce, truth, &error))
        against_die("truth", &error);
}

/* Requests one of simserve's own pages, and returns the body, which the caller frees. */
static inline char *against_get(const char *url, const char *path)
{
    struct outbound_response response;
    struct error error;
    TEXT_AUTO full = { 0 };
    char *body;

    text_addf(&full, "%s%s", url, path);
    const struct outbound_request request = { .url = full.data, .accept = "*/*" };
    if (!outbound_perform(&request, &response, &error))
        against_die(path, &error);
    body = text_take(&response.body);
    outbound_response_finish(&response);
    return body;
}

/* Returns a quantile of a histogram of nanoseconds, in milliseconds. */
static inline double against_quantile_ms(const struct histogram *histogram, double q)
{
    return (double)histogram_quantile(histogram, q, NULL) / 1e6;
}
