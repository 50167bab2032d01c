/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/core/compress.h"
#include "base/core/memory.h"
#include "base/core/random.h"

static void assert_round_trip(const void *data, size_t length)
{
    FREE_AUTO void *packed = NULL;
    FREE_AUTO void *restored = NULL;
    size_t packed_length, restored_length;
    struct error error;

    assert_true(compress_bytes(data, length, &packed, &packed_length, &error));
    assert_true(
        compress_restore(packed, packed_length, length, &restored, &restored_length, &error));
    assert_int_equal(restored_length, length);
    assert_memory_equal(restored, data, length);
}

static void restores_what_it_compressed(void **state)
{
    static char text[200000];

    (void)state;
    assert_round_trip("", 0);
    assert_round_trip("vllm:num_requests_running 3\n", 28);
    random_bytes(text, sizeof text / 2); /* half of it does not compress */
    assert_round_trip(text, sizeof text);
}

static void makes_metrics_much_smaller(void **state)
{
    static char text[100000];
    FREE_AUTO void *packed = NULL;
    struct error error;
    size_t length;

    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "vllm:request_success_total "[i % 27];
    assert_true(compress_bytes(text, sizeof text, &packed, &length, &error));
    assert_in_range(length, 1, sizeof text / 100);
}

static void refuses_to_restore_more_than_the_limit(void **state)
{
    FREE_AUTO void *zeros = memory_zeroed(1000001, 1);
    FREE_AUTO void *packed = NULL;
    struct error error = { 0 };
    void *restored = NULL;
    size_t length, restored_length;

    (void)state;
    assert_true(compress_bytes(zeros, 1000001, &packed, &length, &error));
    assert_false(compress_restore(packed, length, 1000000, &restored, &restored_length, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_non_null(
        strstr(error.message, "bytes decompress to 1000001, more than the limit of 1000000"));
    assert_null(restored);
}

static void refuses_what_is_truncated_or_was_not_compressed(void **state)
{
    static const char text[] = "a line of text, a line of text, a line of text";
    FREE_AUTO void *packed = NULL;
    struct error error = { 0 };
    void *restored = NULL;
    size_t length, restored_length;

    (void)state;
    assert_true(compress_bytes(text, sizeof text, &packed, &length, &error));
    for (size_t cut = 0; cut < length; cut++)
        assert_false(compress_restore(packed, cut, 1000, &restored, &restored_length, &error));
    assert_false(compress_restore(text, sizeof text, 1000, &restored, &restored_length, &error));
    assert_int_equal(error.kind, ERROR_INVALID);
    assert_null(restored);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restores_what_it_compressed),
        cmocka_unit_test(makes_metrics_much_smaller),
        cmocka_unit_test(refuses_to_restore_more_than_the_limit),
        cmocka_unit_test(refuses_what_is_truncated_or_was_not_compressed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
