/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread of a cell has counted; tallies of several threads merge. */
#pragma once

#include "base/llm/failure.h"
#include "base/stats/histogram.h"
#include "bench/load/load.h"
#include "bench/load/request_records.h"
#include "bench/load/requested_lengths.h"
#include "bench/load/sent_totals.h"

#define TALLY_SECONDS 3600 /* of the window whose seconds are told apart */
#define TALLY_SAID_SIZE 512

/* Why the server says it ended. */
enum finish { FINISH_UNKNOWN, FINISH_LENGTH, FINISH_STOP, FINISH_OTHER, FINISH_ABORTED };

/* One request, as far as it went. Times are monotonic nanoseconds, 0: did not happen. */
struct request {
    uint64_t index;
    bool is_probe;
    struct wanted wanted;
    int64_t due_ns;              /* its user was free; in an open loop: its time by the schedule */
    int64_t begun_ns;            /* we set about sending it */
    bool waited;                 /* before, because as many as allowed were in flight */
    int64_t sent_ns;             /* connected, the first byte about to go out */
    int64_t first_ns, latest_ns; /* first and latest chunk with output of any channel */
    int64_t second_ns;           /* second chunk */
    int64_t visible_ns;          /* first chunk with content or a tool call */
    int64_t tokens_ns;           /* latest chunk whose tokens are known and counted as gaps */
    int64_t read_tokens, read_chunks; /* of the chunks at latest_ns, which were read at once */
    bool read_counts;                 /* they came in the window, as it was known then */
    int64_t before_ns;                /* the chunk before those; 0: none */
    int64_t bytes_ns;                 /* latest byte of the answer */
    int64_t end_ns;                   /* done with it: bytes_ns, or when it was given up */
    int64_t chunks, window_chunks;
    int64_t told_tokens;  /* that the events told so far, */
    int64_t chunk_tokens; /* as far as the latest chunk, */
    int64_t first_tokens; /* of them in the first chunk, 1 where not told, */
    int64_t window_tokens;
    bool tells_chunks;                                       /* each chunk told its tokens */
    bool reasoned;                                           /* reasoning came */
    int64_t prompt_tokens, completion_tokens, cached_tokens; /* -1: the server did not say, */
    int64_t reasoning_tokens;                                /* and so here */
    long status;
    unsigned sends;  /* 2: again, on a fresh connection */
    unsigned unread; /* of them, that the server cannot have read */
    bool is_stream;  /* the answer is one */
    bool done;       /* [DONE] */
    bool left_open;  /* but the body did not end behind it */
    enum finish finish;
    char finish_reason[24]; /* as the server says */
    enum failure failure;
    char said[TALLY_SAID_SIZE]; /* about its failure */
    size_t said_length;
};

struct range {
    int64_t low, high; /* INT64_MAX and 0: nothing noted */
};

/* Requests in flight, or users who think, over the window. */
struct flight {
    int64_t count, changed_ns;
    double busy_ns; /* sum over them of their time in the window */
    struct range range;
};

struct tally {
    const struct load *load;
    struct histogram *latency[METRIC_COUNT]; /* of requests that count; ns */
    struct histogram *chunk_gaps;            /* as METRIC_ITL would be if each chunk were a token */
    struct histogram *lag;       /* from being readable, at the earliest, to being read */
    struct histogram *wake;      /* of a timer, from its time to its turn */
    struct histogram *start_lag; /* from being due to being sent, on a connection that was open */
    struct histogram *connect, *tls; /* of new connections, in every phase; ns */
    int64_t new_connections;
    /* Of the requests that count: those that ended in the window; in an open loop those that were
     * due in it, whenever they end. */
    int64_t attempted, succeeded;
    int64_t unanswered, unsent, waited; /* of an open loop: when the cell ended; for room */
    int64_t held; /* of a closed loop: from before the window, and never answered */
    int64_t failures[FAILURE_COUNT], early_failures[FAILURE_COUNT]; /* early: before it */
    char said[FAILURE_COUNT][TALLY_SAID_SIZE];
    struct requested_lengths asked;
    struct range input, output;               /* tokens of a request that succeeded */
    int64_t input_told;                       /* how many told their input tokens: */
    int64_t input_tokens, cached_tokens;      /* sums over those */
    int64_t reasoning_told, reasoning_tokens; /* the same of reasoning */
    int64_t reasoned;                         /* how many of all that succeeded had reasoning */
    int64_t output_tokens, chunks;            /* sums over all that succeeded */
    struct {
        int64_t requests, good, input_told, input_tokens; /* good: within the limits */
        double e2e_ns;                                    /* from being sent */
    } ended;              /* that succeeded and ended in the window: its rates */
    int64_t window_sent;  /* requests, in the window */
    double window_tokens; /* tokens that arrived in the window, of requests that told their count */
    int64_t window_chunks, untold_chunks; /* in the window: all, and of requests that told none */
    int64_t second_chunks[TALLY_SECONDS]; /* per second of the window */
    int64_t stale_connections, left_open;
    int64_t finish_wrong, finish_missing, done_missing; /* of those that succeeded */
    atomic_int_fast64_t arrived; /* chunks, ever; the only member that other threads read */
    struct flight flight, thinking;
    struct request probe; /* the latest one that ended */
    struct request_records records;
    struct sent_totals_sums sent; /* in every phase */
};

static inline bool tally_counts(const struct load *load, const struct request *request)
{
    return load_in_window(load, load->arrivals != NULL ? request->due_ns : request->end_ns);
}

void tally_init(struct tally *tally, const struct load *load);
void tally_finish(struct tally *tally);

void tally_sent(struct tally *tally, int64_t now_ns); /* one more in flight */
/* So many users more, or fewer, think instead of waiting for an answer. */
void tally_think(struct tally *tally, int64_t now_ns, int users);
/* A chunk with output came, with so many tokens; -1: nobody knows. */
void tally_chunk(struct tally *tally, struct request *request, int64_t now_ns, int64_t tokens);
/* A connection was opened; 0: it did not come to that. */
void tally_connection(struct tally *tally, int64_t connect_ns, int64_t tls_ns);
/* The request ended, well or not; in flight until now if it was sent. */
void tally_request(struct tally *tally, const struct request *request, int64_t now_ns);
/* In an open loop: what was due at due_ns was not sent when the cell ended. `waited`: as many as
 * allowed were in flight; else we were late ourselves. */
void tally_unsent(struct tally *tally, int64_t due_ns, int64_t now_ns, bool waited);
/* Before merging: brings the time in flight up to the window's end. */
void tally_close(struct tally *tally, int64_t now_ns);
void tally_merge(struct tally *into, const struct tally *from);
/* After the last merge: leaves only what the figures' names promise. Gaps between tokens are those
 * between chunks where a chunk is a token, and unknown where it is not and nobody told; the first
 * visible output is told apart only where there was reasoning before. */
void tally_settle(struct tally *tally);
/* Tokens per chunk in the window, of the answers that told; NaN where none did. */
double tally_tokens_per_chunk(const struct tally *tally);
