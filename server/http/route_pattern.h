/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a route: "/runs", or with places, "/runs/{id}/{chart}.svg". A place is a segment of a
 * path, or a part of one, of at least one byte; a segment has one place at most. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ROUTE_PLACES 2

/* The values at the places of a path, in order; borrowed from the pattern and the path. */
struct route_places {
    struct route_place {
        const char *name, *text;
        size_t name_length, length;
    } at[ROUTE_PLACES];
    size_t count;
};

/* Whether a path fits the pattern, with or without a slash at its end. *out: the values at the
 * pattern's places; meaningless if the path does not fit. */
bool route_pattern_matches(const char *pattern, const char *path, struct route_places *out);
