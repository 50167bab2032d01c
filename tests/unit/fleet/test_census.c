/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a census, which holds the counters of each of the model servers (instances) that share
 * one address. */
#include "fleet/census.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/metrics_map.h"

static struct engine_metrics_snapshot snapshot_of(double tokens)
{
    struct engine_metrics_snapshot snapshot;

    metrics_map_clear(&snapshot);
    snapshot.generation_tokens_total = tokens;
    return snapshot;
}

/* Takes a census of instances that have generated these numbers of tokens: scrapes them in turn
 * until the census is over. */
static struct census census_of(const double tokens[], size_t count)
{
    struct census census = { 0 };

    for (size_t i = 0; !census_is_over(&census); i++) {
        const struct engine_metrics_snapshot snapshot = snapshot_of(tokens[i % count]);

        census_note(&census, &snapshot);
    }
    return census;
}

#define CENSUS(...)                                                                                \
    census_of((const double[]){ __VA_ARGS__ },                                                     \
              sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

/* Returns how many tokens were generated between two censuses, or -1 if that is not known. */
static double generated(const struct census *first, const struct census *last)
{
    struct engine_metrics_snapshot growth;

    if (!census_growth(first, last, &growth))
        return -1;
    assert_true(isnan(growth.requests_total)); /* no instance reports it */
    return growth.generation_tokens_total;
}

static void adds_up_the_counters_of_all_instances(void **state)
{
    const struct census first = CENSUS(100, 7, 3000), last = CENSUS(3010, 150, 107);

    (void)state;
    assert_int_equal(first.count, 3);
    assert_float_equal(generated(&first, &last), 160, 1e-9);
    assert_float_equal(generated(&first, &first), 0, 1e-9);
}

static void instances_that_were_unused_at_the_first_census_count_too(void **state)
{
    const struct census fresh = CENSUS(0, 0), one_used = CENSUS(0, 50), last = CENSUS(30, 80);

    (void)state;
    assert_int_equal(fresh.count, 1);
    assert_float_equal(generated(&fresh, &last), 110, 1e-9);
    assert_float_equal(generated(&one_used, &last), 60, 1e-9);
}

static void the_growth_is_not_known_if_the_instances_changed(void **state)
{
    const struct census two = CENSUS(100, 200), three = CENSUS(110, 210, 300);
    const struct census less = CENSUS(110, 150), one = CENSUS(400);

    (void)state;
    assert_float_equal(generated(&two, &three), -1, 0);
    assert_float_equal(generated(&three, &two), -1, 0);
    assert_float_equal(generated(&two, &less), -1, 0);
    assert_float_equal(generated(&two, &one), -1, 0);
    assert_float_equal(generated(&one, &one), -1, 0); /* a single instance needs no census */
}

/* Takes two censuses of two instances. By the first census, the instances have generated 100 and 90
 * tokens; by the second, 150 and 140. seconds[census][instance] (both counted from 0) is the time
 * in seconds that the instance has spent on prompts by that census. Returns how many tokens
 * were generated in between, or -1 if that is not known. */
static double generated_with(const double seconds[2][2])
{
    const double tokens[2][2] = { { 100, 90 }, { 150, 140 } };
    struct census censuses[2] = { 0 };

    for (int when = 0; when < 2; when++)
        for (int i = 0; !census_is_over(&censuses[when]); i++) {
            struct engine_metrics_snapshot snapshot = snapshot_of(tokens[when][(i + when) % 2]);

            snapshot.prefill_sum_s = seconds[when][(i + when) % 2];
            census_note(&censuses[when], &snapshot);
        }
    return generated(&censuses[0], &censuses[1]);
}

/* The tokens are the same in both cases: only the seconds show that one instance restarted. */
static void instances_are_distinguished_by_their_times_too(void **state)
{
    const double same[2][2] = { { 20, 26 }, { 22, 28 } };
    const double restarted[2][2] = { { 20, 26 }, { 22, 23 } };

    (void)state;
    assert_float_equal(generated_with(same), 100, 1e-9);
    assert_float_equal(generated_with(restarted), -1, 0);
}

static void a_census_during_which_an_instance_worked_is_incomplete(void **state)
{
    struct census census = { 0 };

    (void)state;
    for (int i = 0; i < 6; i++) {
        const struct engine_metrics_snapshot snapshot = snapshot_of(i % 2 == 0 ? 100 : 200);

        census_note(&census, &snapshot);
    }
    for (int i = 0; !census_is_over(&census); i++) {
        const struct engine_metrics_snapshot snapshot = snapshot_of(i % 2 == 0 ? 124 : 200);

        census_note(&census, &snapshot);
    }
    assert_int_equal(census.count, 3);
    assert_false(census_is_complete(&census));
}

static void the_growth_is_not_known_while_instances_are_busy(void **state)
{
    struct census first = CENSUS(100, 200), moving = { 0 }, busy = CENSUS(110, 210);

    (void)state;
    for (int i = 0; !census_is_over(&moving); i++) {
        const struct engine_metrics_snapshot snapshot = snapshot_of(200 + i);

        census_note(&moving, &snapshot);
    }
    assert_int_equal(moving.count, CENSUS_INSTANCES_LIMIT);
    assert_float_equal(generated(&first, &moving), -1, 0);
    assert_float_equal(generated(&first, &busy), 20, 1e-9);
    busy.busy = true;
    assert_float_equal(generated(&first, &busy), -1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_the_counters_of_all_instances),
        cmocka_unit_test(instances_that_were_unused_at_the_first_census_count_too),
        cmocka_unit_test(the_growth_is_not_known_if_the_instances_changed),
        cmocka_unit_test(instances_are_distinguished_by_their_times_too),
        cmocka_unit_test(a_census_during_which_an_instance_worked_is_incomplete),
        cmocka_unit_test(the_growth_is_not_known_while_instances_are_busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
