/* SPDX-License-Identifier: Apache-2.0 */
/* One cell: a number of users, or of requests per second, with prompts and answers of one length or
 * distribution, over one window. */
#pragma once

#include "base/net/endpoint.h"
#include "bench/load/connection_reuse.h"
#include "bench/workload/workload.h"
#include "store/ledger/sweeps.h"

struct cell_order {
    const struct endpoint *endpoint;
    const struct workload *workload;
    const struct plan *plan; /* window, timeouts, seed, goodput limits */
    int64_t concurrency, input_tokens, output_tokens;
    int64_t context_tokens;        /* of the model; 0: not known */
    struct workload_room room;     /* common to the servers it is compared with; zero: there are
                                    * none */
    const struct dataset *dataset; /* the plan's dataset; NULL: prompts are generated */
    bool dataset_sent;             /* an earlier cell already sent it */
    double request_rate; /* > 0: an open loop of the plan's arrivals, with at most `concurrency`
                          * requests in flight */
    int64_t repetition;  /* varies the arrivals */
    uint64_t nonce;      /* different for each attempt, of any sweep, so that its prompts are unique
                          */
    bool probe; /* begins with a single request, which measures the cold start and shows whether
                   requests work at all */
    unsigned shards;         /* at most this many load threads, */
    double ceiling_chunks_s; /* and how much one of them can read (calibration.h); 0: not known */
    double stagger_s; /* approximate time of a request: users start spread over it, so that they are
                       * not in step; 0: not known (a probe measures it) */
    struct connection_reuse *reuse; /* what is known of the server's connections; NULL: nothing is
                                     * shared with other cells */
    bool only_libcurl; /* uses libcurl instead of our own HTTP/1.1 client: to compare the two */
    /* Returns whether to stop; called about ten times a second. It may also report the progress. */
    bool (*stopped)(void *context, const char *doing, double elapsed_s);
    void *context;
};

/* Blocking: probe, warm-up, window, drain. A server that fails yields a result (failed, or
 * infeasible for this shape), with counts and a reason; false only if it was stopped (CANCELLED) or
 * this machine could not measure it (INTERNAL). Free with cell_result_finish. */
CHECKED bool cell_measure(const struct cell_order *order, struct cell_result *out,
                          struct error *error);
void cell_result_finish(struct cell_result *result);
