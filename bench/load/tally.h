/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread of a cell has counted; the tallies of several threads can be merged. */
#pragma once

#include "base/llm/failure.h"
#include "base/stats/histogram.h"
#include "bench/load/load.h"
#include "bench/load/request_records.h"
#include "bench/load/requested_lengths.h"
#include "bench/load/sent_totals.h"

#define TALLY_SECONDS 3600 /* later seconds of a window are not counted one by one */
#define TALLY_FAILURE_TEXT_SIZE 512

/* Why the answer ended, as the server reports it. */
enum finish { FINISH_UNKNOWN, FINISH_LENGTH, FINISH_STOP, FINISH_OTHER, FINISH_ABORTED };

/* One request so far. Times are monotonic nanoseconds; 0: the event did not happen. */
struct request {
    uint64_t index;
    bool is_probe;
    struct wanted wanted;
    int64_t due_ns;   /* its user was free; in an open loop: its scheduled time */
    bool waited;      /* it had to wait after due_ns, because too many requests were in flight */
    int64_t begun_ns; /* we began to send it */
    int64_t sent_ns;  /* connected, the first byte about to go out */
    int64_t first_ns, latest_ns; /* first and latest chunk with output of any channel */
    int64_t second_ns;           /* second chunk */
    int64_t visible_ns;          /* first chunk with content or a tool call */
    int64_t tokens_ns;           /* latest chunk whose tokens are known and counted as gaps */
    /* The latest read, at latest_ns, which may have brought several chunks: */
    int64_t read_tokens, read_chunks;
    bool read_counts;  /* it was in the window, as far as the window's bounds were known then */
    int64_t before_ns; /* the chunk before this read; 0: none */
    int64_t bytes_ns;  /* latest byte of the answer */
    int64_t end_ns;    /* the end: bytes_ns, or when it was given up */
    int64_t chunks, window_chunks;
    int64_t reported_tokens; /* tokens that the events have reported so far */
    int64_t chunk_tokens;    /* the same, up to the latest chunk with output */
    int64_t first_tokens;    /* tokens of the first chunk; 1 if not reported */
    int64_t window_tokens;
    bool reports_chunks; /* each chunk reported its tokens */
    bool reasoned;       /* reasoning was received */
    /* -1: the server did not report it */
    int64_t prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens;
    long status;
    unsigned sends;  /* 2: sent again, on a fresh connection */
    unsigned unread; /* how often it was sent without the server having read it */
    bool is_stream;  /* the answer is a stream of events */
    bool done;       /* [DONE] was received */
    bool left_open;  /* [DONE] was received, but the body did not end after it */
    enum finish finish;
    char finish_reason[24]; /* as the server reports it */
    enum failure failure;
    char failure_text[TALLY_FAILURE_TEXT_SIZE];
    size_t failure_text_length;
};

struct range {
    int64_t low, high; /* INT64_MAX and 0: nothing recorded */
};

/* How many requests were in flight, or how many users were thinking, over the window. */
struct flight {
    int64_t count, changed_ns; /* now, and since when */
    double busy_ns;            /* the sum of their times within the window */
    struct range range;
};

struct tally {
    const struct load *load;
    /* In nanoseconds: */
    struct histogram *latency[METRIC_COUNT]; /* of requests that count */
    struct histogram *chunk_gaps;    /* what METRIC_ITL would be if each chunk were a token */
    struct histogram *lag;           /* from being readable, at the earliest, to being read */
    struct histogram *wake;          /* from a timer's time until it is handled */
    struct histogram *start_lag;     /* from being due to being sent, on an open connection */
    struct histogram *connect, *tls; /* time to open new connections, in every phase */
    int64_t new_connections;

    /* Requests that count: those that ended in the window; in an open loop those that were due in
     * it, whenever they end. */
    int64_t attempted, succeeded;
    int64_t unanswered; /* in an open loop: unanswered when the cell ended */
    int64_t unsent;     /* those of them that were never sent */
    int64_t waited;     /* in an open loop: delayed for lack of a free user */
    int64_t failures[FAILURE_COUNT];

    int64_t early_failures[FAILURE_COUNT]; /* before the window */
    char failure_texts[FAILURE_COUNT][TALLY_FAILURE_TEXT_SIZE];
    int64_t held; /* in a closed loop: sent before the window, and unanswered at its end */

    /* Sums over the successful requests that count: */
    struct requested_lengths asked;
    struct range input, output;          /* their tokens */
    int64_t input_reported;              /* how many reported their input tokens */
    int64_t input_tokens, cached_tokens; /* as reported */
    int64_t reasoning_reported, reasoning_tokens;
    int64_t reasoned; /* how many had reasoning */
    int64_t output_tokens, chunks;
    int64_t finish_wrong, finish_missing, done_missing;

    /* Successes that ended in the window, for its rates: */
    struct {
        int64_t requests;
        int64_t good; /* within the goodput limits */
        int64_t input_reported, input_tokens;
        double e2e_ns; /* since they were sent */
    } ended;
    int64_t window_sent;      /* requests sent in the window */
    double window_tokens;     /* tokens that arrived in the window, as far as they were reported */
    int64_t window_chunks;    /* chunks that arrived in the window */
    int64_t uncounted_chunks; /* those of them whose requests reported no tokens */
    int64_t second_chunks[TALLY_SECONDS]; /* window_chunks, per second of the window */

    int64_t stale_connections, left_open; /* in every phase but the probes */
    atomic_int_fast64_t arrived; /* chunks in all; the only member that other threads read */
    struct flight flight, thinking;
    struct request probe; /* the latest probe that ended */
    struct request_records records;
    struct sent_totals_sums sent; /* in every phase */
};

/* Whether the request counts for the window: it ended in it, or, in an open loop, was due in it. */
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
/* Records a new connection, and how long connecting and TLS took; 0: that step was not reached. */
void tally_connection(struct tally *tally, int64_t connect_ns, int64_t tls_ns);
/* Records the end of a request, successful or not; if it was sent, it was in flight until now. */
void tally_request(struct tally *tally, const struct request *request, int64_t now_ns);
/* For an open loop: records a request that was due at due_ns but not sent when the cell ended.
 * `waited`: because of the limit of requests in flight; otherwise the client was late. */
void tally_unsent(struct tally *tally, int64_t due_ns, int64_t now_ns, bool waited);
/* To be called before merging: adds the time in flight up to the window's end, and makes the times
 * of the records relative to the window's start. */
void tally_close(struct tally *tally, int64_t now_ns);
void tally_merge(struct tally *into, const struct tally *from);
/* To be called after the last merge. If the server reported no tokens but each chunk is a token,
 * the gaps between chunks become those between tokens. Without reasoning there is no separate time
 * to the first visible output. */
void tally_conclude(struct tally *tally);
/* Tokens of the answer: by usage, else as its chunks reported, else the number of chunks. */
int64_t tally_output_tokens(const struct request *request);
/* The time from which a request's latencies count: in an open loop the scheduled one, so that a
 * request that had to wait before it could be sent does not look fast ("coordinated omission"). */
int64_t tally_origin_ns(const struct tally *tally, const struct request *request);
/* Tokens per chunk in the window, for the answers that reported them; NaN if none did. */
double tally_tokens_per_chunk(const struct tally *tally);
