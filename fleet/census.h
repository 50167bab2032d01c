/* SPDX-License-Identifier: Apache-2.0 */
/* A census of a model server's instances that share one address, so any of them may answer a
 * request. It holds the counters of each instance. Two censuses, both taken while all instances are
 * idle, show what all instances together counted in between. Private to fleet/. */
#pragma once

#include "fleet/engine_metrics.h"

#define CENSUS_INSTANCES_LIMIT 16

/* All members are zero before the first scrape. */
struct census {
    struct engine_metrics_snapshot instances[CENSUS_INSTANCES_LIMIT];
    size_t count; /* number of instances found so far */
    /* For each instance, how often it was scraped again, with unchanged counters, after the last
     * new instance was found. */
    int repeats[CENSUS_INSTANCES_LIMIT];
    int repeats_in_all; /* the sum of `repeats` */
    bool busy;          /* in some scrape, an instance had a request running or waiting */
};

/* Adds a scrape, either of an instance that was already found or of a new one. If the limit is
 * reached, ignores a new one. */
void census_note(struct census *census, const struct engine_metrics_snapshot *snapshot);
/* Returns true if another scrape is unlikely to find a new instance, or if the limit is reached. */
bool census_is_over(const struct census *census);
/* Returns true if at least one instance and fewer than the limit were found, all of them idle, and
 * each was scraped again with unchanged counters after the last new one was found. */
bool census_is_complete(const struct census *census);
/* Sets the requests, prompt tokens and generated tokens in *out to what all instances together
 * counted between two censuses, and all other figures to NaN. Returns false, with every figure NaN,
 * if the last census found fewer than two instances, if the instances differ between the censuses,
 * or if one of the censuses is incomplete. */
bool census_growth(const struct census *first, const struct census *last,
                   struct engine_metrics_snapshot *out);
