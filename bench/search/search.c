/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/search/search.h"

#include <math.h>

#include "bench/search/search_view.h"

#define BOUND_MARGIN 0.05 /* bounds by Little's law may be too low by up to this share */
/* A load with at least this share of the peak's tokens/s can stand in for the peak in a later
 * search. */
#define HINT_PEAK 0.99
/* The true peak may have more tokens/s than the load that stands in for it, by up to this share. */
#define PEAK_DOUBT 0.015
/* If a level has more than this share of the tokens/s that Little's law allows, tokens/s may still
 * rise with the load. */
#define STILL_RISING 0.7
/* The climb goes from a load to the next one that is at least this many times as large or, if there
 * is none, to the largest load. */
#define CLIMB_STEP 4
#define CLIMB_GAIN 1.05 /* tokens/s that grow by a smaller factor have stopped growing */
/* If this many levels are known and none of them is sound, the search gives up. */
#define LOST_LEVELS_LIMIT 3

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* The upper bound for a level's tokens/s. Since tokens/s per user never rise with the load, each
 * sound level bounds the levels above it (Little's law). */
static double most_tokens_per_s(const struct search_view *view, size_t level)
{
    double most = INFINITY;

    for (size_t i = 0; i < level; i++)
        if (is_sound(view, i))
            most = fmin(most, tokens_per_s(view, i) * (1 + view->levels[i].slack)
                                  * load(view, level) / load(view, i));
    return most;
}

/* ---- The ends -------------------------------------------------------------------------------- */

/* Chooses the upper load to begin with: the smallest one that, in an earlier search, was at least
 * two levels above the saturation point, did not meet the limits (if there were any), and had
 * almost as many tokens/s as the peak. If there is none, the largest load. */
static size_t find_anchor(const struct search_view *view)
{
    const struct search_step *earlier = &view->earlier;
    const struct search_level *levels;

    if (earlier->saturation == SEARCH_NONE)
        return view->count - 1;
    levels = view->hint->levels;
    for (size_t i = earlier->saturation + 2; i < view->count; i++)
        if (levels[i].state == LEVEL_SOUND && !(levels[i].slo_ratio <= 1)
            && levels[i].tokens_per_s >= HINT_PEAK * levels[earlier->peak].tokens_per_s)
            return i;
    return view->count - 1;
}

/* Asks for the levels that decided the same search in an earlier repetition: no others are needed
 * to confirm its result. The level below the saturation point was either measured or excluded by a
 * bound. If it was excluded, the smallest level is measured instead, because it gives such a
 * bound. */
static bool ask_as_before(const struct search_view *view, struct search_step *out)
{
    const struct search_step *earlier = &view->earlier;
    size_t under = earlier->saturation > 0 ? earlier->saturation - 1 : 0;
    bool bounded = view->hint->levels[under].state == LEVEL_UNKNOWN;
    const size_t deciding[] = { bounded ? 0 : under, earlier->saturation, earlier->limit,
                                earlier->miss, earlier->peak };

    for (size_t i = 0; i < sizeof deciding / sizeof *deciding; i++)
        if (deciding[i] != SEARCH_NONE && !is_known(view, deciding[i]))
            return ask(out, deciding[i]);
    return false;
}

static bool ask_ends(const struct search_view *view, struct search_step *out)
{
    size_t anchor;

    if (view->earlier.saturation != SEARCH_NONE && view->hint->same_shape)
        return ask_as_before(view, out);
    if (!is_known(view, 0))
        return ask(out, 0);
    anchor = find_anchor(view);
    return !is_known(view, anchor) && known_above(view, anchor) == SEARCH_NONE && ask(out, anchor);
}

/* If no known level is sound yet, asks for the smallest unknown level. */
static bool ask_for_any_sound(const struct search_view *view, struct search_step *out)
{
    if (out->peak != SEARCH_NONE || count_known(view) >= LOST_LEVELS_LIMIT)
        return false;
    for (size_t i = 0; i < view->count; i++)
        if (!is_known(view, i))
            return ask(out, i);
    return false;
}

/* ---- The peak -------------------------------------------------------------------------------- */

/* Asks for an unknown level between `low` and `high`: the first one from the middle upwards or, if
 * there is none, the nearest one below the middle. */
static bool ask_between(const struct search_view *view, size_t low, size_t high,
                        struct search_step *out)
{
    size_t middle = middle_of(view, low, high);

    for (size_t i = middle; i < high; i++)
        if (!is_known(view, i))
            return ask(out, i);
    for (size_t i = middle; i > low; i--)
        if (!is_known(view, i))
            return ask(out, i);
    return false;
}

/* Whether tokens/s do not rise, apart from noise, from the next smaller sound level to this one. */
static bool is_flat_below(const struct search_view *view, size_t level)
{
    size_t below = sound_below(view, level);

    return below != SEARCH_NONE
           && tokens_per_s(view, level) <= (1 + SEARCH_NOISE) * tokens_per_s(view, below);
}

/* Asks for a level between the peak and its sound neighbour, unless the neighbour's tokens/s are
 * lower by no more than noise. `low` and `high` are these two levels, in ascending order. */
static bool ask_beside(const struct search_view *view, size_t low, size_t high, size_t neighbour,
                       struct search_step *out)
{
    if (tokens_per_s(view, neighbour) >= (1 - SEARCH_NOISE) * tokens_per_s(view, out->peak))
        return false;
    return ask_between(view, low, high, out);
}

/* Asks for a level that may have more tokens/s than the peak so far. */
static bool ask_for_peak(const struct search_view *view, struct search_step *out)
{
    size_t peak = out->peak, top = view->count, lost, left, right;

    while (!is_sound(view, top - 1))
        top--;
    top--;
    lost = known_above(view, top);
    if (tokens_per_s(view, top) >= (1 - SEARCH_NOISE) * tokens_per_s(view, peak))
        return lost != SEARCH_NONE && !is_flat_below(view, top)
               && ask_between(view, top, lost, out);
    right = sound_above(view, peak);
    if (ask_beside(view, peak, right, right, out))
        return true;
    left = sound_below(view, peak);
    return left != SEARCH_NONE && ask_beside(view, left, peak, left, out);
}

/* ---- The saturation point -------------------------------------------------------------------- */

/* The saturation point is above `low` and not above `high`. `high` is the smallest sound level that
 * reaches the required tokens/s, and `low` is the largest sound level below it. */
struct bracket {
    size_t low, high; /* low is SEARCH_NONE if there is no such level */
    /* The first unknown level above `low` that no bound excludes; `high` if there is none. */
    size_t first;
    double required_tokens_per_s; /* SEARCH_SHARE of the peak's */
};

static struct bracket find_bracket(const struct search_view *view, size_t peak)
{
    struct bracket bracket = { SEARCH_NONE, 0, 0, SEARCH_SHARE * tokens_per_s(view, peak) };

    while (!is_sound(view, bracket.high)
           || tokens_per_s(view, bracket.high) < bracket.required_tokens_per_s)
        bracket.high++;
    bracket.low = sound_below(view, bracket.high);
    bracket.first = bracket.low == SEARCH_NONE ? 0 : bracket.low + 1;
    while (bracket.first < bracket.high
           && (is_known(view, bracket.first)
               || most_tokens_per_s(view, bracket.first) * (1 + BOUND_MARGIN)
                      < bracket.required_tokens_per_s))
        bracket.first++;
    return bracket;
}

/* The first level that reaches the required tokens/s if latency keeps growing with the load as it
 * did up to `low`. */
static size_t soonest(const struct search_view *view, const struct bracket *bracket)
{
    size_t low = bracket->low, before = sound_below(view, low), level = low + 1;
    double at_low = load(view, low) / tokens_per_s(view, low), growth = 0;

    if (before != SEARCH_NONE)
        growth = fmax(0, (at_low - load(view, before) / tokens_per_s(view, before))
                             / (load(view, low) - load(view, before)));
    while (level < bracket->high
           && load(view, level) / (at_low + growth * (load(view, level) - load(view, low)))
                  < bracket->required_tokens_per_s)
        level++;
    return level;
}

/* Guesses that the saturation point is as many levels above the level from soonest() as it was in
 * the earlier search, but not above that search's saturation point. If the earlier search had a
 * shorter context, a single user was served at a different speed, but latency began to grow with
 * the load in the same way. */
static size_t guess_by_hint(const struct search_view *view, const struct bracket *bracket)
{
    struct search_view before = { .levels = view->hint->levels, .count = view->count };
    const struct search_step *earlier = &view->earlier;
    struct bracket alone = { .low = 0,
                             .high = earlier->saturation,
                             .required_tokens_per_s =
                                 SEARCH_SHARE * tokens_per_s(&before, earlier->peak) };
    size_t distance;

    if (earlier->saturation == 0 || !is_sound(&before, 0))
        return earlier->saturation;
    distance = earlier->saturation - soonest(&before, &alone);
    return clamp(soonest(view, bracket) + distance, 0, earlier->saturation);
}

static size_t guess_saturation(const struct search_view *view, const struct bracket *bracket)
{
    size_t guess;

    if (count_known(view) >= GUESSES)
        return bracket->low + (bracket->high - bracket->low) / 2;
    if (sound_below(view, bracket->low) != SEARCH_NONE || view->earlier.saturation == SEARCH_NONE)
        return soonest(view, bracket);
    guess = guess_by_hint(view, bracket);
    return guess >= bracket->high ? bracket->high - 1 : guess;
}

static bool ask_for_saturation(const struct search_view *view, struct search_step *out)
{
    struct bracket bracket = find_bracket(view, out->peak);
    size_t guess = bracket.high - 1;

    out->saturation = bracket.high;
    if (bracket.first >= bracket.high)
        return false;
    if (bracket.low != SEARCH_NONE)
        guess = clamp(guess_saturation(view, &bracket), bracket.first, guess);
    for (; guess >= bracket.first && guess != SEARCH_NONE; guess--)
        if (!is_known(view, guess))
            return ask(out, guess);
    return ask(out, bracket.first);
}

/* Asks for the largest load, in case the peak is there. Not needed if the same search was made in
 * an earlier repetition, or if a load well beyond the saturation point is known and a slightly
 * higher peak would not move the saturation point. */
static bool ask_for_top(const struct search_view *view, struct search_step *out)
{
    double required_tokens_per_s = SEARCH_SHARE * tokens_per_s(view, out->peak);
    size_t top = view->count - 1;

    if (is_known(view, top) || (view->hint != NULL && view->hint->same_shape))
        return false;
    if (tokens_per_s(view, out->saturation) < (1 + PEAK_DOUBT) * required_tokens_per_s)
        return ask(out, top);
    for (size_t i = out->saturation + 2; i < top; i++)
        if (is_known(view, i))
            return false;
    return ask(out, top);
}

/* Asks for the level after the saturation point if users at the saturation point are served nearly
 * as fast as a single user: then tokens/s might still rise, and fall again before the next known
 * level. Not needed after an earlier search, which would have shown such a rise. */
static bool ask_after_saturation(const struct search_view *view, struct search_step *out)
{
    size_t next = out->saturation + 1;

    if (view->earlier.saturation != SEARCH_NONE || next >= view->count || is_known(view, next))
        return false;
    return tokens_per_s(view, out->saturation)
               > STILL_RISING * most_tokens_per_s(view, out->saturation)
           && ask(out, next);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool ask_next(const struct search_view *view, struct search_step *out)
{
    out->peak = find_peak(view);
    if (ask_ends(view, out) || ask_for_any_sound(view, out))
        return true;
    if (out->peak != SEARCH_NONE
        && (ask_for_peak(view, out) || ask_for_saturation(view, out) || ask_for_top(view, out)
            || ask_after_saturation(view, out)))
        return true;
    return search_has_limits(view) && search_ask_for_limit(view, out);
}

static void clear(struct search_step *out)
{
    *out = (struct search_step){ .next = SEARCH_NONE,
                                 .saturation = SEARCH_NONE,
                                 .peak = SEARCH_NONE,
                                 .limit = SEARCH_NONE,
                                 .miss = SEARCH_NONE };
}

/* Fills in the result that would be final if nothing more were measured. */
static void read_levels(const struct search_view *view, struct search_step *out)
{
    clear(out);
    out->peak = find_peak(view);
    if (out->peak != SEARCH_NONE)
        out->saturation = find_bracket(view, out->peak).high;
    if (search_has_limits(view))
        search_find_limit(view, out);
}

void search_step(const struct search_level *levels, size_t count, const struct search_hint *hint,
                 struct search_step *out)
{
    struct search_view view = { .levels = levels, .count = count, .hint = hint };

    clear(&view.earlier);
    if (hint != NULL) {
        struct search_view before = { .levels = hint->levels, .count = count };

        read_levels(&before, &view.earlier);
    }
    clear(out);
    out->finished = !ask_next(&view, out);
    if (out->finished)
        out->next = SEARCH_NONE;
}

/* ---- The climb ------------------------------------------------------------------------------- */

/* Whether the climb ends at this level; `below` is the level of the previous step, or NULL. */
static bool is_top(const struct search_level *level, const struct search_level *below)
{
    return level->state == LEVEL_LOST
           || (below != NULL && level->tokens_per_s < CLIMB_GAIN * below->tokens_per_s);
}

/* Returns the number of levels up to the highest one that the climb has reached, including the
 * levels that it passed over. The highest one either must be measured next, or ended the climb. */
static size_t levels_climbed(const struct search_level *levels, size_t count)
{
    const struct search_level *below = NULL;
    size_t at = 0;

    while (at + 1 < count && levels[at].state != LEVEL_UNKNOWN && !is_top(&levels[at], below)) {
        below = &levels[at];
        while (at + 1 < count && levels[at].load < CLIMB_STEP * below->load)
            at++;
    }
    return at + 1;
}

void search_climb(const struct search_level *levels, size_t count, const struct search_hint *hint,
                  struct search_step *out)
{
    size_t climbed = levels_climbed(levels, count);

    if (levels[climbed - 1].state == LEVEL_UNKNOWN) {
        clear(out);
        out->next = climbed - 1;
    } else {
        search_step(levels, climbed, hint, out);
    }
}

/* ---- The explanation ------------------------------------------------------------------------- */

static void add_load(double load, bool is_rate, struct text *out)
{
    text_addf(out, "%g %s", load, is_rate ? "requests/s" : load == 1 ? "user" : "users");
}

void search_explain(const struct search_level *levels, const struct search_step *step, size_t level,
                    bool is_rate, struct text *out)
{
    if (step->saturation == SEARCH_NONE) {
        text_add(out, "nothing succeeded at the measured loads");
        return;
    }
    text_addf(out, "%s the saturation point at ", level < step->saturation ? "under" : "over");
    add_load(levels[step->saturation].load, is_rate, out);
    if (step->limit != SEARCH_NONE && level < step->limit) {
        text_add(out, "; ");
        add_load(levels[step->limit].load, is_rate, out);
        text_add(out, levels[step->limit].load == 1 ? " meets the limits" : " meet the limits");
    } else if (step->miss != SEARCH_NONE && level > step->miss) {
        text_add(out, "; ");
        add_load(levels[step->miss].load, is_rate, out);
        text_add(out, levels[step->miss].load == 1 ? " misses the limits" : " miss the limits");
    }
}

size_t search_most(size_t count)
{
    size_t halves = 0;

    for (size_t left = count; left > 1; left = (left + 1) / 2)
        halves++;
    return count < 6 + 2 * halves ? count : 6 + 2 * halves;
}
