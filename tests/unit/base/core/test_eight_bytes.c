/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/eight_bytes.h"

/* Tries every pair of neighbouring bytes, because a borrow or a carry would pass from one byte to
 * the next. */
static void exactly_the_matching_bytes_are_marked(void **state)
{
    static const uint8_t limits[] = { 1, ' ', '-', 0x7f, 0x80 };

    (void)state;
    for (unsigned pair = 0; pair < 0x10000; pair++) {
        uint64_t eight = UINT64_C(0x0001000100010001) * pair;
        unsigned low = pair & 0xff, high = pair >> 8;

        for (size_t i = 0; i < sizeof limits; i++) {
            uint64_t below = EACH_BYTE(low < limits[i] ? 0x80 : 0) & 0x00ff00ff00ff00ff;
            uint64_t equal = EACH_BYTE(low == limits[i] ? 0x80 : 0) & 0x00ff00ff00ff00ff;

            below |= EACH_BYTE(high < limits[i] ? 0x80 : 0) & 0xff00ff00ff00ff00;
            equal |= EACH_BYTE(high == limits[i] ? 0x80 : 0) & 0xff00ff00ff00ff00;
            assert_true(bytes_below(eight, limits[i]) == below);
            assert_true(bytes_equal(eight, (char)limits[i]) == equal);
        }
    }
}

static void bytes_before_counts_the_bytes_before_the_first_match(void **state)
{
    (void)state;
    assert_int_equal(bytes_before(bytes_equal(eight_bytes("abcdefgh"), 'a')), 0);
    assert_int_equal(bytes_before(bytes_equal(eight_bytes("abcdefgh"), 'h')), 7);
    assert_int_equal(bytes_before(bytes_beyond_ascii(eight_bytes("ab\xc3\xa9"
                                                                 "efgh"))),
                     2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_the_matching_bytes_are_marked),
        cmocka_unit_test(bytes_before_counts_the_bytes_before_the_first_match),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
