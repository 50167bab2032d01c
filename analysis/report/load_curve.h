/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where a server saturates, from its figures at a few loads. Saturation is the smallest load
 * whose output tokens/s reach SATURATION_SHARE of the most that the server gives at any load. A
 * coarse grid seldom includes exactly that load, so the answer is an interval that contains it.
 * Also finds the number of requests that the server works on at once while others wait. Pure
 * functions; private to analysis/.
 *
 * The functions rely on three assumptions. Adding users never makes the server faster for any
 * of them, so what one load gives bounds what a larger load can give (Little 1961). Tokens/s rise
 * to a single peak. The time per token (load divided by tokens/s) never grows more slowly than it
 * did at smaller loads, so its growth bounds the peak between the measured loads and beyond them. A
 * server that pads its batches violates the last assumption slightly; this does not matter if each
 * load is at least twice the previous one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SATURATION_SHARE 0.95
#define NOISE_LEAST 0.005  /* the minimum noise to assume for a load_point */
#define NOISE_UNKNOWN 0.02 /* the noise to assume if no confidence interval is known */

struct load_point {
    double load; /* users, or requests per second */
    double tokens_per_s;
    double noise;           /* tokens/s may be off by this share (95 % confidence) */
    double ttft_ms, e2e_ms; /* medians; NaN: not known */
    double waiting;         /* requests that waited on the server, on average; NaN: not known */
    bool overloaded;        /* the queue of an open loop grew */
    bool at_least;          /* the load generator was the bottleneck: the server may give more */
};

struct load_verdict {
    bool reached;   /* false: saturation is, or may be, beyond the largest load */
    double low;     /* the smallest load in the interval that contains saturation */
    double high;    /* the largest load in that interval; INFINITY unless `reached` */
    size_t at;      /* index of the first saturated point; if there is none, of the last point */
    double at_once; /* requests processed while others wait; INFINITY: none are known to wait */
};

/* `points`: two or more, ascending in load, all sound (grid_point_is_sound) and with tokens/s above
 * 0. `is_rate`: the loads are arrival rates. */
struct load_verdict load_curve_judge(const struct load_point *points, size_t count, bool is_rate);

/* Writes loads that would narrow the interval if they were measured, in ascending order; none of
 * them is the load of a point. Returns how many. */
#define LOADS_TO_MEASURE 3
size_t load_curve_next(const struct load_point *points, size_t count, bool is_rate,
                       const struct load_verdict *verdict, double out[LOADS_TO_MEASURE]);
