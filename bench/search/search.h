/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which load to measure next, so that a few measurements are enough to find the saturation
 * point and the largest load that meets the limits, at one context (prompt length) and output
 * length. The functions depend only on what has been measured so far, so that a resumed search
 * continues where it stopped.
 *
 * The search makes three assumptions, which need to hold only up to a noise of SEARCH_NOISE:
 * tokens/s rise with the load up to a peak, and then stay level or fall; no user is served faster
 * because there are more users; and if a load misses the limits, all larger loads miss them too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/text.h"

#define SEARCH_NONE ((size_t)-1)
/* A load with at least this share of the peak's tokens/s counts as saturated. */
#define SEARCH_SHARE 0.95
#define SEARCH_NOISE 0.02

enum level_state {
    LEVEL_UNKNOWN,
    LEVEL_SOUND, /* measured, and its figures can be compared with those of other levels */
    LEVEL_LOST,  /* infeasible, failed or skipped, or its figures cannot be compared */
};

/* One load that can be measured. Sound and lost levels are called known. */
struct search_level {
    double load; /* users, or requests per second; levels are in ascending order */
    enum level_state state;
    double tokens_per_s; /* set only for a sound level */
    /* For a known level: the largest ratio of a figure to its limit (base/measure/slo.h); NaN if
     * there are no limits. */
    double slo_ratio;
    /* tokens_per_s may be too low by up to this share, because arrivals are random; 0: they are
     * not. */
    double slack;
};

/* What an earlier search found at the same loads. */
struct search_hint {
    const struct search_level *levels;
    /* True: the earlier search was the same one, in an earlier repetition. False: it had a shorter
     * context, so its saturation point is at the same load or a higher one. */
    bool same_shape;
};

struct search_step {
    bool finished;
    size_t next; /* index of the level to measure; SEARCH_NONE if finished */
    /* Indices of known levels; SEARCH_NONE if there is no such level. They are final when the
     * search has finished. */
    size_t saturation; /* the smallest with at least SEARCH_SHARE of the peak's tokens/s */
    size_t peak;       /* the one with the most tokens/s */
    size_t limit;      /* the largest that meets the limits */
    /* The smallest above `limit`; it misses the limits. If `limit` is SEARCH_NONE, the smallest of
     * all. */
    size_t miss;
};

/* Finds the next step of a search. `hint` may be NULL. */
void search_step(const struct search_level *levels, size_t count, const struct search_hint *hint,
                 struct search_step *out);
/* The same for a server of unknown capacity. First climbs from the smallest load: each step goes to
 * the next load that is at least four times as large or, if there is none, to the largest load. The
 * climb ends when tokens/s stop growing, a level is lost, or the largest load is known. Then
 * searches only up to the level that the climb reached. */
void search_climb(const struct search_level *levels, size_t count, const struct search_hint *hint,
                  struct search_step *out);
/* Appends the reason why a level need not be measured, such as "over the saturation point at 128
 * users; 160 users miss the limits". The search must have finished. Loads are requests per second
 * if `is_rate`, else users. */
void search_explain(const struct search_level *levels, const struct search_step *step, size_t level,
                    bool is_rate, struct text *out);
/* The maximum number of levels that are measured before search_step finishes, if there are `count`
 * levels. */
size_t search_most(size_t count);
