/* One user: the way to the endpoint that is used again for each request, and the request under way.
 */
#pragma once

#include <sys/queue.h>

#include "base/llm/completion_stream.h"
#include "bench/load/tally.h"
#include "bench/load/timer_heap.h"
#include "bench/load/transfer.h"

struct connection {
    const struct load *load;
    struct tally *tally;
    const struct loop *loop;
    struct transfer *transfer;
    struct completion_stream *stream;
    struct prompt prompt;
    struct request request;
    bool gave_up;    /* we stopped it: not a stream */
    int64_t done_ns; /* when [DONE] came; 0: not yet */
    /* The loop's. */
    struct deadline deadline;
    struct deadlines *deadlines; /* where it waits */
    bool is_busy;
    bool thinks;       /* before its next request */
    unsigned failures; /* in a row */
    int64_t rounds;    /* requests of the load phase that ended */
    STAILQ_ENTRY(connection) link;
};

/* INTERNAL when there is no memory. Free with connection_finish. */
bool connection_init(struct connection *connection, const struct load *load, struct tally *tally,
                     struct loop *loop, struct deadlines *deadlines, struct error *error);
void connection_finish(struct connection *connection);

/* Sends request `index`. */
void connection_begin(struct connection *connection, uint64_t index, bool is_probe, int64_t due_ns);
/* After transfer_end: the same request again, on a fresh connection: true where it may be (an open
 * connection that the server had closed, nothing received). */
bool connection_retry(struct connection *connection);
/* When the request under way runs into its next timeout, and into which; NONE: it is answered,
 * though its body stays open. */
int64_t connection_deadline_ns(const struct connection *connection, enum failure *which);
/* After transfer_end: what came of the request, which `cut` ended where it is not NONE. Tells the
 * tally. */
void connection_end(struct connection *connection, enum failure cut);
