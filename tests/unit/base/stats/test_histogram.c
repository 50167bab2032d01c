/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/random.h"
#include "base/stats/histogram.h"

#define COUNT 20000

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* Draws a latency in nanoseconds from 1 to 2^powers; each power of two is equally likely. */
static uint64_t draw(struct generator *generator, int powers)
{
    return (uint64_t)exp2(generator_uniform(generator) * powers);
}

static void assert_near(uint64_t found, uint64_t exact)
{
    double distance = fabs((double)found - (double)exact);

    if (distance > 0.004 * (double)exact)
        fail_msg("%llu is not within 0.4 %% of %llu", (unsigned long long)found,
                 (unsigned long long)exact);
}

static void assert_same(const struct histogram *a, const struct histogram *b)
{
    bool a_censored, b_censored;

    assert_int_equal(histogram_count(a), histogram_count(b));
    assert_int_equal(histogram_censored(a), histogram_censored(b));
    assert_int_equal(histogram_min(a), histogram_min(b));
    assert_int_equal(histogram_max(a), histogram_max(b));
    if (histogram_count(a) > 0)
        assert_true(histogram_mean(a) == histogram_mean(b));
    if (histogram_count(a) > 1)
        assert_true(fabs(histogram_deviation(a) - histogram_deviation(b))
                    <= 1e-9 * histogram_deviation(a));
    for (int i = 0; i <= 1000; i++) {
        assert_int_equal(histogram_quantile(a, i / 1000.0, &a_censored),
                         histogram_quantile(b, i / 1000.0, &b_censored));
        assert_int_equal(a_censored, b_censored);
    }
}

static struct histogram *random_histogram(uint64_t seed, int count, int powers)
{
    struct histogram *histogram = histogram_create();
    struct generator generator;

    generator_init(&generator, seed);
    for (int i = 0; i < count; i++)
        histogram_record(histogram, draw(&generator, powers));
    return histogram;
}

static void an_empty_histogram_has_no_figures(void **state)
{
    struct histogram *histogram = histogram_create();
    bool censored = true;

    (void)state;
    assert_int_equal(histogram_count(histogram), 0);
    assert_int_equal(histogram_min(histogram), 0);
    assert_int_equal(histogram_max(histogram), 0);
    assert_true(isnan(histogram_mean(histogram)));
    assert_true(isnan(histogram_deviation(histogram)));
    assert_int_equal(histogram_quantile(histogram, 0.5, &censored), 0);
    assert_false(censored);
    histogram_destroy(histogram);
    histogram_destroy(NULL);
}

static void quantiles_are_within_0_4_percent_of_the_exact_ones(void **state)
{
    static uint64_t values[COUNT];

    (void)state;
    for (int powers = 4; powers <= 44; powers += 8) {
        struct histogram *histogram = histogram_create();
        struct generator generator;

        generator_init(&generator, (uint64_t)powers);
        for (int i = 0; i < COUNT; i++) {
            values[i] = draw(&generator, powers);
            histogram_record(histogram, values[i]);
        }
        qsort(values, COUNT, sizeof *values, compare);
        for (int rank = 1; rank <= COUNT; rank++)
            assert_near(histogram_quantile(histogram, (double)rank / COUNT, NULL),
                        values[rank - 1]);
        assert_int_equal(histogram_quantile(histogram, 0, NULL), values[0]);
        assert_int_equal(histogram_quantile(histogram, 1, NULL), values[COUNT - 1]);
        histogram_destroy(histogram);
    }
}

static void small_values_are_exact(void **state)
{
    struct histogram *histogram = histogram_create();

    (void)state;
    for (uint64_t i = 0; i < 256; i++)
        histogram_record(histogram, i);
    for (int i = 1; i <= 256; i++)
        assert_int_equal(histogram_quantile(histogram, i / 256.0, NULL), i - 1);
    histogram_destroy(histogram);
}

static void quantiles_near_powers_of_two_are_within_0_4_percent(void **state)
{
    (void)state;
    for (int power = 0; power < 44; power++) {
        for (int step = -1; step <= 1; step++) {
            uint64_t value = (UINT64_C(1) << power) + (uint64_t)step;
            struct histogram *histogram = histogram_create();

            histogram_record(histogram, 0);
            histogram_record(histogram, value);
            histogram_record(histogram, UINT64_MAX);
            assert_near(histogram_quantile(histogram, 0.5, NULL), value);
            histogram_destroy(histogram);
        }
    }
}

