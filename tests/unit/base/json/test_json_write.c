/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"

#define JANSSON_FLAGS (JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15))

/* Frees the value. */
static void assert_written_as_jansson_does(json_t *value)
{
    FREE_AUTO char *expected = json_dumps(value, JANSSON_FLAGS);
    FREE_AUTO char *written = json_write(value);

    assert_string_equal(written, expected);
    json_decref(value);
}

static void writes_every_kind_as_jansson_does(void **state)
{
    (void)state;
    assert_written_as_jansson_does(json_object());
    assert_written_as_jansson_does(json_array());
    assert_written_as_jansson_does(json_null());
    assert_written_as_jansson_does(json_pack("{s:b, s:b, s:n, s:[i, f, s, {}], s:{s:[]}}", "yes", 1,
                                             "no", 0, "z", "a list", -3, 0.1, "text", "a", ""));
}

static void writes_numbers_as_jansson_does(void **state)
{
    static const double reals[] = { 0,       -0.0,     1,     100,   0.1,      1.0 / 3,
                                    1e15,    1e16,     1e17,  -1e-5, 123456.5, DBL_MAX,
                                    DBL_MIN, 4.9e-324, 1e100, 1e-10, 2.5e-300 };
    static const json_int_t integers[] = { 0, 7, -7, 10, 1234567890, INT64_MAX, INT64_MIN };

    (void)state;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        assert_written_as_jansson_does(json_real(reals[i]));
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
        assert_written_as_jansson_does(json_integer(integers[i]));
}

static void writes_strings_as_jansson_does(void **state)
{
    char all[128];

    (void)state;
    for (int c = 1; c < 128; c++)
        all[c - 1] = (char)c;
    all[127] = '\0';
    assert_written_as_jansson_does(json_string(all));
    assert_written_as_jansson_does(
        json_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80/\x7f\xc2\x80"));
    assert_written_as_jansson_does(json_stringn("a\0b", 3));
    assert_written_as_jansson_does(json_pack("{s:i}", "a \"key\"\n", 1));
}

static void appends_to_existing_text(void **state)
{
    json_auto_t *value = json_pack("[i]", 1);
    TEXT_AUTO text = { 0 };

    (void)state;
    text_add(&text, "{\"a\":");
    json_add(&text, value);
    text_add_char(&text, '}');
    assert_string_equal(text.data, "{\"a\":[1]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_every_kind_as_jansson_does),
        cmocka_unit_test(writes_numbers_as_jansson_does),
        cmocka_unit_test(writes_strings_as_jansson_does),
        cmocka_unit_test(appends_to_existing_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
