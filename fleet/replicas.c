#include "fleet/replicas.h"

#include <math.h>
#include <time.h>

#include "base/core/clock.h"
#include "fleet/metrics_map.h"
#include "fleet/small_request.h"

#define LOOKS 12       /* where something speaks for several */
#define LOOKS_ALWAYS 2 /* where only counters tell them apart */
#define SHORTEST_PAUSE_NS 10000000
#define PAUSE_VARIES_NS 30000000 /* or whoever else scrapes may stay in step with us */
#define RETURN_WITHIN_NS 1000000000
#define TRY_WITHIN_MS 5000

/* Counters of a process that restarted are not soon where they were before it. */
static bool has_returned(const struct instances *instances, const struct metrics_snapshot *snapshot)
{
    return instances->falls > 0 && snapshot->at_ns - instances->before_fall.at_ns < RETURN_WITHIN_NS
           && !metrics_has_restarted(&instances->before_fall, snapshot);
}

static void compare(struct instances *instances, const struct metrics_snapshot *snapshot)
{
    instances->returned |= has_returned(instances, snapshot);
    if (!metrics_has_restarted(&instances->latest, snapshot))
        return;
    instances->falls++;
    instances->before_fall = instances->latest;
    instances->newer += snapshot->process_start_s > instances->newest_start_s + 1;
    instances->returned |= snapshot->process_start_s < instances->newest_start_s - 1;
}

void instances_note(struct instances *instances, const struct metrics_snapshot *snapshot)
{
    if (instances->scrapes++ == 0) {
        instances->newest_start_s = snapshot->process_start_s;
    } else {
        compare(instances, snapshot);
        instances->newest_start_s = fmax(instances->newest_start_s, snapshot->process_start_s);
    }
    instances->latest = *snapshot;
}

/* A process that does not say when it started (or did within a second of another) is told by its
 * counters: a server that restarts twice within one attempt is taken for several then. */
bool instances_are_several(const struct instances *instances)
{
    return instances->returned || instances->falls - instances->newer > 1;
}

bool instances_have_restarted(const struct instances *instances)
{
    return instances->falls > 0 && !instances_are_several(instances);
}

static void look(const struct ask *ask, int looks, struct instances *instances)
{
    struct metrics_snapshot snapshot;
    struct error ignored;

    for (int i = 0; i < looks && !instances_are_several(instances); i++) {
        const struct timespec pause = { .tv_nsec = SHORTEST_PAUSE_NS
                                                   + clock_monotonic_ns() % PAUSE_VARIES_NS };

        nanosleep(&pause, NULL);
        if (!metrics_ask(ask, &snapshot, &ignored))
            return;
        instances_note(instances, &snapshot);
    }
}

bool instances_check(const struct ask *ask, const struct metrics_snapshot *snapshot,
                     struct instances *instances)
{
    bool is_first = instances->scrapes == 0, several;

    instances_note(instances, snapshot);
    if (is_first || instances->falls > 0)
        look(ask, LOOKS, instances);
    else if (isnan(snapshot->process_start_s))
        look(ask, LOOKS_ALWAYS, instances);
    several = instances_are_several(instances);
    if (several) /* the next scrape begins a new row */
        *instances = (struct instances){ 0 };
    else
        instances->falls = instances->newer = 0; /* a restart, which is over */
    return several;
}

bool instances_try(const struct endpoint *endpoint, struct error *error)
{
    const struct ask ask = ask_begin(endpoint, TRY_WITHIN_MS);
    struct instances instances = { 0 };
    struct metrics_snapshot snapshot;

    return metrics_ask(&ask, &snapshot, error)
           && (!instances_check(&ask, &snapshot, &instances)
               || error_set(error, ERROR_UPSTREAM, INSTANCES_SEVERAL));
}
