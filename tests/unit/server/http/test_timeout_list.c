/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/timeout_list.h"

static void deadlines_pass_in_the_order_they_were_set(void **state)
{
    struct timeout_list list;
    struct timeout a = { 0 }, b = { 0 }, c = { 0 };

    (void)state;
    timeout_list_init(&list, 100);
    assert_true(timeout_next_ns(&list) == INT64_MAX);
    timeout_set(&list, &a, 0);
    timeout_set(&list, &b, 10);
    timeout_set(&list, &c, 20);
    assert_int_equal(timeout_next_ns(&list), 100);
    assert_null(timeout_expired(&list, 99));
    assert_ptr_equal(timeout_expired(&list, 115), &a);
    assert_ptr_equal(timeout_expired(&list, 115), &b);
    assert_null(timeout_expired(&list, 115));
    assert_int_equal(timeout_next_ns(&list), 120);
}

static void setting_a_deadline_again_moves_it_even_to_another_list(void **state)
{
    struct timeout_list fast, slow;
    struct timeout a = { 0 }, b = { 0 };

    (void)state;
    timeout_list_init(&fast, 10);
    timeout_list_init(&slow, 1000);
    timeout_set(&fast, &a, 0);
    timeout_set(&fast, &b, 1);
    timeout_set(&fast, &a, 5);
    assert_ptr_equal(timeout_expired(&fast, 11), &b);
    assert_null(timeout_expired(&fast, 14));
    timeout_set(&slow, &a, 5);
    assert_true(timeout_next_ns(&fast) == INT64_MAX);
    assert_ptr_equal(timeout_expired(&slow, 1005), &a);
}

static void a_cleared_deadline_never_passes(void **state)
{
    struct timeout_list list;
    struct timeout a = { 0 };

    (void)state;
    timeout_list_init(&list, 10);
    timeout_clear(&a);
    timeout_set(&list, &a, 0);
    timeout_clear(&a);
    timeout_clear(&a);
    assert_null(timeout_expired(&list, INT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlines_pass_in_the_order_they_were_set),
        cmocka_unit_test(setting_a_deadline_again_moves_it_even_to_another_list),
        cmocka_unit_test(a_cleared_deadline_never_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
