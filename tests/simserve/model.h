/* SPDX-License-Identifier: Apache-2.0 */
/* The model: which sequences wait, which run, and when the next chunk of each is due. */
#pragma once

#include <sys/queue.h>

#include "base/core/random.h"
#include "base/core/text.h"
#include "tests/simserve/faults.h"
#include "tests/simserve/timers.h"
#include "tests/simserve/tokenizer.h"
#include "tests/simserve/truth.h"

struct server;
struct connection;
TAILQ_HEAD(sequence_list, sequence);

struct model {
    struct sequence_list waiting;
    struct sequence_list running;
    unsigned waiting_count;
    unsigned running_count;
    int64_t prefill_free_ns;     /* if prefills are serial: when the latest one ends */
    uint64_t warm_shapes;        /* bit n: a prompt of 2^n to 2^(n+1) - 1 tokens has run */
    int64_t kv_blocks_committed; /* reserved for prompt and output of running sequences */
};

enum sequence_state { SEQUENCE_NEW, SEQUENCE_WAITING, SEQUENCE_RUNNING };

/* One request for generation. The members that a step uses are at the front, because with ten
 * thousand requests, CPU cache misses dominate the cost of a step. */
struct sequence {
    struct timer step; /* timer for the next chunk */
    struct server *server;
    struct connection *connection;
    uint64_t faults;
    uint64_t word; /* where in the word list the output begins, modulo the list's length */
    bool chat;
    bool stream;
    bool usage_at_end;
    bool usage_in_chunks;
    bool role_sent;
    bool blocked; /* with `blast`: waits until the socket has accepted all output */
    int64_t limit_tokens;
    int64_t produced_tokens;
    int64_t chunks; /* content chunks made so far */
    int64_t last_token_ns;
    struct text head; /* the JSON with which every event begins */
    struct truth_record record;
    struct generator random;
    double owed_tokens; /* with fractional tokens_per_chunk: the fraction not yet produced */
    const char *finish_reason;

    struct text held;  /* output that is held back */
    struct timer hold; /* sends `held` */
    struct {
        int64_t events;   /* complete events in `held` */
        int64_t contents; /* content chunks whose end is in `held` */
        int64_t due_ns;   /* when the newest event in `held` was planned to be sent */
    } holding;

    TAILQ_ENTRY(sequence) link;
    enum sequence_state state;
    uint64_t salt; /* prompts share cached prefixes only if their salts are equal */
    struct tokens prompt;
};

static inline bool sequence_has_fault(const struct sequence *sequence, enum fault fault)
{
    return sequence->faults & FAULT_BIT(fault);
}

void model_init(struct model *model);
struct sequence *model_sequence_create(struct connection *connection);
/* Runs the sequence from now_ns on, or queues it. When the sequence has finished, answers its
 * request and frees it. */
void model_submit(struct sequence *sequence, int64_t now_ns);
/* After delay_ms, sends the output that was held back, and submits the sequence. */
void model_submit_later(struct sequence *sequence, double delay_ms);
/* Starts as many waiting sequences as the present limits allow. */
void model_admit(struct server *server);
/* Removes the sequence, records how it ended, and frees it, without sending anything. Then starts
 * waiting sequences that fit now. */
void model_retire(struct sequence *sequence, enum outcome outcome);
/* Call this when the socket has accepted all unsent output. */
void model_unblock(struct sequence *sequence);
/* Returns whether the server accepts one more request. */
bool model_accepts(const struct server *server);
/* The share of the KV cache that running sequences use, 0 to 1. */
double model_kv_usage(const struct server *server);
/* Forgets the cached prefixes, and for which size classes a prompt has run. Running sequences
 * continue. */
void model_cool(struct server *server);
