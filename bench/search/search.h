/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which load to measure next, so that a few loads show what all would: the saturation point
 * and the largest load that meets the limits, at one context and output length. The functions
 * depend only on what has been measured so far, so that a resumed search continues where it
 * stopped.
 *
 * The search assumes, up to a noise of SEARCH_NOISE, that tokens/s rise with the load up to a peak,
 * and stay level or fall after it; that no user is served faster because there are more of them;
 * and that a load above one that misses the limits misses them too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/text.h"

#define SEARCH_NONE ((size_t)-1)
#define SEARCH_SHARE 0.95 /* share of the peak from which a load counts as saturated */
#define SEARCH_NOISE 0.02

enum level_state {
    LEVEL_UNKNOWN,
    LEVEL_SOUND, /* measured, and fit to be compared */
    LEVEL_LOST,  /* tried, but it failed, or its figures are not fit to be compared */
};

/* One load that may be measured. Sound and lost levels are called known. */
struct search_level {
    double load; /* users, or requests per second; levels are in ascending order */
    enum level_state state;
    double tokens_per_s; /* only of a sound level */
    double slo_ratio; /* of a known level: its largest figure / limit (base/measure/slo.h); NaN: no
                         limits */
    double slack;     /* tokens_per_s may be too low by this share, as arrivals are random */
};

/* What an earlier search found at the same loads. */
struct search_hint {
    const struct search_level *levels;
    /* True: from an earlier repetition; false: at a shorter context, which does not saturate at a
     * lower load. */
    bool same_shape;
};

struct search_step {
    bool finished;
    size_t next; /* the level to measure, unless finished */
    /* Indices of levels, SEARCH_NONE if there is none; final when finished. */
    size_t saturation;  /* the smallest that has SEARCH_SHARE of the peak's tokens/s */
    size_t peak;        /* the one with the most tokens/s */
    size_t limit, miss; /* largest that meets the limits, smallest above it that does not */
};

/* Finds the next step of a search. `hint` may be NULL. */
void search_step(const struct search_level *levels, size_t count, const struct search_hint *hint,
                 struct search_step *out);
/* The same for a server of unknown capacity: first climbs from the smallest load, each time to the
 * next one that is at least four times as large, or else to the largest, until tokens/s stop
 * growing, a level is lost, or the largest load is known. Then it searches up to the level that was
 * reached; those above it need not be measured. */
void search_climb(const struct search_level *levels, size_t count, const struct search_hint *hint,
                  struct search_step *out);
/* Appends why a level need not be measured, once the search is finished: "over the saturation point
 * at 128 users; 160 users miss the limits". Loads are requests per second if `is_rate`, else
 * users. */
void search_explain(const struct search_level *levels, const struct search_step *step, size_t level,
                    bool is_rate, struct text *out);
/* The most levels of `count` that search_step has measured before it finishes. */
size_t search_most(size_t count);
