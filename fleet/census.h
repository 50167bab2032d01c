/* SPDX-License-Identifier: Apache-2.0 */
/* The instances behind one address, each by its own counters, at a moment when none of them is at
 * work: between two such moments, what all of them counted is known, though they answer in turns.
 * Private to fleet/. */
#pragma once

#include "fleet/engine_metrics.h"

#define CENSUS_MOST 16

/* Zero: nobody was seen yet. */
struct census {
    struct engine_metrics_snapshot at[CENSUS_MOST];
    size_t count;
    int again[CENSUS_MOST]; /* answers of each, and */
    int known;              /* of all, since the last that was new */
    bool busy;              /* a request ran or waited */
};

void census_note(struct census *census, const struct engine_metrics_snapshot *snapshot);
/* Whether another scrape is unlikely to tell anything new, or there are too many. */
bool census_is_over(const struct census *census);
/* Each is idle, and was seen as it was after all others. */
bool census_is_whole(const struct census *census);
/* What two instances or more counted between two censuses, as counters that began at nothing. False
 * where they are not of the same instances, or one is not whole. */
bool census_growth(const struct census *first, const struct census *last,
                   struct engine_metrics_snapshot *out);
