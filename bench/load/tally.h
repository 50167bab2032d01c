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

#define TALLY_SECONDS 3600 /* chunks are counted per second only in the window's first hour */
#define TALLY_FAILURE_TEXT_SIZE 512

/* Why the answer ended, by the finish reason that the server reported. UNKNOWN: it reported none.
 * ABORTED: the reason says that the server broke the answer off. */
enum finish { FINISH_UNKNOWN, FINISH_LENGTH, FINISH_STOP, FINISH_OTHER, FINISH_ABORTED };

/* What is known about one request so far. Times are monotonic nanoseconds; 0 means that the event
 * has not happened. */
struct request {
    uint64_t index;
    bool is_probe;
    struct wanted wanted;
    int64_t due_ns;   /* when its user became free; in an open loop, its scheduled time */
    bool waited;      /* it had to wait after due_ns, because too many requests were in flight */
    int64_t begun_ns; /* when we began to send it, or to connect for it */
    /* When the connection was open, just before the first byte was sent. If the request was sent
     * twice, usually the second time (on_send in virtual_user.c). */
    int64_t sent_ns;
    int64_t first_ns;   /* first chunk with any kind of output */
    int64_t latest_ns;  /* latest chunk with any kind of output */
    int64_t second_ns;  /* second chunk with any kind of output */
    int64_t visible_ns; /* first chunk with content or a tool call */
    /* The last read, before the latest one, that brought tokens whose number was reported. */
    int64_t tokens_ns;
    /* The next four members are about the latest read. It was at latest_ns, and can have brought
     * several chunks. */
    int64_t read_tokens; /* reported tokens that it brought */
    int64_t read_chunks; /* chunks with output that it brought */
    bool read_in_window; /* it was in the window, by the bounds that were set then */
    int64_t before_ns;   /* the last chunk before this read; 0: none */

    int64_t bytes_ns;        /* latest bytes of the answer */
    int64_t end_ns;          /* bytes_ns if it succeeded, else when the failure was noticed */
    int64_t chunks;          /* chunks with output so far */
    int64_t window_chunks;   /* how many of these arrived in the window */
    int64_t reported_tokens; /* output tokens that the stream has reported so far */
    int64_t chunk_tokens;    /* reported_tokens at the latest chunk with output */
    int64_t first_tokens;    /* tokens in the first chunk; 1 if not reported */
    int64_t window_tokens;   /* reported tokens in the chunks that arrived in the window */
    bool has_chunk_tokens;   /* each chunk so far reported its tokens */
    bool reasoned;           /* reasoning was received */
    /* As the server reported them; -1: it did not. */
    int64_t prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens;
    long status;
    unsigned sends;  /* how many times it was sent; after the first, on a fresh connection */
    unsigned unread; /* how many times it was sent without being read by the server */
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
    int64_t low;  /* INT64_MAX: nothing recorded */
    int64_t high; /* 0: nothing recorded, or only zeros */
};

/* How many requests were in flight during the window, or how many users were thinking. */
struct flight {
    int64_t count;      /* the current number */
    int64_t changed_ns; /* the time up to which busy_ns and `range` have been computed */
    double busy_ns;     /* the sum of their times in flight, or thinking, within the window */
    struct range range; /* of `count`, during the window */
};

struct tally {
    const struct load *load;
    /* All histograms are in nanoseconds. ICL and ITL (the gaps between chunks and between tokens)
     * are recorded for chunks that arrived in the window, or that were still missing at an idle
     * timeout. The other latencies are recorded for requests that count (see `attempted`) and
     * succeeded; some of these latencies also for requests that were cut off. */
    struct histogram *latency[METRIC_COUNT];
    struct histogram *chunk_gaps; /* what METRIC_ITL would be if each chunk were a token */
    struct histogram *lag;        /* how long, at most, bytes waited before they were read */
    struct histogram *wake;       /* how late the event loop's periodic timer was handled */
    /* How long after they were due requests were sent, not counting the time to connect. Requests
     * that `waited` are not included. */
    struct histogram *start_lag;
    struct histogram *connect; /* time to connect, without TLS; in all phases */
    struct histogram *tls;     /* time for the TLS handshake; in all phases */
    int64_t new_connections;

