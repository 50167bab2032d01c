/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread of a cell has counted; the tallies of several threads can be merged. */
#pragma once

#include "base/llm/failure.h"
#include "base/stats/histogram.h"
#include "bench/load/load.h"
#include "bench/load/request_records.h"
#include "bench/load/requested_lengths.h"
#include "bench/load/sent_totals.h"

#define TALLY_SECONDS 3600 /* of the window, beyond which seconds are no longer distinguished */
#define TALLY_FAILURE_TEXT_SIZE 512

/* Why the answer ended, as the server reports it. */
enum finish { FINISH_UNKNOWN, FINISH_LENGTH, FINISH_STOP, FINISH_OTHER, FINISH_ABORTED };

/* One request so far. Times are monotonic nanoseconds; 0: the event did not happen. */
struct request {
    uint64_t index;
    bool is_probe;
    struct wanted wanted;
    int64_t due_ns;              /* its user was free; in an open loop: its scheduled time */
    int64_t begun_ns;            /* we began to send it */
    bool waited;                 /* before that, because the limit of requests in flight was reached
                                  */
    int64_t sent_ns;             /* connected, the first byte about to go out */
    int64_t first_ns, latest_ns; /* first and latest chunk with output of any channel */
    int64_t second_ns;           /* second chunk */
    int64_t visible_ns;          /* first chunk with content or a tool call */
    int64_t tokens_ns;           /* latest chunk whose tokens are known and counted as gaps */
    int64_t read_tokens, read_chunks; /* of the chunks at latest_ns, which were read together */
    bool read_counts;  /* they came in the window, as far as its bounds were known then */
    int64_t before_ns; /* the chunk before these; 0: none */
    int64_t bytes_ns;  /* latest byte of the answer */
    int64_t end_ns;    /* it ended: bytes_ns, or when it was given up */
    int64_t chunks, window_chunks;
    int64_t reported_tokens; /* tokens that the events have reported so far, */
    int64_t chunk_tokens;    /* up to the latest chunk, */
    int64_t first_tokens;    /* and in the first chunk, 1 if not reported */
    int64_t window_tokens;
    bool reports_chunks;                                     /* each chunk reported its tokens */
    bool reasoned;                                           /* reasoning was received */
    int64_t prompt_tokens, completion_tokens, cached_tokens; /* -1: the server did not report it, */
    int64_t reasoning_tokens;                                /* likewise */
    long status;
    unsigned sends;  /* 2: sent again, on a fresh connection */
    unsigned unread; /* how many of those the server cannot have read */
    bool is_stream;  /* the answer is a stream of events */
    bool done;       /* [DONE] was received */
    bool left_open;  /* but the body did not end after it */
    enum finish finish;
    char finish_reason[24]; /* as the server reports it */
    enum failure failure;
    char failure_text[TALLY_FAILURE_TEXT_SIZE]; /* about its failure */
    size_t failure_text_length;
};

struct range {
    int64_t low, high; /* INT64_MAX and 0: nothing recorded */
};

/* Requests in flight, or users who think, over the window. */
struct flight {
    int64_t count, changed_ns;
    double busy_ns; /* sum of their time within the window */
    struct range range;
};

struct tally {
    const struct load *load;
    struct histogram *latency[METRIC_COUNT]; /* of requests that count; ns */
    struct histogram *chunk_gaps;            /* what METRIC_ITL would be if each chunk were a token
                                              */
    struct histogram *lag;           /* from being readable, at the earliest, to being read */
    struct histogram *wake;          /* of a timer, from its time until it is handled */
    struct histogram *start_lag;     /* from being due to being sent, on an open connection */
    struct histogram *connect, *tls; /* of new connections, in every phase; ns */
    int64_t new_connections;
    /* For the requests that count: those that ended in the window; in an open loop those that were
     * due in it, whenever they end. */
    int64_t attempted, succeeded;
    int64_t unanswered, unsent,
        waited;   /* for an open loop: unanswered when the cell ended; of these, never sent; delayed
                     for lack of a free connection */
    int64_t held; /* for a closed loop: from before the window, and never answered */
    int64_t failures[FAILURE_COUNT], early_failures[FAILURE_COUNT]; /* early: before the window */
    char failure_texts[FAILURE_COUNT][TALLY_FAILURE_TEXT_SIZE];
    struct requested_lengths asked;
    struct range input, output;                   /* tokens of a successful request */
    int64_t input_reported;                       /* how many reported their input tokens: */
    int64_t input_tokens, cached_tokens;          /* sums over those */
    int64_t reasoning_reported, reasoning_tokens; /* the same for reasoning */
    int64_t reasoned;                             /* how many successful requests had reasoning */
    int64_t output_tokens, chunks;                /* sums over all successful requests */
    struct {
        int64_t requests, good, input_reported, input_tokens; /* good: within the limits */
        double e2e_ns;                                        /* from being sent */
    } ended;              /* successes that ended in the window, for its rates */
    int64_t window_sent;  /* requests, in the window */
    double window_tokens; /* tokens that arrived in the window, of requests whose chunks reported
                             their tokens */
    int64_t window_chunks, uncounted_chunks; /* in the window: all, and those of requests that
                                              * reported none */
    int64_t second_chunks[TALLY_SECONDS];    /* per second of the window */
    int64_t stale_connections, left_open;
    int64_t finish_wrong, finish_missing, done_missing; /* of the successful ones */
    atomic_int_fast64_t arrived; /* chunks in all; the only member that other threads read */
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
/* Changes by this number how many users think instead of waiting for an answer. */
void tally_think(struct tally *tally, int64_t now_ns, int users);
/* Records a chunk with output and its number of tokens; -1: not known. */
void tally_chunk(struct tally *tally, struct request *request, int64_t now_ns, int64_t tokens);
/* Records a new connection; 0: that step was not reached. */
void tally_connection(struct tally *tally, int64_t connect_ns, int64_t tls_ns);
/* Records the end of a request, successful or not; if it was sent, it was in flight until now. */
void tally_request(struct tally *tally, const struct request *request, int64_t now_ns);
/* For an open loop: records a request that was due at due_ns but not sent when the cell ended.
 * `waited`: because of the limit of requests in flight; otherwise the client was late. */
void tally_unsent(struct tally *tally, int64_t due_ns, int64_t now_ns, bool waited);
/* Call it before merging: adds the time in flight up to the window's end. */
void tally_close(struct tally *tally, int64_t now_ns);
void tally_merge(struct tally *into, const struct tally *from);
/* Call it after the last merge: removes figures that do not mean what their names say. Gaps between
 * tokens are those between chunks if a chunk is a token, and unknown if it is not and the server
 * did not report counts; the first visible output is separate only if there was reasoning before
 * it. */
void tally_conclude(struct tally *tally);
/* Tokens of the answer: by usage, else as its chunks reported, else the number of chunks. */
int64_t tally_output_tokens(const struct request *request);
/* The time from which its latencies count. */
int64_t tally_origin_ns(const struct tally *tally, const struct request *request);
/* Tokens per chunk in the window, for the answers that reported them; NaN if none did. */
double tally_tokens_per_chunk(const struct tally *tally);
