/* SPDX-License-Identifier: Apache-2.0 */
/* Where a server saturates, by its figures at a few loads. Saturation: the smallest load whose
 * output tokens/s reach SATURATION_SHARE of the most that the server gives at any load. Capacity:
 * how many requests it works on at once while others wait. A coarse grid seldom has that load, so
 * the answer is an interval that holds it. Pure functions; private to analysis/.
 *
 * They rely on three things. No user is served faster because there are more of them, so that a
 * load bounds what a greater one can give (Little 1961). Tokens/s rise to one peak. The time per
 * token grows at least as fast from load to load as before, so that its growth bounds the peak
 * beyond and between the loads. A server that pads its batches breaks the last one a little; loads
 * that double do not see it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SATURATION_SHARE 0.95

struct load_point {
    double load; /* users, or requests per second */
    double tokens_per_s;
    double noise;           /* tokens/s may be off by this share (95 % confidence) */
    double ttft_ms, e2e_ms; /* medians; NaN: not known */
    double waiting;         /* average number of requests that waited on the server; NaN: not known
                             */
    bool overloaded;        /* the queue of an open loop grew */
    bool at_least;          /* the load generator was the bottleneck: the server may give more */
};

struct load_verdict {
    bool reached;     /* false: saturation is, or may be, beyond the largest load */
    double low, high; /* the interval, both ends included; high is INFINITY unless reached */
    size_t at;        /* the smallest point that is certainly saturated; else the last */
    double at_once;   /* requests processed while others wait; INFINITY: none was seen to wait */
};

/* `points`: two or more, ascending in load, all fit to be compared. `is_rate`: from an open loop.
 */
struct load_verdict load_curve_judge(const struct load_point *points, size_t count, bool is_rate);

/* Suggests loads that would narrow the interval, ascending, without the points themselves; returns
 * how many. */
#define LOADS_TO_MEASURE 3
size_t load_curve_next(const struct load_point *points, size_t count, bool is_rate,
                       const struct load_verdict *verdict, double out[LOADS_TO_MEASURE]);
