/* SPDX-License-Identifier: Apache-2.0 */
/* The data that one step of a search works with, and simple functions that query them. Private to
 * search.c and search_limits.c. */
#pragma once

#include "bench/search/search.h"

#define GUESSES 8 /* when this many levels are known, the search bisects instead of guessing */

struct search_view {
    const struct search_level *levels;
    size_t count;
    const struct search_hint *hint;
    /* The result that the hint's levels imply. Without a hint, all indices are SEARCH_NONE. */
    struct search_step earlier;
};

static inline bool is_known(const struct search_view *view, size_t level)
{
    return view->levels[level].state != LEVEL_UNKNOWN;
}

static inline bool is_sound(const struct search_view *view, size_t level)
{
    return view->levels[level].state == LEVEL_SOUND;
}

static inline double tokens_per_s(const struct search_view *view, size_t level)
{
    return view->levels[level].tokens_per_s;
}

static inline double load(const struct search_view *view, size_t level)
{
    return view->levels[level].load;
}

static inline size_t count_known(const struct search_view *view)
{
    size_t known = 0;

    for (size_t i = 0; i < view->count; i++)
        known += is_known(view, i);
    return known;
}

/* The nearest sound level below this one, or SEARCH_NONE. */
static inline size_t sound_below(const struct search_view *view, size_t level)
{
    for (size_t i = level; i > 0; i--)
        if (is_sound(view, i - 1))
            return i - 1;
    return SEARCH_NONE;
}

static inline size_t sound_above(const struct search_view *view, size_t level)
{
    for (size_t i = level + 1; i < view->count; i++)
        if (is_sound(view, i))
            return i;
    return SEARCH_NONE;
}

static inline size_t lowest_sound(const struct search_view *view)
{
    return is_sound(view, 0) ? 0 : sound_above(view, 0);
}

static inline size_t known_above(const struct search_view *view, size_t level)
{
    for (size_t i = level + 1; i < view->count; i++)
        if (is_known(view, i))
            return i;
    return SEARCH_NONE;
}

static inline size_t find_peak(const struct search_view *view)
{
    size_t peak = SEARCH_NONE;

    for (size_t i = 0; i < view->count; i++)
        if (is_sound(view, i)
            && (peak == SEARCH_NONE || tokens_per_s(view, i) > tokens_per_s(view, peak)))
            peak = i;
    return peak;
}

static inline size_t clamp(size_t level, size_t low, size_t high)
{
    return level < low ? low : level > high ? high : level;
}

/* The functions named ask_... set out->next to the level to measure next and return true. They
 * return false if they need no further level. */
static inline bool ask(struct search_step *out, size_t level)
{
    out->next = level;
    return true;
}

/* Returns a level halfway between two others. If most known levels are lost, returns a level nearer
 * to the lower one, because that is more likely to succeed: after several failures in a row the
 * server seems to be down, and the sweep ends. */
static inline size_t middle_of(const struct search_view *view, size_t low, size_t high)
{
    size_t lost = 0, sound = 0, quarter = (high - low) / 4;

    for (size_t i = 0; i < view->count; i++) {
        lost += view->levels[i].state == LEVEL_LOST;
        sound += is_sound(view, i);
    }
    if (lost <= sound)
        return low + (high - low) / 2;
    return low + (quarter > 0 ? quarter : 1);
}

/* ---- The limits: search_limits.c ------------------------------------------------------- */

bool search_has_limits(const struct search_view *view);
/* Sets out->limit to the largest level known to meet the limits, and out->miss to the nearest known
 * level above it, which misses them. If no level is known to meet the limits, does not change
 * out->limit, and sets out->miss to the smallest known level. Where there is no known level for
 * out->miss, sets it to SEARCH_NONE. */
void search_find_limit(const struct search_view *view, struct search_step *out);
bool search_ask_for_limit(const struct search_view *view, struct search_step *out);
