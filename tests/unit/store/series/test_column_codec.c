/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "base/core/random.h"
#include "store/series/column_codec.h"

#define LIMIT 2000

static const struct prediction chained = { NULL, true };

/* Packs and unpacks the values, and asserts that no bit has changed. Returns the packed length. */
static size_t round_trip(const double *values, size_t count, const struct prediction *prediction)
{
    TEXT_AUTO packed = { 0 };
    double *back = calloc(count + 1, sizeof *back);

    column_codec_pack(&packed, values, count, prediction);
    const uint8_t *in = (const uint8_t *)packed.data, *end = in + packed.length;
    assert_true(column_codec_unpack(&in, end, back, count, prediction));
    assert_true(in == end);
    assert_memory_equal(back, values, count * sizeof *back);
    free(back);
    return packed.length;
}

static void a_correctly_predicted_column_takes_one_byte(void **state)
{
    double values[LIMIT];

    (void)state;
    for (size_t i = 0; i < LIMIT; i++)
        values[i] = 0.1 * (double)i;
    assert_int_equal(round_trip(values, LIMIT, &(struct prediction){ values, false }), 1);
}

static void a_counter_with_equal_steps_takes_one_byte_per_step(void **state)
{
    double values[LIMIT];

    (void)state;
    for (size_t i = 0; i < LIMIT; i++)
        values[i] = 1e9 + 20.0 * (double)i;
    assert_true(round_trip(values, LIMIT, &chained) < LIMIT + 10);
}

static void unusual_values_are_restored_bit_for_bit(void **state)
{
    const double unusual[] = { 0,
                               -0.0,
                               NAN,
                               INFINITY,
                               -INFINITY,
                               9007199254740993.0,
                               1e300,
                               -5e-324,
                               9007199254740991.0,
                               -9007199254740991.0,
                               0.1,
                               9007199254740991.0,
                               3,
                               3,
                               3,
                               -7 };

    (void)state;
    round_trip(unusual, sizeof unusual / sizeof *unusual, &chained);
    round_trip(unusual, sizeof unusual / sizeof *unusual, &(struct prediction){ 0 });
    /* Both are whole numbers, but their difference is greater than 2^53. */
    round_trip(unusual + 8, 2, &chained);
    round_trip(unusual, 0, &chained);
}

static void random_columns_are_restored(void **state)
{
    struct generator random;
    double values[LIMIT];

    (void)state;
    generator_init(&random, 7);
    for (int round = 0; round < 200; round++) {
        size_t count = generator_below(&random, LIMIT);
        uint64_t kind = generator_below(&random, 4);

        for (size_t i = 0; i < count; i++) {
            double before = i == 0 ? 0 : values[i - 1];

            values[i] = kind == 0   ? before + (double)generator_below(&random, 3)
                        : kind == 1 ? generator_uniform(&random)
                        : kind == 2 ? (generator_below(&random, 200) == 0 ? before + 0.25 : before)
                                    : (double)(int64_t)generator_next(&random);
        }
        round_trip(values, count, &chained);
    }
}

static void damaged_bytes_are_refused_or_read_within_bounds(void **state)
{
    struct generator random;
    double values[100];

    (void)state;
    generator_init(&random, 11);
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[64];
        size_t length = generator_below(&random, sizeof bytes);
        uint8_t *copy = malloc(length); /* AddressSanitizer reports reads beyond its end */

        for (size_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)(i == 0 ? generator_below(&random, 4) : generator_next(&random));
        memcpy(copy, bytes, length);
        const uint8_t *in = copy;
        column_codec_unpack(&in, copy + length, values, 100, &chained);
        assert_true(in <= copy + length);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correctly_predicted_column_takes_one_byte),
        cmocka_unit_test(a_counter_with_equal_steps_takes_one_byte_per_step),
        cmocka_unit_test(unusual_values_are_restored_bit_for_bit),
        cmocka_unit_test(random_columns_are_restored),
        cmocka_unit_test(damaged_bytes_are_refused_or_read_within_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
