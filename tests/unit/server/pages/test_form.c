/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/pages/form.h"

/* Checks which fields are read; `wanted` lists them as "name=value|name=value". */
static void must_be(const char *bytes, const char *wanted)
{
    struct form form = { 0 };
    TEXT_AUTO found = { 0 };

    form_read(&form, bytes, strlen(bytes));
    for (size_t i = 0; i < form.count; i++)
        text_addf(&found, "%s%s=%s", i > 0 ? "|" : "", form.at[i].name, form.at[i].value);
    form_finish(&form);
    assert_string_equal(text_string(&found), wanted);
}

static void pairs_are_decoded(void **state)
{
    (void)state;
    must_be("", "");
    must_be("a=1&b=two+words%21", "a=1|b=two words!");
    must_be("a=&b", "a=|b=");
    must_be("&&a=1&&", "a=1");
    must_be("=nameless&a=b=c", "a=b=c");
    must_be("n%61me=%C3%A9", "name=\xC3\xA9");
}

static void invalid_escapes_stay_as_they_are(void **state)
{
    (void)state;
    must_be("a=100%&b=%4&c=%zz&d=%4g", "a=100%|b=%4|c=%zz|d=%4g");
}

static void unprintable_characters_are_replaced_or_removed(void **state)
{
    (void)state;
    must_be("a=line%0D%0Anext%0D", "a=line\nnext\xEF\xBF\xBD");
    must_be("a=%00%1B", "a=\xEF\xBF\xBD\xEF\xBF\xBD");
    must_be("a=%FF", "a=\xEF\xBF\xBD");
    must_be("a=%E2%80%AEright", "a=right");
}

static void values_beyond_the_limits_are_dropped_or_truncated(void **state)
{
    struct form form = { 0 };
    TEXT_AUTO bytes = { 0 };
    TEXT_AUTO value = { 0 };

    (void)state;
    for (int i = 0; i < FORM_VALUES_MAX + 9; i++)
        text_addf(&bytes, "a%d=1&", i);
    form_read(&form, text_string(&bytes), bytes.length);
    assert_int_equal(form.count, FORM_VALUES_MAX);
    form_finish(&form);
    for (size_t i = 0; i < FORM_VALUE_BYTES_MAX + 9; i++)
        text_add_char(&value, 'x');
    form_add(&form, "a", 1, text_string(&value), value.length);
    assert_in_range(strlen(form.at[0].value), FORM_VALUE_BYTES_MAX, FORM_VALUE_BYTES_MAX + 3);
    form_finish(&form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_decoded),
        cmocka_unit_test(invalid_escapes_stay_as_they_are),
        cmocka_unit_test(unprintable_characters_are_replaced_or_removed),
        cmocka_unit_test(values_beyond_the_limits_are_dropped_or_truncated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
