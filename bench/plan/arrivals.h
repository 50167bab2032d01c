/* SPDX-License-Identifier: Apache-2.0 */
/* When requests arrive in an open loop, independently of the server: a renewal process. Every
 * thread draws the same schedule and takes its turn in it, so that together they send exactly the
 * requested process, whatever its kind and the number of threads. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/random.h"

enum arrival {
    ARRIVAL_CLOSED,   /* none: each of the users sends when it has its answer */
    ARRIVAL_CONSTANT, /* equal gaps */
    ARRIVAL_POISSON,  /* exponential gaps */
    ARRIVAL_GAMMA, /* gamma gaps: with `burstiness` 1 as Poisson, below it in bursts, above it more
                    * regular (vLLM's word; the gaps' squared coefficient of variation is 1 /
                    * burstiness) */
};
extern const char *const arrival_names[]; /* by enum arrival: "closed", ...; ends with NULL */

struct arrivals {
    enum arrival process; /* not CLOSED */
    double rate;          /* per second */
    double burstiness;    /* of GAMMA; > 0 */
    double ramp_s;        /* over which the rate grows from 0, linearly */
    uint64_t seed;
};
/* The variance of the gaps between arrivals, divided by the square of their mean. */
double arrivals_variation(const struct arrivals *arrivals);

/* One thread's share of the schedule: the arrivals index, index + count, ... */
struct arrivals_share {
    const struct arrivals *arrivals;
    struct generator generator;
    size_t step;
    double due; /* when the next one is due, in mean gaps since the schedule's start */
};
void arrivals_share_begin(struct arrivals_share *arrivals_share, const struct arrivals *arrivals,
                          size_t index, size_t count);
/* When the next one is due: nanoseconds since the process began. */
int64_t arrivals_share_due_ns(const struct arrivals_share *arrivals_share);
void arrivals_share_step(struct arrivals_share *arrivals_share);
