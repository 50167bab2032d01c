#include "fleet/census.h"

#include <math.h>

#include "fleet/metrics_map.h"

#define KNOWN_PER_INSTANCE 6 /* answers without a new one: a balancer may choose by chance */

/* Of one process that did nothing in between. */
static bool are_same(const struct metrics_snapshot *a, const struct metrics_snapshot *b)
{
    return !metrics_has_restarted(a, b) && !metrics_has_restarted(b, a);
}

void census_note(struct census *census, const struct metrics_snapshot *snapshot)
{
    census->busy |= snapshot->requests_running > 0 || snapshot->requests_waiting > 0;
    for (size_t i = 0; i < census->count; i++)
        if (are_same(&census->at[i], snapshot)) {
            census->seen[i]++;
            census->known++;
            return;
        }
    if (census->count == CENSUS_MOST)
        return;
    census->known = 0;
    census->seen[census->count] = 1;
    census->at[census->count++] = *snapshot;
}

bool census_is_over(const struct census *census)
{
    return census->count == CENSUS_MOST
           || (census->count > 0 && census->known >= KNOWN_PER_INSTANCE * (int)census->count);
}

bool census_is_whole(const struct census *census)
{
    for (size_t i = 0; i < census->count; i++)
        if (census->seen[i] < 2)
            return false;
    return census->count > 0 && census->count < CENSUS_MOST && !census->busy;
}

/* Several that did nothing yet look like one. */
static bool is_fresh(const struct metrics_snapshot *snapshot)
{
    return !(snapshot->generation_tokens_total > 0) && !(snapshot->prompt_tokens_total > 0);
}

/* Of those not yet taken, the one with the most that may have become `later`; else one that is
 * fresh; NULL. */
static const struct metrics_snapshot *find_earlier(const struct census *census, bool taken[],
                                                   const struct metrics_snapshot *later)
{
    const struct metrics_snapshot *found = NULL, *fresh = NULL;

    for (size_t i = 0; i < census->count; i++) {
        const struct metrics_snapshot *one = &census->at[i];

        if (metrics_has_restarted(one, later))
            continue;
        if (is_fresh(one))
            fresh = one;
        if (!taken[i]
            && (found == NULL || one->generation_tokens_total > found->generation_tokens_total))
            found = one;
    }
    if (found != NULL)
        taken[found - census->at] = true;
    return found != NULL ? found : fresh;
}

static void add(double before, double after, double *sum)
{
    double growth = metrics_growth(before, after);

    if (isfinite(growth))
        *sum = isnan(*sum) ? growth : *sum + growth;
}

/* The least first, so that it leaves to others what only they can have become. */
static size_t next_of(const struct census *census, const bool done[])
{
    size_t least = census->count;

    for (size_t i = 0; i < census->count; i++)
        if (!done[i]
            && (least == census->count
                || !(census->at[i].generation_tokens_total
                     >= census->at[least].generation_tokens_total)))
            least = i;
    return least;
}

bool census_growth(const struct census *first, const struct census *last,
                   struct metrics_snapshot *out)
{
    bool taken[CENSUS_MOST] = { 0 }, done[CENSUS_MOST] = { 0 };
    size_t count = 0;

    metrics_clear(out);
    if (!census_is_whole(first) || !census_is_whole(last) || last->count < 2)
        return false;
    for (size_t i = next_of(last, done); i < last->count; i = next_of(last, done)) {
        const struct metrics_snapshot *after = &last->at[i];
        const struct metrics_snapshot *before = find_earlier(first, taken, after);

        if (before == NULL)
            return false;
        done[i] = true;
        add(before->requests_total, after->requests_total, &out->requests_total);
        add(before->prompt_tokens_total, after->prompt_tokens_total, &out->prompt_tokens_total);
        add(before->generation_tokens_total, after->generation_tokens_total,
            &out->generation_tokens_total);
    }
    for (size_t i = 0; i < first->count; i++)
        count += taken[i];
    return count == first->count;
}
