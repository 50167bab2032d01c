/* One user: an easy handle that is used again for each request, and the request under way. */
#pragma once

#include <sys/queue.h>

#include "base/completion_stream.h"
#include "bench/deadlines.h"
#include "bench/loop.h"
#include "bench/tally.h"

struct connection {
    const struct load *load;
    struct tally *tally;
    const struct loop *loop;
    CURL *easy;
    struct curl_slist *headers;
    char *request_id; /* in the headers' memory, written over for each request */
    struct completion_stream *stream;
    char curl_said[CURL_ERROR_SIZE];
    struct prompt prompt;
    struct request request;
    bool gave_up; /* our own write callback stopped it: not a stream */
    /* The loop's. */
    struct deadline deadline;
    bool is_busy;
    unsigned failures; /* in a row */
    int64_t rounds;    /* requests of the load phase that ended */
    STAILQ_ENTRY(connection) link;
};

/* UPSTREAM never: only INTERNAL, when libcurl has no memory. Free with connection_finish. */
bool connection_init(struct connection *connection, const struct load *load, struct tally *tally,
                     const struct loop *loop, struct error *error);
void connection_finish(struct connection *connection);

/* Prepares request `index` on the easy handle, to be added to a multi handle. */
void connection_prepare(struct connection *connection, uint64_t index, bool is_probe,
                        int64_t due_ns);
/* The same request again, on a fresh connection: true where it may be (an open connection that the
 * server had closed, nothing received). */
bool connection_retry(struct connection *connection, CURLcode code);
/* When the request under way runs into its next timeout, and into which. */
int64_t connection_deadline_ns(const struct connection *connection, enum failure *which);
/* Ends the request: `code` of the transfer, or `cut` where we ended it. Tells the tally. */
void connection_end(struct connection *connection, CURLcode code, enum failure cut);
