/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/core/error.h"

static void stores_kind_and_message(void **state)
{
    struct error error = { 0 };

    (void)state;
    assert_false(error_set(&error, ERROR_INVALID, "\"%s\" is missing", "name"));
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_string_equal(error.message, "\"name\" is missing");
}

static void a_new_message_can_contain_the_old_one(void **state)
{
    struct error error = { 0 };

    (void)state;
    error_set(&error, ERROR_UPSTREAM, "connection refused");
    error_set(&error, ERROR_UPSTREAM, "deployment \"a\": %s", error.message);
    assert_string_equal(error.message, "deployment \"a\": connection refused");
}

static void a_kind_is_found_by_its_name(void **state)
{
    (void)state;
    for (enum error_kind kind = ERROR_NONE; kind <= ERROR_INTERNAL; kind++)
        assert_int_equal(error_kind_find(error_kind_name(kind)), kind);
    assert_int_equal(error_kind_find("nothing we know"), ERROR_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_kind_and_message),
        cmocka_unit_test(a_new_message_can_contain_the_old_one),
        cmocka_unit_test(a_kind_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
