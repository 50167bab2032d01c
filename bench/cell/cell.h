/* SPDX-License-Identifier: Apache-2.0 */
/* One cell: so many users, or requests per second, prompts and answers of one length or of one
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
    struct workload_room room;     /* of the servers it is compared with; zero: of none */
    const struct dataset *dataset; /* of the plan; NULL: prompts are made up */
    bool dataset_sent;             /* in an earlier cell */
    double request_rate; /* > 0: an open loop of the plan's arrivals, with `concurrency` requests in
                          * flight at most */
    int64_t repetition;  /* makes other arrivals */
    uint64_t nonce;      /* another one for each attempt, of any sweep: prompts are unique by it */
    bool probe;          /* a request by itself first: the cold one, and whether it works at all */
    unsigned shards;     /* load threads at most, */
    double ceiling_chunks_s; /* and what one of them can read (calibration.h); 0: not known */
    double stagger_s; /* how long a request takes, roughly: users start spread over that time, so
                       * that they do not go in step; 0: not known (a probe tells) */
    struct connection_reuse
        *reuse;        /* what is known of the server's connections; NULL: of this cell alone */
    bool only_libcurl; /* not our own HTTP/1.1: to compare the two */
    /* Asked about ten times a second: whether to stop. May tell the progress on. */
    bool (*stopped)(void *context, const char *doing, double elapsed_s);
    void *context;
};

/* Blocking: probe, warm-up, window, drain. A server that fails makes a result of its own (failed,
 * or infeasible for this shape), with counts and a reason; false only where it was stopped
 * (CANCELLED) or this machine could not do it at all (INTERNAL). Free with cell_result_finish. */
CHECKED bool cell_measure(const struct cell_order *order, struct cell_result *out,
                          struct error *error);
void cell_result_finish(struct cell_result *result);
