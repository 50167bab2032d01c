/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/text.h"
#include "server/http/route_pattern.h"

/* `wanted`: the values that the path has at the places of the pattern, such as
 * "id=run_1 chart=heat"; NULL if the path must not match. */
static void must_be(const char *pattern, const char *path, const char *wanted)
{
    struct route_places places;
    bool matches = route_pattern_matches(pattern, path, &places);
    TEXT_AUTO found = { 0 };

    for (size_t i = 0; matches && i < places.count; i++)
        text_addf(&found, "%s%.*s=%.*s", i > 0 ? " " : "", (int)places.at[i].name_length,
                  places.at[i].name, (int)places.at[i].length, places.at[i].text);
    if (matches != (wanted != NULL) || (matches && strcmp(text_string(&found), wanted) != 0))
        fail_msg("%s %s: got %s, expected %s", pattern, path,
                 matches ? text_string(&found) : "no match", wanted != NULL ? wanted : "no match");
}

static void a_pattern_without_places_matches_only_its_own_path(void **state)
{
    (void)state;
    must_be("/", "/", "");
    must_be("/", "//", NULL);
    must_be("/", "/x", NULL);
    must_be("/runs", "/runs", "");
    must_be("/runs", "/runs/", ""); /* one trailing slash is allowed */
    must_be("/runs", "/runs//", NULL);
    must_be("/runs", "/run", NULL);
    must_be("/runs", "/runsx", NULL);
    must_be("/runs", "runs", NULL);
    must_be("/runs", "*", NULL);
    must_be("/runs", "", NULL);
}

static void a_place_matches_a_segment_or_a_part_of_one(void **state)
{
    (void)state;
    must_be("/runs/{id}", "/runs/run_1", "id=run_1");
    must_be("/runs/{id}", "/runs/run_1/", "id=run_1");
    must_be("/runs/{id}", "/runs/", NULL);
    must_be("/runs/{id}", "/runs/a/b", NULL);
    must_be("/runs/{id}", "/runs/../x", NULL);
    must_be("/runs/{id}.html", "/runs/run_1.html", "id=run_1");
    must_be("/runs/{id}.html", "/runs/a.b.html", "id=a.b");
    must_be("/runs/{id}.html", "/runs/.html", NULL);
    must_be("/runs/{id}.html", "/runs/run_1.htm", NULL);
    must_be("/runs/{id}/{chart}.svg", "/runs/run_1/heat.svg", "id=run_1 chart=heat");
    must_be("/runs/{id}/{chart}.svg", "/runs//heat.svg", NULL);
    must_be("/a-{x}-z", "/a-1-z", "x=1");
    must_be("/a-{x}-z", "/a--z", NULL);
    must_be("/a-{x}-z", "/a-z", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_without_places_matches_only_its_own_path),
        cmocka_unit_test(a_place_matches_a_segment_or_a_part_of_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
