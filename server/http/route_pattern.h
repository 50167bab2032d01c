/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a route, such as "/runs" or, with places for values, "/runs/{id}/{chart}.svg". A
 * place stands for at least one byte: a whole segment of a path, or a part of one. A segment has at
 * most one place. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ROUTE_PLACES 2

/* The names of the places and the values at them, in order; borrowed from the pattern and the
 * path. */
struct route_places {
    struct route_place {
        const char *name, *text;
        size_t name_length, length;
    } at[ROUTE_PLACES];
    size_t count;
};

/* Whether a path fits the pattern, with or without a trailing slash. *out: the values at the
 * pattern's places; meaningless if the path does not fit. */
bool route_pattern_matches(const char *pattern, const char *path, struct route_places *out);
