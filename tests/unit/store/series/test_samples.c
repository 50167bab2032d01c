/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/random.h"
#include "store/series/samples.h"

static void unpacks_the_last_value_of_each_series_sorted_by_series(void **state)
{
    struct sample samples[] = { { 70000, 1.5 }, { 3, 12 }, { 3, 13 }, { 9, -4 } }, *back;
    struct error error;
    void *data;
    size_t length, count;

    (void)state;
    samples_pack(samples, 4, &data, &length);
    assert_true(samples_unpack(data, length, &back, &count, &error));
    assert_int_equal(count, 3);
    assert_int_equal(back[0].series, 3);
    assert_true(back[0].value == 13);
    assert_true(back[1].value == -4);
    assert_int_equal(back[2].series, 70000);
    assert_true(back[2].value == 1.5);
    free(back);
    free(data);
}

static void whole_numbers_take_few_bytes(void **state)
{
    struct sample samples[1000];
    void *data;
    size_t length;

    (void)state;
    for (int i = 0; i < 1000; i++)
        samples[i] = (struct sample){ i + 1, i };
    samples_pack(samples, 1000, &data, &length);
    assert_in_range(length, 1, 3000);
    free(data);
}

static void refuses_truncated_bytes_and_an_unknown_version(void **state)
{
    struct sample sample = { 5, 0.1 }, *back;
    struct error error;
    void *data;
    size_t length, count;

    (void)state;
    samples_pack(&sample, 1, &data, &length);
    for (size_t i = 2; i < length; i++)
        assert_false(samples_unpack(data, i, &back, &count, &error));
    assert_false(samples_unpack("", 0, &back, &count, &error));
    assert_false(samples_unpack("\x02", 1, &back, &count, &error));
    free(data);
}

static void survives_random_bytes(void **state)
{
    struct generator generator;
    uint8_t bytes[64];
    struct sample *back;
    struct error error;
    size_t count;

    (void)state;
    generator_init(&generator, 1);
    for (int round = 0; round < 20000; round++) {
        size_t length = generator_below(&generator, sizeof bytes);

        for (size_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)generator_next(&generator);
        bytes[0] = 1;
        if (samples_unpack(bytes, length, &back, &count, &error)) {
            assert_in_range(count, 0, length);
            free(back);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_the_last_value_of_each_series_sorted_by_series),
        cmocka_unit_test(whole_numbers_take_few_bytes),
        cmocka_unit_test(refuses_truncated_bytes_and_an_unknown_version),
        cmocka_unit_test(survives_random_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
