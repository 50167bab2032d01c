/* SPDX-License-Identifier: Apache-2.0 */
/* The model: which sequences wait, which run, and when the next chunk of each is due. */
#pragma once

#include <sys/queue.h>

#include "base/core/random.h"
#include "base/core/text.h"
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
    int64_t prefill_free_ns;     /* if prefills are serial: when the last one ends */
    uint64_t warm_shapes;        /* power-of-two prompt lengths seen */
    int64_t kv_blocks_committed; /* that the running sequences may come to need */
};

enum sequence_state { SEQUENCE_NEW, SEQUENCE_WAITING, SEQUENCE_RUNNING };

/* One request for generation. Members that a step uses are together at the front: with ten thousand
 * requests, cache misses dominate its cost. */
struct sequence {
    struct timer step; /* timer of the next chunk */
    struct server *server;
    struct connection *connection;
    uint64_t faults;
    uint64_t word; /* where in the word list its output begins */
    bool chat;
    bool stream;
    bool usage_at_end;
    bool usage_in_chunks;
    bool role_sent;
    bool blocked; /* in the mode `blast`: it waits for its reader */
    int64_t limit_tokens;
    int64_t produced_tokens;
    int64_t chunks; /* content chunks made so far */
    int64_t last_token_ns;
    struct text head; /* beginning of every event */
    struct truth_record record;
    struct generator random;
    double owed_tokens;
    const char *finish_reason;

    struct text held; /* bytes that are held back, */
    struct timer hold;
    struct {
        int64_t events;   /* the number of whole events in them, */
        int64_t contents; /* of content chunks among these, */
        int64_t due_ns;   /* and the times at which they were planned */
    } holding;

    TAILQ_ENTRY(sequence) link;
    enum sequence_state state;
    uint64_t salt; /* of the prefix cache */
    struct tokens prompt;
};

void model_init(struct model *model);
struct sequence *model_sequence_create(struct connection *connection);
/* Runs the sequence from now_ns on, or queues it; when it is done, answers and frees it. */
void model_submit(struct sequence *sequence, int64_t now_ns);
/* After delay_ms, submits the sequence and releases its held-back output. */
void model_submit_later(struct sequence *sequence, double delay_ms);
/* Starts as many waiting sequences as the limits, which may have changed, allow. */
void model_admit(struct server *server);
/* Removes the sequence without an answer, records how it ended, and frees it. */
void model_retire(struct sequence *sequence, enum outcome outcome);
/* Call it when the sequence's reader has received the unsent output. */
void model_unblock(struct sequence *sequence);
/* Whether the server accepts one more request. */
bool model_accepts(const struct server *server);
/* The share of the KV cache that running sequences use, 0 to 1. */
double model_kv_usage(const struct server *server);
/* Forgets prefixes and seen shapes: a cold model. Running sequences continue. */
void model_cool(struct server *server);