    /* Requests that count: in a closed loop, those that ended in the window; in an open loop, those
     * that were due in the window, whenever they ended. */
    int64_t attempted, succeeded;
    int64_t unanswered; /* in an open loop: requests not answered when the cell ended */
    int64_t unsent;     /* how many of these were not even begun (tally_unsent) */
    int64_t waited;     /* in an open loop: requests delayed because too many were in flight */
    int64_t failures[FAILURE_COUNT];

    int64_t early_failures[FAILURE_COUNT]; /* those of probes, and of requests in the warm-up */
    char failure_texts[FAILURE_COUNT][TALLY_FAILURE_TEXT_SIZE];
    /* In a closed loop: requests that were sent before the window, were in flight until after it,
     * and did not succeed. */
    int64_t held;

    /* Sums and ranges over the successful requests that count: */
    struct requested_lengths asked;
    struct range input, output;          /* tokens of one request */
    int64_t input_reported;              /* requests whose input tokens were reported */
    int64_t input_tokens, cached_tokens; /* as reported */
    int64_t reasoning_reported, reasoning_tokens;
    int64_t reasoned; /* requests whose answers had reasoning */
    int64_t output_tokens, chunks;
    /* Answers of full length with the finish reason "stop", although ignore_eos or min_tokens was
     * sent. */
    int64_t finish_wrong;
    int64_t finish_missing; /* answers without a finish reason */
    int64_t done_missing;   /* answers without [DONE] */

    /* Successful requests that ended in the window, from which its rates are computed: */
    struct {
        int64_t requests;
        int64_t good; /* within the goodput limits */
        int64_t input_reported, input_tokens;
        double e2e_ns; /* the sum of their times from sending to the end */
    } ended;
    int64_t window_sent;   /* requests sent in the window */
    double window_tokens;  /* tokens that arrived in the window, in answers that reported tokens */
    int64_t window_chunks; /* chunks that arrived in the window */
    int64_t uncounted_chunks; /* how many of these belong to answers that reported no tokens */
    int64_t second_chunks[TALLY_SECONDS]; /* window_chunks, by the second of the window */

    /* In all phases except the probes: */
    int64_t stale_connections; /* how often a request was sent again, on a fresh connection */
    int64_t left_open;         /* answers whose body did not end after [DONE] */
    /* Chunks with output that have arrived, in all phases. Until the load thread has ended, other
     * threads read only this member. */
    atomic_int_fast64_t arrived;
    struct flight flight, thinking;
    struct request probe; /* the latest probe that ended */
    struct request_records records;
    struct sent_totals_sums sent; /* requests and tokens in all phases */
};

/* Whether the request counts: in a closed loop if it ended in the window, in an open loop if it was
 * due in the window. */
static inline bool tally_counts(const struct load *load, const struct request *request)
{
    return load_in_window(load, load->arrivals != NULL ? request->due_ns : request->end_ns);
}

void tally_init(struct tally *tally, const struct load *load);
void tally_finish(struct tally *tally);

void tally_sent(struct tally *tally, int64_t now_ns); /* counts one more request in flight */
/* Adds `users`, which can be negative, to the number of users who are thinking before their next
 * request. */
void tally_think(struct tally *tally, int64_t now_ns, int users);
/* Records a chunk with output. `tokens` is its number of tokens; -1: not known. */
void tally_chunk(struct tally *tally, struct request *request, int64_t now_ns, int64_t tokens);
/* Records a new connection, and how long connecting and the TLS handshake took. 0: that step was
 * not reached or not needed. */
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
/* To be called after the last merge. If there are no gaps between tokens (ITL), but the answers had
 * one token per chunk on average, uses the gaps between chunks in their place. If no answer had
 * reasoning, clears the time to the first visible output (TTFO), which is then the same as TTFT. */
void tally_conclude(struct tally *tally);
/* The number of tokens in the answer: as its usage says, else as its chunks reported, else its
 * number of chunks. */
int64_t tally_output_tokens(const struct request *request);
/* The time from which a request's latencies count. In a closed loop, it is when the request was
 * sent. In an open loop, it is the scheduled time, so that a request that had to wait before it
 * could be sent does not look fast ("coordinated omission"). */
int64_t tally_origin_ns(const struct tally *tally, const struct request *request);
/* The mean number of tokens per chunk in the window, for the answers that reported tokens; NaN if
 * none did. */
double tally_tokens_per_chunk(const struct tally *tally);
