/* SPDX-License-Identifier: Apache-2.0 */
/* When requests arrive in an open loop, where arrivals do not depend on the server: a renewal
 * process. Each of n threads draws the same schedule and sends every n-th request of it, so that
 * together they follow exactly the requested process. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/random.h"

enum arrival {
    ARRIVAL_CLOSED,   /* a closed loop: each user waits for its answer before its next request */
    ARRIVAL_CONSTANT, /* equal gaps */
    ARRIVAL_POISSON,  /* exponentially distributed gaps */
    /* Gamma-distributed gaps, whose squared coefficient of variation is 1 / burstiness (vLLM's
     * word). A burstiness of 1 is the same as Poisson; below 1, requests come in bursts; above 1,
     * they come more regularly. */
    ARRIVAL_GAMMA,
};
extern const char *const arrival_names[]; /* by enum arrival: "closed", ...; ends with NULL */

struct arrivals {
    enum arrival process; /* not CLOSED */
    double rate;          /* requests per second */
    double burstiness;    /* for GAMMA; > 0 */
    double ramp_s;        /* the rate grows linearly from 0 over this time; 0: it is full at once */
    uint64_t seed;
};
/* The variance of the gaps between arrivals, divided by the square of their mean. */
double arrivals_variation(const struct arrivals *arrivals);

/* One thread's share of the schedule, positioned at one arrival. */
struct arrivals_share {
    const struct arrivals *arrivals;
    struct generator generator;
    size_t step; /* every step-th arrival of the schedule belongs to the share */
    /* The sum of the gaps up to the arrival, in units of the mean gap. arrivals_share_due_ns
     * converts it to a time. */
    double due;
};
/* Positions the share at the first of the arrivals index, index + count, index + 2 count, ... The
 * first arrival of the schedule is number 0. */
void arrivals_share_begin(struct arrivals_share *arrivals_share, const struct arrivals *arrivals,
                          size_t index, size_t count);
/* When the share's current arrival is due: nanoseconds since the schedule's start. */
int64_t arrivals_share_due_ns(const struct arrivals_share *arrivals_share);
/* Moves to the share's next arrival. */
void arrivals_share_step(struct arrivals_share *arrivals_share);
