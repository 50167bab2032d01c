/* SPDX-License-Identifier: Apache-2.0 */
/* What one load thread counts and times while a cell is measured. The tallies of a cell's threads
 * can be merged. */
#pragma once

#include "base/llm/failure.h"
#include "base/stats/histogram.h"
#include "bench/load/load.h"
#include "bench/load/request_records.h"
#include "bench/load/requested_lengths.h"
#include "bench/load/sent_totals.h"

#define TALLY_SECONDS 3600 /* chunks in later seconds of a window are not counted per second */
#define TALLY_FAILURE_TEXT_SIZE 512

/* Why the answer ended, as the server reports it. */
enum finish { FINISH_UNKNOWN, FINISH_LENGTH, FINISH_STOP, FINISH_OTHER, FINISH_ABORTED };

/* What is known about one request so far. Times are monotonic nanoseconds; 0 means that the event
 * has not happened. */
struct request {
    uint64_t index;
    bool is_probe;
    struct wanted wanted;
    int64_t due_ns;   /* when its user became free; in an open loop, when it was scheduled */
    bool waited;      /* it had to wait after due_ns, because too many requests were in flight */
    int64_t begun_ns; /* when we began to send it, or to connect for it */
    int64_t sent_ns;  /* when we were connected, just before the first byte was sent */
    int64_t first_ns, latest_ns; /* first and latest chunk with any kind of output */
    int64_t second_ns;           /* second chunk */
    int64_t visible_ns;          /* first chunk with content or a tool call */
    int64_t tokens_ns; /* when reported tokens last arrived, not counting the latest read */
    /* About the latest read, which was at latest_ns and may have brought several chunks: */
    int64_t read_tokens, read_chunks;
    bool read_in_window;           /* judged by the window's bounds known at that time */
    int64_t before_ns;             /* the last chunk before this read; 0: none */
    int64_t bytes_ns;              /* latest bytes of the answer */
    int64_t end_ns;                /* bytes_ns if it succeeded, else when the failure was noticed */
    int64_t chunks, window_chunks; /* chunks with output: all, and those in the window */
    int64_t reported_tokens;       /* tokens that the events have reported so far */
    int64_t chunk_tokens;          /* the same, up to the latest chunk with output */
    int64_t first_tokens;          /* tokens in the first chunk; 1 if not reported */
    int64_t window_tokens;         /* reported tokens in window_chunks */
    bool has_chunk_tokens;         /* each chunk so far reported its tokens */
    bool reasoned;                 /* reasoning was received */
    /* -1: the server did not report it */
    int64_t prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens;
    long status;
    unsigned sends;  /* how many times it was sent; after the first, on a fresh connection */
    unsigned unread; /* how many of these times the server did not read it */
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

/* How many requests were in flight during the window, or how many users were thinking. */
struct flight {
    int64_t count, changed_ns; /* the current number, and when it last changed */
    double busy_ns;     /* time in this state within the window, summed over requests or users */
    struct range range; /* of `count`, during the window */
};

struct tally {
    const struct load *load;
    /* All in nanoseconds. ICL and ITL (the gaps between chunks and between tokens) are recorded for
     * chunks that arrived in the window, or that were still missing at an idle timeout; the other
     * latencies, for requests that count (see `attempted`). */
    struct histogram *latency[METRIC_COUNT];
    struct histogram *chunk_gaps; /* what METRIC_ITL would be if each chunk were a token */
    struct histogram *lag;        /* how long, at most, bytes waited before they were read */
    struct histogram *wake;       /* how late a timer was handled */
    /* How late requests were sent after they were due, not counting the time to connect. Requests
     * that `waited` are not included. */
    struct histogram *start_lag;
    struct histogram *connect, *tls; /* time to open new connections, in all phases */
    int64_t new_connections;

    /* Requests that count: in a closed loop, those that ended in the window; in an open loop, those
     * that were due in the window, whenever they ended. */
    int64_t attempted, succeeded;
    int64_t unanswered; /* in an open loop: not answered when the cell ended */
    int64_t unsent;     /* how many of these were not even begun (tally_unsent) */
    int64_t waited;     /* in an open loop: delayed, because too many were in flight */
    int64_t failures[FAILURE_COUNT];

