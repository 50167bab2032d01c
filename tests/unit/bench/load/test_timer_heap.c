/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/timer_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/core/random.h"

#define TIMERS 300

static void returns_timers_in_order(void **state)
{
    struct timer_heap deadlines = { 0 };
    struct timer timers[TIMERS] = { 0 };
    struct generator generator;
    int64_t last = 0, taken = 0;

    (void)state;
    generator_init(&generator, 1);
    for (size_t i = 0; i < TIMERS; i++)
        timer_heap_set(&deadlines, &timers[i], (int64_t)generator_below(&generator, 1000));
    for (size_t i = 0; i < TIMERS; i += 2) /* moves timers to earlier or later times */
        timer_heap_set(&deadlines, &timers[i], (int64_t)generator_below(&generator, 1000));
    for (size_t i = 0; i < TIMERS; i += 3)
        timer_heap_unset(&deadlines, &timers[i]);
    for (struct timer *next; (next = timer_heap_pop(&deadlines, 1000)) != NULL; taken++) {
        assert_true(next->at_ns >= last);
        assert_int_not_equal((next - timers) % 3, 0);
        last = next->at_ns;
    }
    assert_int_equal(taken, TIMERS - TIMERS / 3);
    assert_true(timer_heap_next_ns(&deadlines) == TIMER_NEVER);
    timer_heap_finish(&deadlines);
}

static void returns_only_due_timers(void **state)
{
    struct timer_heap deadlines = { 0 };
    struct timer early = { 0 }, late = { 0 };

    (void)state;
    timer_heap_set(&deadlines, &late, 20);
    timer_heap_set(&deadlines, &early, 10);
    assert_null(timer_heap_pop(&deadlines, 9));
    assert_ptr_equal(timer_heap_pop(&deadlines, 10), &early);
    assert_null(timer_heap_pop(&deadlines, 19));
    timer_heap_unset(&deadlines, &early); /* allowed, although it is no longer set */
    timer_heap_unset(&deadlines, &late);
    assert_null(timer_heap_pop(&deadlines, 100));
    timer_heap_finish(&deadlines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_timers_in_order),
        cmocka_unit_test(returns_only_due_timers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
