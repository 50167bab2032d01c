/* SPDX-License-Identifier: Apache-2.0 */
/* The instances behind one address, distinguished by their own counters, at a moment when all of
 * them are idle. Between two such moments the sum of what they counted is known, although they
 * answer in turns. Private to fleet/. */
#pragma once

#include "fleet/engine_metrics.h"

#define CENSUS_MOST 16

/* Zero: no instance was seen yet. */
struct census {
    struct engine_metrics_snapshot at[CENSUS_MOST];
    size_t count;
    int again[CENSUS_MOST]; /* answers of each, and */
    int known;              /* of all, since the last new instance */
    bool busy;              /* a request was running or waiting */
};

void census_note(struct census *census, const struct engine_metrics_snapshot *snapshot);
/* Whether another scrape is unlikely to find a new instance, or there are too many. */
bool census_is_over(const struct census *census);
/* Whether each is idle, and answered the same after all others were seen. */
bool census_is_whole(const struct census *census);
/* What two or more instances counted between two censuses, as counters that start at zero. False if
 * they are not the same instances, or one census is incomplete. */
bool census_growth(const struct census *first, const struct census *last,
                   struct engine_metrics_snapshot *out);
