/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/random.h"

static int compare_ids(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void ids_are_a_prefix_and_26_base32_characters(void **state)
{
    char id[ID_SIZE];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        random_id("swp", id);
        assert_memory_equal(id, "swp_", 4);
        assert_int_equal(strlen(id), 30);
        assert_int_equal(strspn(id + 4, "0123456789abcdefghjkmnpqrstvwxyz"), 26);
        assert_in_range(id[4], '0', '7'); /* 26 characters hold 130 bits, but the id has 128, so the
                                             first character holds only three */
    }
}

static void ids_do_not_repeat(void **state)
{
    static char ids[10000][ID_SIZE];

    (void)state;
    for (size_t i = 0; i < 10000; i++)
        random_id("run", ids[i]);
    qsort(ids, 10000, sizeof ids[0], compare_ids);
    for (size_t i = 1; i < 10000; i++)
        assert_string_not_equal(ids[i - 1], ids[i]);
}

static void random_bytes_fill_the_whole_buffer(void **state)
{
    unsigned char bytes[1000] = { 0 };
    int zeros = 0;

    (void)state;
    random_bytes(bytes, sizeof bytes - 1);
    for (size_t i = 0; i < sizeof bytes - 1; i++)
        zeros += bytes[i] == 0;
    assert_in_range(zeros, 0, 30); /* 4 are expected */
    assert_int_equal(bytes[sizeof bytes - 1], 0);
}

/* The reference implementation gives these numbers for the initial state 1, 2, 3, 4. */
static void the_generator_is_xoshiro256_starstar(void **state)
{
    static const uint64_t expected[] = { 11520,
                                         0,
                                         1509978240,
                                         1215971899390074240,
                                         1216172134540287360,
                                         607988272756665600,
                                         16172922978634559625u,
                                         8476171486693032832 };
    struct generator generator = { { 1, 2, 3, 4 } };

    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_true(generator_next(&generator) == expected[i]);
}

/* These are splitmix64's published numbers for the seed 1234567. */
static void the_generator_is_seeded_by_splitmix64(void **state)
{
    struct generator generator;

    (void)state;
    generator_init(&generator, 1234567);
    assert_true(generator.state[0] == 6457827717110365317u);
    assert_true(generator.state[1] == 3203168211198807973u);
    assert_true(generator.state[2] == 9817491932198370423u);
    assert_true(generator.state[3] == 4593380528125082431u);
}

static void numbers_below_a_bound_are_uniform(void **state)
{
    struct generator generator;
    int counts[6] = { 0 };

    (void)state;
    generator_init(&generator, 42);
    for (int i = 0; i < 60000; i++) {
        uint64_t number = generator_below(&generator, 6);

        assert_in_range(number, 0, 5);
        counts[number]++;
    }
    for (int i = 0; i < 6; i++)
        assert_in_range(counts[i], 9600, 10400); /* four standard deviations are 365 */
}

static void a_bound_of_one_and_a_huge_bound_work(void **state)
{
    struct generator generator;
    uint64_t huge = (UINT64_C(1) << 63) + 1;
    bool upper_half = false;

    (void)state;
    generator_init(&generator, 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t number = generator_below(&generator, huge);

        assert_true(generator_below(&generator, 1) == 0);
        assert_true(number < huge);
        upper_half |= number > huge / 2;
    }
    assert_true(upper_half);
}

static void uniform_numbers_are_from_0_to_1_and_average_one_half(void **state)
{
    struct generator generator;
    double sum = 0;

    (void)state;
    generator_init(&generator, 7);
    for (int i = 0; i < 100000; i++) {
        double number = generator_uniform(&generator);

        assert_true(number >= 0 && number < 1);
        sum += number;
    }
    assert_true(sum > 49600 && sum < 50400);
}

static void a_mixed_seed_depends_on_the_values_and_their_order(void **state)
{
    (void)state;
    assert_true(random_mix(1, 2) == random_mix(1, 2));
    assert_true(random_mix(1, 2) != random_mix(2, 1));
    assert_true(random_mix(0, 0) != random_mix(0, 1));
    assert_true(random_mix(0, 0) != 0);
    assert_true(random_mix(random_mix(9, 1), 2) != random_mix(random_mix(9, 2), 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_a_prefix_and_26_base32_characters),
        cmocka_unit_test(ids_do_not_repeat),
        cmocka_unit_test(random_bytes_fill_the_whole_buffer),
        cmocka_unit_test(the_generator_is_xoshiro256_starstar),
        cmocka_unit_test(the_generator_is_seeded_by_splitmix64),
        cmocka_unit_test(numbers_below_a_bound_are_uniform),
        cmocka_unit_test(a_bound_of_one_and_a_huge_bound_work),
        cmocka_unit_test(uniform_numbers_are_from_0_to_1_and_average_one_half),
        cmocka_unit_test(a_mixed_seed_depends_on_the_values_and_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