    int64_t early_failures[FAILURE_COUNT]; /* of probes, and of requests before the window */
    char failure_texts[FAILURE_COUNT][TALLY_FAILURE_TEXT_SIZE];
    /* In a closed loop: sent before the window, in flight until after it, and not successful. */
    int64_t held;

    /* Sums and ranges over the successful requests that count: */
    struct requested_lengths asked;
    struct range input, output;          /* tokens per request */
    int64_t input_reported;              /* requests whose input tokens were reported */
    int64_t input_tokens, cached_tokens; /* as reported */
    int64_t reasoning_reported, reasoning_tokens;
    int64_t reasoned; /* requests whose answers had reasoning */
    int64_t output_tokens, chunks;
    int64_t finish_wrong;                 /* answers that reported "stop" at the length limit */
    int64_t finish_missing, done_missing; /* answers without a finish reason; without [DONE] */

    /* Successful requests that ended in the window, from which its rates are computed: */
    struct {
        int64_t requests;
        int64_t good; /* within the goodput limits */
        int64_t input_reported, input_tokens;
        double e2e_ns; /* the sum of their times from sending to the end */
    } ended;
    int64_t window_sent;      /* requests sent in the window */
    double window_tokens;     /* arrived in the window, in answers that reported tokens */
    int64_t window_chunks;    /* chunks that arrived in the window */
    int64_t uncounted_chunks; /* how many of these belong to answers that reported no tokens */
    int64_t second_chunks[TALLY_SECONDS]; /* window_chunks, per second of the window */

    int64_t stale_connections, left_open; /* in all phases except the probes */
    /* All chunks that have arrived. Other threads read only this member before the thread has
     * ended. */
    atomic_int_fast64_t arrived;
    struct flight flight, thinking;
    struct request probe; /* the latest probe that ended */
    struct request_records records;
    struct sent_totals_sums sent; /* in all phases */
};

/* Whether the request counts: in a closed loop if it ended in the window, in an open loop if it was
 * due in the window. */
static inline bool tally_counts(const struct load *load, const struct request *request)
{
    return load_in_window(load, load->arrivals != NULL ? request->due_ns : request->end_ns);
}

void tally_init(struct tally *tally, const struct load *load);
void tally_finish(struct tally *tally);

void tally_sent(struct tally *tally, int64_t now_ns); /* counts one more in flight */
/* Adds `users`, which may be negative, to the number of users who are thinking before their next
 * request. */
void tally_think(struct tally *tally, int64_t now_ns, int users);
/* Records a chunk with output and its number of tokens; -1: not known. */
void tally_chunk(struct tally *tally, struct request *request, int64_t now_ns, int64_t tokens);
/* Records a new connection, and how long connecting and TLS took; 0: that step was not reached. */
void tally_connection(struct tally *tally, int64_t connect_ns, int64_t tls_ns);
/* Records the end of a request, successful or not. If it was sent, it counts as in flight until
 * now_ns. */
void tally_request(struct tally *tally, const struct request *request, int64_t now_ns);
/* For an open loop: records a request that was due at due_ns, but not begun when the cell ended;
 * ignores it if due_ns is not in the window. `waited`: the limit on requests in flight held it
 * back; otherwise the client was late. */
void tally_unsent(struct tally *tally, int64_t due_ns, int64_t now_ns, bool waited);
/* To be called before merging. Adds the remaining time in flight and thinking, up to the window's
 * end. Makes the times of the records relative to the window's start, or to now_ns if there was no
 * window. */
void tally_close(struct tally *tally, int64_t now_ns);
void tally_merge(struct tally *into, const struct tally *from);
/* To be called after the last merge. If no chunk reported its tokens, but the answers had one token
 * per chunk on average, the gaps between chunks become the gaps between tokens. If no answer had
 * reasoning, clears the time to the first visible output, which is then the same as TTFT. */
void tally_conclude(struct tally *tally);
/* The answer's number of tokens: from its usage, else from its chunks, else the number of
 * chunks. */
int64_t tally_output_tokens(const struct request *request);
/* The time from which a request's latencies count: in an open loop the scheduled one, so that a
 * request that had to wait before it could be sent does not look fast ("coordinated omission"). */
int64_t tally_origin_ns(const struct tally *tally, const struct request *request);
/* The mean number of tokens per chunk in the window, for the answers that reported tokens; NaN if
 * none did. */
double tally_tokens_per_chunk(const struct tally *tally);
