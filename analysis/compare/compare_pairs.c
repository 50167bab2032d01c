/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the runs that were measured alternately: the two runs of one repetition of an A/B sweep. */
#include <string.h>

#include "analysis/compare/compare.h"

static bool is_pair(const struct evidence *a, const struct evidence *b)
{
    return !a->imported && !b->imported && a->name[0] != '\0' && strcmp(a->name, b->name) == 0
           && a->repetition == b->repetition
           && strcmp(a->facts.deployment, b->facts.deployment) != 0;
}

/* Whether all runs measured one deployment. This must be true for each side, so that every pair
 * compares the same two deployments. */
static bool is_of_one_deployment(const struct evidence *runs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(runs[i].facts.deployment, runs[0].facts.deployment) != 0)
            return false;
    return true;
}

/* The index of the run in `side` that was measured alternately with `run`; `count` if there is no
 * such run. */
static size_t find_partner(const struct evidence *run, const struct evidence *side, size_t count)
{
    size_t i = 0;

    while (i < count && !is_pair(run, &side[i]))
        i++;
    return i;
}

static void swap(struct evidence *a, struct evidence *b)
{
    struct evidence copy = *a;

    *a = *b;
    *b = copy;
}

enum pairing compare_pair_up(struct evidence *runs, const size_t counts[SIDES])
{
    struct evidence *candidate = runs + counts[SIDE_BASELINE];
    size_t found = 0;

    for (size_t i = 0; i < counts[SIDE_BASELINE]; i++)
        found += find_partner(&runs[i], candidate, counts[SIDE_CANDIDATE]) < counts[SIDE_CANDIDATE];
    if (found == 0)
        return PAIRING_NONE;
    if (found < counts[SIDE_BASELINE] || found < counts[SIDE_CANDIDATE]
        || !is_of_one_deployment(runs, counts[SIDE_BASELINE])
        || !is_of_one_deployment(candidate, counts[SIDE_CANDIDATE]))
        return PAIRING_SOME;
    for (size_t i = 0; i < found; i++)
        swap(&candidate[i], &candidate[find_partner(&runs[i], candidate, found)]);
    return PAIRING_ALL;
}
