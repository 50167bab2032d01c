/* SPDX-License-Identifier: Apache-2.0 */
/* The model: who waits, who runs, and when each next chunk of each sequence is due. */
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
    int64_t prefill_free_ns;     /* when the last of serial prefills ends */
    uint64_t warm_shapes;        /* power-of-two prompt lengths seen */
    int64_t kv_blocks_committed; /* what the running ones may grow to */
};

enum sequence_state { SEQUENCE_NEW, SEQUENCE_WAITING, SEQUENCE_RUNNING };

/* One request for generation. What a step touches stands together at the head: with ten thousand
 * of them, cache misses are what a step costs. */
struct sequence {
    struct timer step; /* its next chunk */
    struct server *server;
    struct connection *connection;
    uint64_t faults;
    uint64_t word; /* where in the word list its output begins */
    bool chat;
    bool stream;
    bool usage_at_end;
    bool usage_in_chunks;
    bool role_sent;
    bool blocked; /* blast: waits for its reader */
    int64_t limit_tokens;
    int64_t produced_tokens;
    int64_t chunks; /* content chunks made */
    int64_t last_token_ns;
    struct text head; /* what every event begins with */
    struct truth_record record;
    struct generator random;
    double owed_tokens;
    const char *finish_reason;

    struct text held; /* bytes held back, */
    struct timer hold;
    struct {
        int64_t events;   /* whole events in them, */
        int64_t contents; /* content chunks among those, */
        int64_t due_ns;   /* and when they were planned to go out */
    } holding;

    TAILQ_ENTRY(sequence) link;
    enum sequence_state state;
    uint64_t salt; /* of the prefix cache */
    struct tokens prompt;
};

void model_init(struct model *model);
struct sequence *model_sequence_create(struct connection *connection);
/* Runs it from now_ns on, or queues it; answers it when done, and then frees it. */
void model_submit(struct sequence *sequence, int64_t now_ns);
/* Releases what is held back, and submits it, after delay_ms. */
void model_submit_later(struct sequence *sequence, double delay_ms);
/* Whoever waits may start as far as the limits allow (they may have changed). */
void model_admit(struct server *server);
/* Takes it out of the model without an answer, notes how it ended, frees it. */
void model_retire(struct sequence *sequence, enum outcome outcome);
/* Its reader took what was unsent. */
void model_unblock(struct sequence *sequence);
/* Is there room for one more? */
bool model_accepts(const struct server *server);
/* Share of the KV cache that running sequences fill, 0 to 1. */
double model_kv_usage(const struct server *server);
/* Forgets prefixes, seen shapes: a cold model. Running sequences go on. */
void model_cool(struct server *server);
