/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the largest load that meets a plan's limits: chooses which level to measure next. */
#include <math.h>

#include "bench/search/search_view.h"

/* If a load misses a limit by at most this share, the next larger load may meet it. */
#define LIMIT_NOISE 0.03

static bool is_met(const struct search_view *view, size_t level)
{
    return is_known(view, level) && view->levels[level].slo_ratio <= 1;
}

void search_find_limit(const struct search_view *view, struct search_step *out)
{
    for (size_t i = 0; i < view->count; i++)
        if (is_met(view, i))
            out->limit = i;
    out->miss = known_above(view, out->limit == SEARCH_NONE ? 0 : out->limit);
    if (out->limit == SEARCH_NONE && is_known(view, 0))
        out->miss = 0;
}

/* The load at which requests begin to wait, estimated by Little's law: the load that would have the
 * peak's tokens/s if all requests were as fast as at the smallest sound load. 0 if no load is
 * sound. */
static double find_knee(const struct search_view *view, const struct search_step *out)
{
    size_t alone = lowest_sound(view);

    if (alone == SEARCH_NONE)
        return 0;
    return tokens_per_s(view, out->peak) * load(view, alone) / tokens_per_s(view, alone);
}

/* Guesses a level between out->limit and out->miss, assuming that the slo_ratio is constant up to
 * the knee, and that it grows linearly with the load beyond the knee. */
static size_t guess_limit(const struct search_view *view, const struct search_step *out)
{
    double low = view->levels[out->limit].slo_ratio, high = view->levels[out->miss].slo_ratio;
    double from = fmax(load(view, out->limit), find_knee(view, out)), to = load(view, out->miss);
    size_t guess = out->limit;

    if (!isfinite(high) || count_known(view) >= GUESSES)
        return middle_of(view, out->limit, out->miss);
    if (from >= to)
        from = load(view, out->limit);
    while (guess + 1 < out->miss
           && load(view, guess + 1) <= from + (1 - low) / (high - low) * (to - from))
        guess++;
    if (view->earlier.limit != SEARCH_NONE && guess > view->earlier.limit)
        guess = view->earlier.limit;
    return clamp(guess, out->limit + 1, out->miss - 1);
}

/* Asks for the smallest load if it is unknown. If it is known to miss the limits, that may be by
 * chance, so this asks for the next load, unless the smallest one missed the limits in the earlier
 * search too. */
static bool ask_for_met(const struct search_view *view, struct search_step *out)
{
    if (!is_known(view, 0))
        return ask(out, 0);
    if (view->hint != NULL && view->earlier.miss == 0)
        return false;
    return view->count > 1 && !is_known(view, 1) && ask(out, 1);
}

/* Asks for a load that is likely to miss the limits: the one that missed them in the earlier search
 * if it is above out->limit, else the largest. */
static bool ask_for_miss(const struct search_view *view, struct search_step *out)
{
    size_t before = view->earlier.miss;

    if (out->limit + 1 == view->count)
        return false;
    return ask(out, before != SEARCH_NONE && before > out->limit ? before : view->count - 1);
}

bool search_ask_for_limit(const struct search_view *view, struct search_step *out)
{
    search_find_limit(view, out);
    if (out->limit == SEARCH_NONE)
        return ask_for_met(view, out);
    if (out->miss == SEARCH_NONE)
        return ask_for_miss(view, out);
    if (out->miss > out->limit + 1)
        return ask(out, guess_limit(view, out));
    return view->levels[out->miss].slo_ratio <= 1 + LIMIT_NOISE && out->miss + 1 < view->count
           && !is_known(view, out->miss + 1) && ask(out, out->miss + 1);
}

bool search_has_limits(const struct search_view *view)
{
    for (size_t i = 0; i < view->count; i++)
        if (is_known(view, i) && !isnan(view->levels[i].slo_ratio))
            return true;
    return false;
}
