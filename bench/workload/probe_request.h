/* SPDX-License-Identifier: Apache-2.0 */
/* Single requests to a model server, to find out how to talk to it. */
#pragma once

#include "base/net/endpoint.h"
#include "base/net/outbound.h"
#include "bench/workload/workload.h"

struct asker {
    const struct endpoint *endpoint;
    bool (*stopped)(void *context); /* returns whether to stop; called at least 5 times a second */
    void *context;
    int64_t silence_limit_ms; /* a stream without an event for longer than this has failed; 0: only
                                 the limit of 5 minutes per request applies */
};

/* POSTs JSON to `path`; *response, the error and the return value are those of outbound_perform.
 * After a 429 or 503 with Retry-After, each function in this file waits and retries, as long as all
 * waits of one call together take at most two minutes. */
CHECKED bool probe_request_post(const struct asker *asker, const char *path,
                                const struct text *body, struct outbound_response *response,
                                struct error *error);

/* Finds out how many tokens the server counts for a prompt of `count` pieces. `which` has their
 * indices in workload->pieces; if it is NULL, the first pieces are used, and repeated if there are
 * too few. *tokens is -1 if the server answers without a count. *status is the answer's status, or
 * 0 if there was no answer. Returns false unless the status is 2xx and the answer can be read. */
CHECKED bool probe_request_count(const struct asker *asker, const struct workload *workload,
                                 const size_t *which, size_t count, int64_t *tokens, long *status,
                                 struct error *error);

/* Requests a streamed answer of two tokens to a prompt of a few pieces, with all of the workload's
 * fields. *reports_usage says whether the answer contained token counts. Here and in the functions
 * below, *status is the same as in probe_request_count. These functions also return false if the
 * answer is not a stream, contains an error, or falls silent. */
CHECKED bool probe_request_stream(const struct asker *asker, const struct workload *workload,
                                  bool *reports_usage, long *status, struct error *error);

/* How a server divides its answers into chunks. */
struct stream_shape {
    int64_t chunks;            /* chunks with output */
    int64_t tokens;            /* from the stream's usage; -1: not reported */
    bool reports_chunk_tokens; /* each chunk reported its tokens */
};
/* Requests a short stream, and reports how the server divided it. */
CHECKED bool probe_request_shape(const struct asker *asker, const struct workload *workload,
                                 struct stream_shape *out, long *status, struct error *error);

/* The length of an answer, and how it ended. */
struct stream_ending {
    int64_t tokens; /* from the stream's usage; without usage, the number of chunks with output */
    bool by_model;  /* the answer has a finish_reason other than "length" */
};
/* Requests an answer of at most output_tokens to a prompt of `pieces` pieces. */
CHECKED bool probe_request_ending(const struct asker *asker, const struct workload *workload,
                                  size_t pieces, int64_t output_tokens, struct stream_ending *out,
                                  long *status, struct error *error);
