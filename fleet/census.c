/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/census.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "fleet/metrics_map.h"

/* A census is over when no new instance was found in this many scrapes times the number of
 * instances found so far. The factor is high because a load balancer may choose instances at
 * random. */
#define REPEATS_PER_INSTANCE 6

/* Returns true if both snapshots may come from one process that did nothing in between. */
static bool are_one_process(const struct engine_metrics_snapshot *a,
                            const struct engine_metrics_snapshot *b)
{
    return !engine_metrics_has_restarted(a, b) && !engine_metrics_has_restarted(b, a);
}

void census_note(struct census *census, const struct engine_metrics_snapshot *snapshot)
{
    census->busy |= snapshot->requests_running > 0 || snapshot->requests_waiting > 0;
    for (size_t i = 0; i < census->count; i++)
        if (are_one_process(&census->instances[i], snapshot)) {
            census->repeats[i]++;
            census->repeats_in_all++;
            return;
        }
    if (census->count == CENSUS_INSTANCES_LIMIT)
        return;
    census->instances[census->count++] = *snapshot;
    census->repeats_in_all = 0;
    memset(census->repeats, 0, sizeof census->repeats);
}

bool census_is_over(const struct census *census)
{
    return census->count == CENSUS_INSTANCES_LIMIT
           || (census->count > 0
               && census->repeats_in_all >= REPEATS_PER_INSTANCE * (int)census->count);
}

bool census_is_complete(const struct census *census)
{
    for (size_t i = 0; i < census->count; i++)
        if (census->repeats[i] == 0)
            return false;
    return census->count > 0 && census->count < CENSUS_INSTANCES_LIMIT && !census->busy;
}

/* ---- Two censuses --------------------------------------------------------------------------- */

/* Pairs the instances of the first census with those of the last. */
struct pairing {
    const struct census *first, *last;
    /* For each instance of `first`, its index in `last`; CENSUS_INSTANCES_LIMIT: not paired yet. */
    size_t later[CENSUS_INSTANCES_LIMIT];
    bool tried[CENSUS_INSTANCES_LIMIT]; /* instances of `first` that the current search has tried */
};

/* Pairs the instance `later` of `last` with an instance of `first` that may be the same process. If
 * the instance of `first` is already paired, its partner must first be paired with another instance
 * of `first` (Kuhn's algorithm). Returns false if no such pairing exists. */
static bool pair_up(struct pairing *pairing, size_t later)
{
    for (size_t i = 0; i < pairing->first->count; i++) {
        if (pairing->tried[i]
            || engine_metrics_has_restarted(&pairing->first->instances[i],
                                            &pairing->last->instances[later]))
            continue;
        pairing->tried[i] = true;
        if (pairing->later[i] == CENSUS_INSTANCES_LIMIT || pair_up(pairing, pairing->later[i])) {
            pairing->later[i] = later;
            return true;
        }
    }
    return false;
}

/* Returns true if the first census may have missed the instance `later`. Instances that have done
 * nothing yet look alike, so a census counts them as one. */
static bool may_have_been_missed(const struct census *first,
                                 const struct engine_metrics_snapshot *later)
{
    for (size_t i = 0; i < first->count; i++)
        if (!(first->instances[i].generation_tokens_total > 0)
            && !(first->instances[i].prompt_tokens_total > 0)
            && !engine_metrics_has_restarted(&first->instances[i], later))
            return true;
    return false;
}

static bool have_same_instances(const struct census *first, const struct census *last)
{
    struct pairing pairing = { .first = first, .last = last };
    size_t paired = 0;

    for (size_t i = 0; i < CENSUS_INSTANCES_LIMIT; i++)
        pairing.later[i] = CENSUS_INSTANCES_LIMIT;
    for (size_t i = 0; i < last->count; i++) {
        memset(pairing.tried, 0, sizeof pairing.tried);
        if (pair_up(&pairing, i))
            paired++;
        else if (!may_have_been_missed(first, &last->instances[i]))
            return false;
    }
    return paired == first->count;
}

/* A counter that an instance does not report yet counts as zero. Returns NaN if no instance reports
 * the counter. */
static double sum_of(const struct census *census, size_t offset)
{
    double sum = NAN;

    for (size_t i = 0; i < census->count; i++) {
        double value;

        memcpy(&value, (const char *)&census->instances[i] + offset, sizeof value);
        if (isfinite(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

bool census_growth(const struct census *first, const struct census *last,
                   struct engine_metrics_snapshot *out)
{
#define GROWTH(member)                                                                             \
    engine_metrics_growth(sum_of(first, offsetof(struct engine_metrics_snapshot, member)),         \
                          sum_of(last, offsetof(struct engine_metrics_snapshot, member)))
    metrics_map_clear(out);
    if (!census_is_complete(first) || !census_is_complete(last) || last->count < 2
        || !have_same_instances(first, last))
        return false;
    out->requests_total = GROWTH(requests_total);
    out->prompt_tokens_total = GROWTH(prompt_tokens_total);
    out->generation_tokens_total = GROWTH(generation_tokens_total);
    return true;
#undef GROWTH
}
