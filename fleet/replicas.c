/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/replicas.h"

#include <math.h>
#include <time.h>

#include "base/core/clock.h"
#include "fleet/metrics_map.h"
#include "fleet/small_request.h"

/* How many more scrapes are made at the start of a series, and after counters fell or another
 * process answered. */
#define SCRAPES_IF_DOUBTFUL 12
/* How many more scrapes are made if the server does not report its start time, so that only
 * counters distinguish instances. */
#define SCRAPES_WITHOUT_START 2
#define SHORTEST_PAUSE_NS 10000000
#define PAUSE_VARIES_NS 30000000 /* so that we do not stay in step with another scraper */
#define RETURN_WITHIN_NS 1000000000
#define TRY_WITHIN_MS 5000

/* Returns true if the process that answered just before the latest fall (scrape `before_fall`)
 * seems to have answered again within a second. After a restart, counters do not return to their
 * previous values that soon. */
static bool has_returned(const struct replicas *instances,
                         const struct engine_metrics_snapshot *snapshot)
{
    return instances->falls > 0 && snapshot->at_ns - instances->before_fall.at_ns < RETURN_WITHIN_NS
           && !engine_metrics_has_restarted(&instances->before_fall, snapshot);
}

static void compare(struct replicas *instances, const struct engine_metrics_snapshot *snapshot)
{
    instances->returned |= has_returned(instances, snapshot);
    if (!engine_metrics_has_restarted(&instances->latest, snapshot))
        return;
    instances->falls++;
    instances->before_fall = instances->latest;
    instances->newer += snapshot->process_start_s > instances->newest_start_s + 1;
    instances->returned |= snapshot->process_start_s < instances->newest_start_s - 1;
}

void replicas_note(struct replicas *instances, const struct engine_metrics_snapshot *snapshot)
{
    if (instances->scrapes++ == 0) {
        instances->newest_start_s = snapshot->process_start_s;
    } else {
        compare(instances, snapshot);
        instances->newest_start_s = fmax(instances->newest_start_s, snapshot->process_start_s);
    }
    instances->latest = *snapshot;
}

/* A process that does not report its start time, or started within a second of another, is
 * recognized only by its counters. A server that does not report its start time is mistaken for
 * several instances if it restarts twice before replicas_check sets `falls` to 0. */
bool replicas_are_several(const struct replicas *instances)
{
    return instances->returned || instances->falls - instances->newer > 1;
}

bool replicas_have_restarted(const struct replicas *instances)
{
    return instances->falls > 0 && !replicas_are_several(instances);
}

static void scrape_again(const struct small_request *ask, int count, struct replicas *instances)
{
    struct engine_metrics_snapshot snapshot;
    struct error ignored;

    for (int i = 0; i < count && !replicas_are_several(instances); i++) {
        const struct timespec pause = { .tv_nsec = SHORTEST_PAUSE_NS
                                                   + clock_monotonic_ns() % PAUSE_VARIES_NS };

        nanosleep(&pause, NULL);
        if (!metrics_map_fetch(ask, &snapshot, &ignored))
            return;
        replicas_note(instances, &snapshot);
    }
}

bool replicas_check(const struct small_request *ask, const struct engine_metrics_snapshot *snapshot,
                    struct replicas *instances)
{
    bool is_first = instances->scrapes == 0, several;

    replicas_note(instances, snapshot);
    if (is_first || instances->falls > 0)
        scrape_again(ask, SCRAPES_IF_DOUBTFUL, instances);
    else if (isnan(snapshot->process_start_s))
        scrape_again(ask, SCRAPES_WITHOUT_START, instances);
    several = replicas_are_several(instances);
    if (several) /* the next scrape begins a new series */
        *instances = (struct replicas){ 0 };
    else
        instances->falls = instances->newer = 0; /* any falls so far were restarts */
    return several;
}

bool replicas_try(const struct endpoint *endpoint, struct error *error)
{
    const struct small_request ask = small_request_begin(endpoint, TRY_WITHIN_MS);
    struct replicas instances = { 0 };
    struct engine_metrics_snapshot snapshot;

    return metrics_map_fetch(&ask, &snapshot, error)
           && (!replicas_check(&ask, &snapshot, &instances)
               || error_set(error, ERROR_UPSTREAM, REPLICAS_SEVERAL));
}
