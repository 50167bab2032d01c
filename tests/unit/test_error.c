#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

static void keeps_kind_and_sentence(void **state)
{
    struct error error = { 0 };

    (void)state;
    assert_false(error_set(&error, ERROR_INVALID, "\"%s\" is missing", "name"));
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_string_equal(error.message, "\"name\" is missing");
}

static void may_wrap_its_own_message(void **state)
{
    struct error error = { 0 };

    (void)state;
    error_set(&error, ERROR_UPSTREAM, "connection refused");
    error_set(&error, ERROR_UPSTREAM, "deployment \"a\": %s", error.message);
    assert_string_equal(error.message, "deployment \"a\": connection refused");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_kind_and_sentence),
        cmocka_unit_test(may_wrap_its_own_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
