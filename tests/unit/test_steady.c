#include "bench/steady.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A sample per 10 ns: `count` of them that count up by `step` each. */
static void add(struct steady *steady, int count, int64_t step)
{
    struct steady_sample last = { -10, -step };

    if (steady->count > 0)
        last = steady->samples[steady->count - 1];
    for (int i = 1; i <= count; i++)
        steady_add(steady, last.at_ns + 10 * i, last.count + step * i);
}

static void needs_two_windows(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    assert_false(steady_agrees(&steady, 100));
    add(&steady, 20, 5); /* 190 ns */
    assert_false(steady_agrees(&steady, 100));
    add(&steady, 1, 5);
    assert_true(steady_agrees(&steady, 100));
    steady_finish(&steady);
}

static void disagrees_while_the_rate_grows(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    add(&steady, 20, 5);
    add(&steady, 10, 6);
    assert_false(steady_agrees(&steady, 100));
    add(&steady, 10, 6);
    assert_true(steady_agrees(&steady, 100));
    steady_finish(&steady);
}

static void standing_still_is_not_steady(void **state)
{
    struct steady steady = { 0 };

    (void)state;
    add(&steady, 50, 0);
    assert_false(steady_agrees(&steady, 100));
    steady_finish(&steady);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needs_two_windows),
        cmocka_unit_test(disagrees_while_the_rate_grows),
        cmocka_unit_test(standing_still_is_not_steady),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
