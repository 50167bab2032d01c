/* SPDX-License-Identifier: Apache-2.0 */
/* A cell is one measurement: a number of users, or of requests per second, with prompts and answers
 * of one length or length distribution, over one window. */
#pragma once

#include "base/net/endpoint.h"
#include "bench/load/connection_reuse.h"
#include "bench/workload/workload.h"
#include "store/ledger/sweeps.h"

struct cell_order {
    const struct endpoint *endpoint;
    const struct workload *workload;
    const struct plan *plan; /* window, timeouts, seed, goodput limits, ... */
    int64_t concurrency, input_tokens, output_tokens;
    int64_t context_tokens; /* the model's context length; 0: not known */
    /* What the prompts must leave room for, so that all the servers being compared accept them.
     * Zero: only what this server needs. */
    struct workload_room room;
    const struct dataset *dataset; /* the plan's dataset; NULL: prompts are generated */
    bool dataset_sent;             /* the server may already have received the dataset's prompts */
    /* Requests per second, in an open loop with the plan's arrivals and at most `concurrency`
     * requests in flight; 0: a closed loop of `concurrency` users. */
    double request_rate;
    int64_t repetition; /* varies the arrivals */
    /* Unique among the attempts of all sweeps, so that the prompts generated for this attempt are
     * unique, too. */
    uint64_t nonce;
    /* Begin with a single request, which measures the cold start and shows whether requests work
     * at all. */
    bool probe;
    unsigned shards; /* the maximum number of load threads */
    /* The chunks per second that one load thread can read (calibration.h); 0: not known. */
    double ceiling_chunks_s;
    /* About how long a request takes; 0: not known. If the plan has no ramp, the users' starts
     * are spread over about this time (or the probe's time, if the probe succeeded), so that users
     * are not in step. In an open loop, the longer of the two times also affects when the window
     * ends and how long answers are awaited. */
    double expected_e2e_s;
    /* What is known about the server's connections; NULL: nothing is shared with other cells. */
    struct connection_reuse *reuse;
    bool only_libcurl; /* use libcurl instead of our own HTTP/1.1 client, to compare the two */
    /* Returns true to stop. It is called at least about 20 times a second, from the first phase to
     * the last, and can also report the progress. */
    bool (*stopped)(void *context, const char *doing, double elapsed_s);
    void *context;
};

/* Blocks while the cell is measured: probe, warm-up, window, drain. Returns false only if `stopped`
 * returned true (CANCELLED). A cell that cannot be measured, because of the server, the prompts or
 * this machine, is a result, too: its state is failed or infeasible, and `reason` says why. Free
 * the result with cell_result_finish, whatever is returned. */
CHECKED bool cell_measure(const struct cell_order *order, struct cell_result *out,
                          struct error *error);
void cell_result_finish(struct cell_result *result);
