/* SPDX-License-Identifier: Apache-2.0 */
/* Which load to measure next, so that a few loads show what all would: the saturation point and the
 * largest load that meets the limits, at one context and output length. Pure functions of what is
 * measured so far: a resumed search continues where it was.
 *
 * What it relies on: tokens/s rise with the load up to a peak, and stay level or fall after it; no
 * user is served faster because there are more of them; a load above one that misses the limits
 * misses them too. Noise of SEARCH_NOISE is allowed for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/core/text.h"

#define SEARCH_NONE ((size_t)-1)
#define SEARCH_SHARE 0.95 /* share of the peak: saturated, as saturation.h defines it */
#define SEARCH_NOISE 0.02

enum level_state {
    LEVEL_UNKNOWN,
    LEVEL_SOUND, /* measured, and fit to be compared */
    LEVEL_LOST,  /* measured with too many failures, or failed */
};

struct search_level {
    double load; /* ascending; users, or requests per second */
    enum level_state state;
    double tokens_per_s; /* of a sound one */
    double slo_ratio;    /* of a known one: its largest figure / limit (slo.h); NaN: no limits */
    double slack; /* the share by which its tokens/s may be low because arrivals are random */
};

/* What an earlier search found at the same loads. */
struct search_hint {
    const struct search_level *levels;
    bool same_shape; /* an earlier repetition; else a shorter context, which saturates no earlier */
};

struct search_step {
    bool finished;
    size_t next; /* to be measured, unless finished */
    /* Indices of levels, SEARCH_NONE if there is none; final when finished. */
    size_t saturation, peak; /* as saturation.h defines it */
    size_t limit, miss;      /* largest that meets the limits, smallest above it that does not */
};

/* `hint` may be NULL. `has_limits`: the known levels have an slo_ratio. */
void search_step(const struct search_level *levels, size_t count, const struct search_hint *hint,
                 struct search_step *out);
/* The same if the server's capacity is unknown: starts from below and multiplies the load by four,
 * until tokens/s stop growing or requests fail; levels above need not be measured. */
void search_climb(const struct search_level *levels, size_t count, const struct search_hint *hint,
                  struct search_step *out);
/* Why a level need not be measured, once the search is finished: "over the saturation point at 128
 * users; 160 users miss the limits". Loads are requests per second if `is_rate`, else users. */
void search_explain(const struct search_level *levels, const struct search_step *step, size_t level,
                    bool is_rate, struct text *out);
/* At most this many of `count` levels are measured; a test verifies it. */
size_t search_most(size_t count);