static void count_sum_and_extremes_are_exact(void **state)
{
    struct histogram *histogram = histogram_create();

    (void)state;
    histogram_record(histogram, 1000000007);
    histogram_record(histogram, 3);
    histogram_record_many(histogram, 500, 3);
    histogram_record_many(histogram, 9, 0);
    assert_int_equal(histogram_count(histogram), 5);
    assert_int_equal(histogram_min(histogram), 3);
    assert_int_equal(histogram_max(histogram), 1000000007);
    assert_true(histogram_mean(histogram) == 1000001510 / 5.0);
    histogram_destroy(histogram);
}

/* The values are only about a seventh of a bucket's width apart. */
static void the_deviation_is_more_precise_than_a_bucket(void **state)
{
    struct histogram *histogram = histogram_create();

    (void)state;
    for (int i = 0; i < 1000; i++)
        histogram_record(histogram, (uint64_t)(20000000000 + (i % 2 == 0 ? 10000000 : -10000000)));
    assert_true(fabs(histogram_deviation(histogram) - 10005003.75) < 1);
    histogram_destroy(histogram);
}

static void rounding_never_selects_the_wrong_rank(void **state)
{
    (void)state;
    for (uint64_t count = 1; count <= 200; count++) {
        struct histogram *histogram = histogram_create();

        for (uint64_t i = 1; i <= count; i++)
            histogram_record(histogram, i);
        for (uint64_t rank = 1; rank <= count; rank++)
            assert_int_equal(histogram_quantile(histogram, (double)rank / (double)count, NULL),
                             rank);
        histogram_destroy(histogram);
    }
}

static void merging_equals_recording_everything_in_one_histogram(void **state)
{
    struct histogram *all = histogram_create(), *merged = histogram_create();
    struct generator generator;

    (void)state;
    generator_init(&generator, 5);
    for (int part = 0; part < 7; part++) {
        struct histogram *shard = histogram_create();

        for (int i = 0; i < part * 100; i++) {
            uint64_t value = draw(&generator, 40);

            histogram_record(all, value);
            histogram_record(shard, value);
        }
        histogram_record_censored(all, 1000 + (uint64_t)part);
        histogram_record_censored(shard, 1000 + (uint64_t)part);
        histogram_merge(merged, shard);
        histogram_destroy(shard);
    }
    assert_same(all, merged);
    histogram_destroy(all);
    histogram_destroy(merged);
}

static void a_cleared_histogram_equals_a_new_one(void **state)
{
    struct histogram *histogram = random_histogram(1, 100, 40), *new = histogram_create();

    (void)state;
    histogram_record_censored(histogram, 5);
    histogram_clear(histogram);
    assert_same(histogram, new);
    histogram_destroy(histogram);
    histogram_destroy(new);
}

static void quantiles_at_and_above_a_cut_off_value_are_only_lower_bounds(void **state)
{
    struct histogram *histogram = histogram_create();
    bool censored;

    (void)state;
    for (uint64_t i = 0; i < 95; i++)
        histogram_record(histogram, 1000 + i);
    for (int i = 0; i < 5; i++)
        histogram_record_censored(histogram, 60000000000);
    assert_int_equal(histogram_censored(histogram), 5);
    assert_int_equal(histogram_count(histogram), 100);
    histogram_quantile(histogram, 0.95, &censored);
    assert_false(censored);
    assert_near(histogram_quantile(histogram, 0.99, &censored), 60000000000);
    assert_true(censored);
    histogram_destroy(histogram);
}

/* A request that was given up after 10000 ns might have taken a minute, so all higher quantiles are
 * uncertain. */
static void an_early_timeout_makes_all_higher_quantiles_lower_bounds(void **state)
{
    struct histogram *histogram = histogram_create();
    bool censored;

    (void)state;
    histogram_record(histogram, 1000);
    histogram_record_censored(histogram, 10000);
    histogram_record(histogram, 100000);
    histogram_quantile(histogram, 0.1, &censored);
    assert_false(censored);
    histogram_quantile(histogram, 1, &censored);
    assert_true(censored);
    histogram_destroy(histogram);
}

