/* SPDX-License-Identifier: Apache-2.0 */
/* The counters behind GET /metrics, which reports them under vLLM's names. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/core/text.h"
#include "tests/simserve/truth.h"

struct server;
struct config;

#define METRICS_BUCKETS 22
#define METRICS_POSITIONS 64 /* draft positions for which accepted tokens are counted */

struct metrics_histogram {
    uint64_t buckets[METRICS_BUCKETS
                     + 1]; /* not cumulative; the bucket after the last finite limit is +Inf */
    uint64_t count;
    double sum;
};

struct metrics {
    uint64_t prompt_tokens;
    uint64_t generation_tokens;
    uint64_t prefix_queries, prefix_hits; /* in tokens */
    uint64_t finished_stop, finished_length, finished_abort, finished_error;
    uint64_t drafts, draft_tokens, accepted_tokens;
    uint64_t accepted_at[METRICS_POSITIONS];
    struct metrics_histogram ttft, itl, e2e, queue;
};

/* Records, when a request begins to run, how long it waited and, with `prefix_cache`, how much of
 * its prompt is cached. */
void metrics_prompt(struct metrics *metrics, const struct truth_record *record, bool prefix_cache);
void metrics_first_token(struct metrics *metrics, const struct truth_record *record,
                         int64_t now_ns);
/* Records a decode step that produced `tokens` tokens, gap_ns after the previous chunk. */
void metrics_step(struct metrics *metrics, const struct config *config, int64_t tokens,
                  int64_t gap_ns);
void metrics_finished(struct metrics *metrics, const struct truth_record *record,
                      const char *finish_reason);
/* Returns the number of tokens that are drafted per step. */
int64_t metrics_draft_tokens(const struct config *config);
/* Appends the answer to GET /metrics. */
void metrics_write(const struct server *server, struct text *out);
