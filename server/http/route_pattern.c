/* SPDX-License-Identifier: Apache-2.0 */
#include "server/http/route_pattern.h"

#include <string.h>

static void add_place(struct route_places *places, const char *pattern, size_t before, size_t after,
                      const char *path, size_t length)
{
    struct route_place *place;

    if (places->count == ROUTE_PLACES)
        return;
    place = &places->at[places->count++];
    place->name = pattern + before + 1;
    place->name_length = after - before - 1;
    place->text = path;
    place->length = length;
}

/* Whether a segment of a path fits a segment of a pattern, as "run_1.svg" fits "{id}.svg": the text
 * before and after the place must be the same. */
static bool segment_matches(const char *pattern, size_t pattern_length, const char *path,
                            size_t length, struct route_places *out)
{
    const char *open = memchr(pattern, '{', pattern_length);
    size_t before, after, rest;

    if (open == NULL)
        return pattern_length == length && memcmp(pattern, path, length) == 0;
    before = (size_t)(open - pattern);
    after = before + strcspn(open, "}");
    rest = pattern_length - after - 1;
    if (length <= before + rest || memcmp(pattern, path, before) != 0
        || memcmp(pattern + after + 1, path + length - rest, rest) != 0)
        return false;
    add_place(out, pattern, before, after, path + before, length - before - rest);
    return true;
}

bool route_pattern_matches(const char *pattern, const char *path, struct route_places *out)
{
    out->count = 0;
    while (*pattern == '/' && *path == '/') {
        size_t pattern_length = strcspn(++pattern, "/"), length = strcspn(++path, "/");

        if (!segment_matches(pattern, pattern_length, path, length, out))
            return false;
        pattern += pattern_length;
        path += length;
    }
    return *pattern == '\0' && (*path == '\0' || (strcmp(path, "/") == 0 && path[-1] != '/'));
}
