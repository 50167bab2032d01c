/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdlib.h>

#include "server/mcp/header_value.h"

/* Checks that the value is decoded to `expected` or, if that is NULL, that it is refused. */
static void check(const char *value, const char *expected)
{
    char *decoded = header_value_decode(value);

    if (expected == NULL)
        assert_null(decoded);
    else if (decoded == NULL)
        fail_msg("\"%s\" was refused", value);
    else
        assert_string_equal(decoded, expected);
    free(decoded);
}

static void plain_text_is_returned_as_written(void **state)
{
    (void)state;
    check("", "");
    check("sweep_start", "sweep_start");
    check("two words\tand a tab", "two words\tand a tab");
    check("=?base64?", "=?base64?");
    check("=?BASE64?ZWNobw==?=", "=?BASE64?ZWNobw==?=");
}

static void base64_is_decoded(void **state)
{
    (void)state;
    check("=?base64?" /* in two parts, because two question marks and = would form a trigraph */
          "?=",
          "");
    check("=?base64?YQ==?=", "a");
    check("=?base64?YWI=?=", "ab");
    check("=?base64?YWJj?=", "abc");
    check("=?base64?w6kgw7w=?=", "\xc3\xa9 \xc3\xbc");
    check("=?base64?PT9iYXNlNjQ/eD89?=", "=?base64?x?=");
}

static void malformed_values_are_refused(void **state)
{
    (void)state;
    check("=?base64?YQ=?=", NULL);  /* too little padding */
    check("=?base64?YQ?=", NULL);   /* no padding */
    check("=?base64?YR==?=", NULL); /* unused bits that are not 0 */
    check("=?base64?Y===?=", NULL); /* one digit */
    check("=?base64?====?=", NULL); /* no digits */
    check("=?base64?Y Q=?=", NULL); /* a space */
    check("=?base64?_-8=?=", NULL); /* the URL-safe alphabet */
    check("=?base64?/w==?=", NULL); /* not UTF-8 */
    check("=?base64?YQBi?=", NULL); /* a NUL */
    check("caf\xc3\xa9", NULL);     /* not ASCII */
    check("a\x01z", NULL);          /* a control character */
}

static void plain_values_are_compared_without_decoding(void **state)
{
    (void)state;
    assert_true(header_value_is_plainly("tools/call", "tools/call"));
    assert_true(header_value_is_plainly("", ""));
    assert_false(header_value_is_plainly("tools/call", "tools/list"));
    assert_false(header_value_is_plainly("caf\xc3\xa9", "caf\xc3\xa9"));
    assert_false(header_value_is_plainly("=?base64?YQ==?=", "a"));
    assert_false(header_value_is_plainly("=?base64?YQ==?=", "=?base64?YQ==?="));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_values_are_compared_without_decoding),
        cmocka_unit_test(plain_text_is_returned_as_written),
        cmocka_unit_test(base64_is_decoded),
        cmocka_unit_test(malformed_values_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
