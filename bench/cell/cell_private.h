/* SPDX-License-Identifier: Apache-2.0 */
/* A cell while it is being measured. Private to cell.c (runs the phases), cell_window.c (the
 * warm-up and the window) and cell_finish.c (writes the result). */
#pragma once

#include "bench/cell/cell.h"
#include "bench/cell/credential_renewal.h"
#include "bench/cell/evenness.h"
#include "bench/cell/steady.h"
#include "bench/load/shard.h"

#define SHARDS_LIMIT 16
#define DRAIN_LIMIT_S 10.0

struct cell {
    const struct cell_order *order;
    struct load load;
    struct credential_renewal *renewal; /* NULL: the credential does not expire */
    struct prompt_source *prompts;
    struct target_address target;
    struct connection_reuse reuse; /* used if the order has none */
    struct shard *shards[SHARDS_LIMIT];
    size_t shard_count;
    int64_t begun_ns, ended_ns;
    int64_t drain_ns;        /* when the drain began; 0: it has not begun */
    char doing[96];          /* text for the progress (cell_set_doing) */
    int64_t doing_ns;        /* when `doing` was written */
    int64_t window_start_ms; /* UTC */
    bool unsettled;          /* the warm-up reached its limit before the load settled */
    struct evenness evenness;
    struct steady progress; /* samples of the chunks that all threads read, during the window */

    /* Only for an open loop: */
    struct arrivals arrivals;
    struct arrivals_share schedule; /* of all threads together, positioned at the next arrival */
    int64_t arrived;                /* number of arrivals before that one */
    int64_t window_arrivals;        /* number of arrivals within the window */
    struct steady backlog; /* samples, in the window, of how many due requests have not ended */

    /* Until the window has been measured, the next three are the readings taken just before it;
     * afterwards, how much each reading has grown since then. */
    int64_t cpu_ns[SHARDS_LIMIT];      /* each thread's CPU time */
    int64_t cpu_wait_ns[SHARDS_LIMIT]; /* how long each thread was ready but waited for a CPU */
    int64_t elapsed_ns;                /* monotonic clock */
    struct tally total;
};

/* Fills in the result of a cell whose threads have ended. Moves the histograms out of cell->total
 * into the result. */
void cell_result_fill(struct cell *cell, struct cell_result *out);
/* Fills in the result of a cell that could not start and sent nothing. `why` says what was missing,
 * for example file descriptors or the server's address. */
void cell_result_fill_unsent(const struct error *why, struct cell_result *out);

static inline bool cell_is_open(const struct cell *cell)
{
    return cell->order->request_rate > 0;
}
void cell_set_phase(struct cell *cell, enum phase phase);
/* Sleeps 50 ms, or until a load thread has news. CANCELLED if the caller wants the cell to stop. */
CHECKED bool cell_tick(struct cell *cell, const char *doing, struct error *error);
/* Adds up the status of all threads, except the probe's failure and time. */
void cell_read_status(struct cell *cell, struct shard_status *out);
double cell_seconds_since(int64_t from_ns);
/* Sets the text of the cell's progress: a phase, or a phase with the figures so far. */
void cell_set_doing(struct cell *cell, const char *text);
/* Sets the progress to the phase with the figures so far, at most once a second: "measuring: 50
 * tokens/s, TTFT 22 ms". */
void cell_describe(struct cell *cell, const char *phase, const struct steady *chunks,
                   const struct shard_status *status);

/* Puts the server under load, and waits until the load has settled or the plan's limit is reached.
 * Sets *failing, and stops waiting, if no request succeeds, so that measuring would be pointless.
 * CANCELLED if stopped. */
CHECKED bool cell_warm_up(struct cell *cell, bool *failing, struct error *error);
/* Measures from the window's start to its end; in an open loop, also waits, for a limited time, for
 * the answers to the requests that were due in the window. CANCELLED if stopped. */
CHECKED bool cell_measure_window(struct cell *cell, struct error *error);
