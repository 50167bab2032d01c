/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/percent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void only_a_complete_escape_is_decoded(void **state)
{
    (void)state;
    assert_int_equal(percent_decode("%4a", 3), 'J');
    assert_int_equal(percent_decode("%4A!", 4), 'J');
    assert_int_equal(percent_decode("%ff", 3), 255);
    assert_int_equal(percent_decode("%00", 3), 0);
    assert_int_equal(percent_decode("%4a", 2), -1);
    assert_int_equal(percent_decode("%4g", 3), -1);
    assert_int_equal(percent_decode("%g4", 3), -1);
    assert_int_equal(percent_decode("a4a", 3), -1);
    assert_int_equal(percent_decode("", 0), -1);
}

static void all_characters_except_unreserved_and_given_ones_are_encoded(void **state)
{
    TEXT_AUTO out = { 0 };

    (void)state;
    percent_encode("Az09-._~ /?&=%+\xC3\xA9", "", &out);
    assert_string_equal(text_string(&out), "Az09-._~%20%2F%3F%26%3D%25%2B%C3%A9");
    text_clear(&out);
    percent_encode("/a b", "/", &out);
    assert_string_equal(text_string(&out), "/a%20b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_complete_escape_is_decoded),
        cmocka_unit_test(all_characters_except_unreserved_and_given_ones_are_encoded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
