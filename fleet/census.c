/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/census.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "fleet/metrics_map.h"

#define KNOWN_PER_INSTANCE 6 /* answers without a new instance: a balancer may choose at random */

/* Whether both are one process that did nothing in between. */
static bool are_same(const struct engine_metrics_snapshot *a,
                     const struct engine_metrics_snapshot *b)
{
    return !engine_metrics_has_restarted(a, b) && !engine_metrics_has_restarted(b, a);
}

void census_note(struct census *census, const struct engine_metrics_snapshot *snapshot)
{
    census->busy |= snapshot->requests_running > 0 || snapshot->requests_waiting > 0;
    for (size_t i = 0; i < census->count; i++)
        if (are_same(&census->at[i], snapshot)) {
            census->again[i]++;
            census->known++;
            return;
        }
    if (census->count == CENSUS_MOST)
        return;
    census->at[census->count++] = *snapshot;
    census->known = 0;
    memset(census->again, 0, sizeof census->again);
}

bool census_is_over(const struct census *census)
{
    return census->count == CENSUS_MOST
           || (census->count > 0 && census->known >= KNOWN_PER_INSTANCE * (int)census->count);
}

bool census_is_whole(const struct census *census)
{
    for (size_t i = 0; i < census->count; i++)
        if (census->again[i] == 0)
            return false;
    return census->count > 0 && census->count < CENSUS_MOST && !census->busy;
}

/* ---- Two censuses --------------------------------------------------------------------------- */

/* Which instances of the first census may have become which of the last. */
struct pairing {
    const struct census *first, *last;
    size_t later[CENSUS_MOST]; /* for each of the first, its index in the last; CENSUS_MOST: none */
    bool tried[CENSUS_MOST];
};

/* Assigns one of the first to `later`, moving another assignment where that has a choice (Kuhn). */
static bool pair_up(struct pairing *pairing, size_t later)
{
    for (size_t i = 0; i < pairing->first->count; i++) {
        if (pairing->tried[i]
            || engine_metrics_has_restarted(&pairing->first->at[i], &pairing->last->at[later]))
            continue;
        pairing->tried[i] = true;
        if (pairing->later[i] == CENSUS_MOST || pair_up(pairing, pairing->later[i])) {
            pairing->later[i] = later;
            return true;
        }
    }
    return false;
}

/* Several instances that have done nothing yet look like one. */
static bool was_fresh(const struct census *first, const struct engine_metrics_snapshot *later)
{
    for (size_t i = 0; i < first->count; i++)
        if (!(first->at[i].generation_tokens_total > 0) && !(first->at[i].prompt_tokens_total > 0)
            && !engine_metrics_has_restarted(&first->at[i], later))
            return true;
    return false;
}

static bool are_of_the_same(const struct census *first, const struct census *last)
{
    struct pairing pairing = { .first = first, .last = last };
    size_t paired = 0;

    for (size_t i = 0; i < CENSUS_MOST; i++)
        pairing.later[i] = CENSUS_MOST;
    for (size_t i = 0; i < last->count; i++) {
        memset(pairing.tried, 0, sizeof pairing.tried);
        if (pair_up(&pairing, i))
            paired++;
        else if (!was_fresh(first, &last->at[i]))
            return false;
    }
    return paired == first->count;
}

/* A counter that is not reported yet is zero. */
static double sum_of(const struct census *census, size_t offset)
{
    double sum = NAN;

    for (size_t i = 0; i < census->count; i++) {
        double value;

        memcpy(&value, (const char *)&census->at[i] + offset, sizeof value);
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
    if (!census_is_whole(first) || !census_is_whole(last) || last->count < 2
        || !are_of_the_same(first, last))
        return false;
    out->requests_total = GROWTH(requests_total);
    out->prompt_tokens_total = GROWTH(prompt_tokens_total);
    out->generation_tokens_total = GROWTH(generation_tokens_total);
    return true;
#undef GROWTH
}