static void encoding_and_decoding_keep_every_figure(void **state)
{
    (void)state;
    for (int count = 0; count < 3000; count = 3 * count + 1) {
        struct histogram *histogram = random_histogram((uint64_t)count, count, 50), *decoded = NULL;
        FREE_AUTO void *encoded = NULL;
        struct error error;
        size_t length;

        if (count % 2 == 1)
            histogram_record_censored(histogram, 123456);
        histogram_encode(histogram, &encoded, &length);
        assert_true(histogram_decode(encoded, length, &decoded, &error));
        assert_same(histogram, decoded);
        histogram_destroy(histogram);
        histogram_destroy(decoded);
    }
}

static void a_thousand_values_encode_to_at_most_3000_bytes(void **state)
{
    struct histogram *histogram = random_histogram(3, 1000, 36);
    FREE_AUTO void *encoded = NULL;
    size_t length;

    (void)state;
    histogram_encode(histogram, &encoded, &length);
    assert_in_range(length, 100, 3000);
    histogram_destroy(histogram);
}

static void refuses_every_truncation(void **state)
{
    struct histogram *histogram = random_histogram(4, 300, 44), *decoded = NULL;
    FREE_AUTO void *encoded = NULL;
    struct error error = { 0 };
    size_t length;

    (void)state;
    histogram_encode(histogram, &encoded, &length);
    for (size_t cut = 0; cut < length; cut++) {
        FREE_AUTO void *exact = memory_zeroed(cut, 1); /* so that reading beyond it is detected */

        memcpy(exact, encoded, cut);
        assert_false(histogram_decode(exact, cut, &decoded, &error));
        assert_int_equal(error.kind, ERROR_INVALID);
    }
    assert_null(decoded);
    histogram_destroy(histogram);
}

/* A damaged histogram that is not refused must still have quantiles between its extremes and no
 * negative deviation. Merging and encoding it must not crash. */
static void use(struct histogram *histogram)
{
    FREE_AUTO void *encoded = NULL;
    size_t length;

    for (int i = 0; i <= 10; i++)
        assert_in_range(histogram_quantile(histogram, i / 10.0, NULL), histogram_min(histogram),
                        histogram_max(histogram));
    assert_false(histogram_deviation(histogram) < 0);
    histogram_merge(histogram, histogram);
    histogram_encode(histogram, &encoded, &length);
}

static void damaged_bytes_do_no_harm(void **state)
{
    struct histogram *histogram = random_histogram(6, 200, 44);
    FREE_AUTO uint8_t *encoded = NULL;
    struct error error;
    size_t length;
    int refused = 0;

    (void)state;
    histogram_encode(histogram, (void **)&encoded, &length);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        struct histogram *decoded = NULL;

        encoded[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (histogram_decode(encoded, length, &decoded, &error))
            use(decoded);
        else
            refused++;
        histogram_destroy(decoded);
        encoded[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_in_range(refused, length, 8 * length);
    histogram_destroy(histogram);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_histogram_has_no_figures),
        cmocka_unit_test(quantiles_are_within_0_4_percent_of_the_exact_ones),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(quantiles_near_powers_of_two_are_within_0_4_percent),
        cmocka_unit_test(count_sum_and_extremes_are_exact),
        cmocka_unit_test(the_deviation_is_more_precise_than_a_bucket),
        cmocka_unit_test(rounding_never_selects_the_wrong_rank),
        cmocka_unit_test(merging_equals_recording_everything_in_one_histogram),
        cmocka_unit_test(a_cleared_histogram_equals_a_new_one),
        cmocka_unit_test(quantiles_at_and_above_a_cut_off_value_are_only_lower_bounds),
        cmocka_unit_test(an_early_timeout_makes_all_higher_quantiles_lower_bounds),
        cmocka_unit_test(encoding_and_decoding_keep_every_figure),
        cmocka_unit_test(a_thousand_values_encode_to_at_most_3000_bytes),
        cmocka_unit_test(refuses_every_truncation),
        cmocka_unit_test(damaged_bytes_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
