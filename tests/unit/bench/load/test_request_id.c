/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/load/request_id.h"

static void an_id_is_a_version_4_uuid(void **state)
{
    char id[REQUEST_ID_LENGTH + 1];

    (void)state;
    request_id_write(0x0123456789abcdef, 0x1234, id);
    assert_string_equal(id, "01234567-89ab-4cde-8f00-000000001234");
}

static void an_id_is_read_back(void **state)
{
    char id[REQUEST_ID_LENGTH + 1];
    uint64_t nonce, index;

    (void)state;
    request_id_write(UINT64_MAX - 7, 0xffffffffffff, id);
    assert_true(request_id_read(id, &nonce, &index));
    assert_true(nonce == UINT64_MAX - 7);
    assert_true(index == 0xffffffffffff);
}

static void ids_of_a_different_form_are_refused(void **state)
{
    uint64_t nonce, index;

    (void)state;
    assert_false(request_id_read("", &nonce, &index));
    assert_false(request_id_read("cmpl-1234", &nonce, &index));
    assert_false(request_id_read("01234567-89ab-1cde-8f00-000000001234", &nonce, &index));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_is_a_version_4_uuid),
        cmocka_unit_test(an_id_is_read_back),
        cmocka_unit_test(ids_of_a_different_form_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
