/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/rate_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define SECOND_NS INT64_C(1000000000)

static void each_name_has_its_own_places(void **state)
{
    struct rate_limit *rate_limit = rate_limit_create((struct rate_limit_limits){ .at_once = 2 });

    (void)state;
    assert_true(rate_limit_enter(rate_limit, "alice"));
    assert_true(rate_limit_enter(rate_limit, "alice"));
    assert_false(rate_limit_enter(rate_limit, "alice"));
    assert_true(rate_limit_enter(rate_limit, "bob"));
    rate_limit_leave(rate_limit, "alice");
    assert_true(rate_limit_enter(rate_limit, "alice"));
    assert_false(rate_limit_enter(rate_limit, "alice"));
    rate_limit_destroy(rate_limit);
}

static void permits_accrue_over_time_up_to_the_burst(void **state)
{
    struct rate_limit *rate_limit =
        rate_limit_create((struct rate_limit_limits){ .per_second = 10, .burst = 5 });
    int64_t now_ns = SECOND_NS, wait_ms;

    (void)state;
    for (int i = 0; i < 5; i++)
        assert_true(rate_limit_spend(rate_limit, "alice", now_ns, &wait_ms));
    assert_false(rate_limit_spend(rate_limit, "alice", now_ns, &wait_ms));
    assert_in_range(wait_ms, 100, 101);
    assert_true(rate_limit_spend(rate_limit, "bob", now_ns, &wait_ms));
    now_ns += SECOND_NS / 10;
    assert_true(rate_limit_spend(rate_limit, "alice", now_ns, &wait_ms));
    assert_false(rate_limit_spend(rate_limit, "alice", now_ns, &wait_ms));
    now_ns += 3600 * SECOND_NS;
    for (int i = 0; i < 5; i++)
        assert_true(rate_limit_spend(rate_limit, "alice", now_ns, &wait_ms));
    assert_false(rate_limit_spend(rate_limit, "alice", now_ns, &wait_ms));
    rate_limit_destroy(rate_limit);
}

static void charges_beyond_the_burst_delay_the_next_permit(void **state)
{
    struct rate_limit *rate_limit =
        rate_limit_create((struct rate_limit_limits){ .per_second = 10, .burst = 5 });
    int64_t now_ns = SECOND_NS, wait_ms;

    (void)state;
    rate_limit_charge(rate_limit, "alice", 25, now_ns);
    assert_false(rate_limit_spend(rate_limit, "alice", now_ns + SECOND_NS, &wait_ms));
    assert_in_range(wait_ms, 1000, 1101);
    assert_true(rate_limit_spend(rate_limit, "alice", now_ns + 3 * SECOND_NS, &wait_ms));
    assert_true(rate_limit_spend(rate_limit, "bob", now_ns, &wait_ms));
    rate_limit_destroy(rate_limit);
}

static void a_limit_of_zero_means_no_limit(void **state)
{
    struct rate_limit *rate_limit = rate_limit_create((struct rate_limit_limits){ 0 });
    int64_t wait_ms;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_true(rate_limit_enter(rate_limit, "alice"));
        assert_true(rate_limit_spend(rate_limit, "alice", 1, &wait_ms));
    }
    for (int i = 0; i < 1000; i++)
        rate_limit_leave(rate_limit, "alice");
    rate_limit_destroy(rate_limit);
}

/* The hash table has fewer chains than there are names, so some names share a chain. */
static void names_that_share_a_chain_are_limited_separately(void **state)
{
    struct rate_limit *rate_limit = rate_limit_create((struct rate_limit_limits){ .at_once = 1 });
    char name[32];

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(name, sizeof name, "10.%d.%d.%d", i % 7, i / 256, i % 256);
            assert_true(rate_limit_enter(rate_limit, name));
            assert_false(rate_limit_enter(rate_limit, name));
        }
        for (int i = 0; i < 5000; i++) {
            snprintf(name, sizeof name, "10.%d.%d.%d", i % 7, i / 256, i % 256);
            rate_limit_leave(rate_limit, name);
        }
    }
    rate_limit_destroy(rate_limit);
}

/* If they were kept, every address that ever tried to sign in would stay in memory. */
static void names_with_a_full_burst_are_forgotten(void **state)
{
    struct rate_limit *rate_limit =
        rate_limit_create((struct rate_limit_limits){ .per_second = 1, .burst = 10 });
    int64_t now_ns = SECOND_NS, wait_ms;
    char name[32];

    (void)state;
    rate_limit_charge(rate_limit, "busy", 100, now_ns);
    for (int i = 0; i < 50000; i++) {
        snprintf(name, sizeof name, "2001:db8::%x", i);
        assert_true(rate_limit_spend(rate_limit, name, now_ns + i * SECOND_NS / 1000, &wait_ms));
    }
    assert_in_range(rate_limit_count(rate_limit), 1000, 4000);
    assert_false(rate_limit_spend(rate_limit, "busy", now_ns + 50 * SECOND_NS, &wait_ms));
    rate_limit_destroy(rate_limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_has_its_own_places),
        cmocka_unit_test(permits_accrue_over_time_up_to_the_burst),
        cmocka_unit_test(charges_beyond_the_burst_delay_the_next_permit),
        cmocka_unit_test(a_limit_of_zero_means_no_limit),
        cmocka_unit_test(names_that_share_a_chain_are_limited_separately),
        cmocka_unit_test(names_with_a_full_burst_are_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
