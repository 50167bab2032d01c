/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/scrape_schedule.h"

static void due_times_do_not_drift_and_missed_scrapes_are_not_made_up_for(void **state)
{
    struct scrape_schedule schedule = { 0 };
    struct schedule_row due;

    (void)state;
    scrape_schedule_set(&schedule, 1, "a", 100, 1000);
    assert_int_equal(scrape_schedule_next_ns(&schedule), 1000);
    assert_false(scrape_schedule_next_due(&schedule, 999, &due));
    assert_true(scrape_schedule_next_due(&schedule, 1007, &due)); /* a little late */
    assert_int_equal(due.deployment_id, 1);
    assert_string_equal(due.name, "a");
    assert_int_equal(scrape_schedule_next_ns(&schedule), INT64_MAX); /* busy */
    scrape_schedule_done(&schedule, 1);
    assert_int_equal(scrape_schedule_next_ns(&schedule), 1100);
    assert_true(scrape_schedule_next_due(&schedule, 1345, &due)); /* two scrapes were missed */
    scrape_schedule_done(&schedule, 1);
    assert_int_equal(scrape_schedule_next_ns(&schedule), 1400);
    scrape_schedule_finish(&schedule);
}

static void a_busy_deployment_is_never_due(void **state)
{
    struct scrape_schedule schedule = { 0 };
    struct schedule_row due;

    (void)state;
    scrape_schedule_set(&schedule, 1, "slow", 100, 0);
    scrape_schedule_set(&schedule, 2, "quick", 100, 0);
    assert_true(scrape_schedule_next_due(&schedule, 0, &due));
    assert_int_equal(due.deployment_id, 1);
    assert_true(scrape_schedule_next_due(&schedule, 0, &due));
    assert_int_equal(due.deployment_id, 2);
    scrape_schedule_done(&schedule, 2);
    assert_true(scrape_schedule_next_due(&schedule, 500, &due));
    assert_int_equal(due.deployment_id, 2);
    assert_false(scrape_schedule_next_due(&schedule, 500, &due));
    scrape_schedule_finish(&schedule);
}

static void a_deployment_that_is_watched_again_while_busy_stays_busy(void **state)
{
    struct scrape_schedule schedule = { 0 };
    struct schedule_row due;

    (void)state;
    scrape_schedule_set(&schedule, 1, "a", 100, 0);
    assert_true(scrape_schedule_next_due(&schedule, 0, &due));
    scrape_schedule_begin(&schedule);
    scrape_schedule_end(&schedule);
    scrape_schedule_set(&schedule, 1, "a", 100, 200);
    assert_false(scrape_schedule_next_due(&schedule, 200, &due));
    scrape_schedule_done(&schedule, 1);
    assert_true(scrape_schedule_next_due(&schedule, 200, &due));
    scrape_schedule_begin(&schedule);
    scrape_schedule_end(&schedule);
    scrape_schedule_done(&schedule, 1);
    assert_int_equal(schedule.count, 0);
    scrape_schedule_finish(&schedule);
}

static void keeps_the_times_of_remaining_deployments_and_forgets_the_rest(void **state)
{
    struct scrape_schedule schedule = { 0 };
    struct schedule_row due;

    (void)state;
    scrape_schedule_set(&schedule, 1, "a", 100, 0);
    scrape_schedule_set(&schedule, 2, "b", 100, 0);
    while (scrape_schedule_next_due(&schedule, 0, &due))
        scrape_schedule_done(&schedule, due.deployment_id);
    scrape_schedule_begin(&schedule);
    scrape_schedule_set(&schedule, 2, "renamed", 100, 50);
    scrape_schedule_end(&schedule);
    assert_int_equal(schedule.count, 1);
    assert_int_equal(scrape_schedule_next_ns(&schedule), 100);
    scrape_schedule_set(&schedule, 2, "b", 30, 60); /* a new interval: due at once */
    assert_int_equal(scrape_schedule_next_ns(&schedule), 60);
    scrape_schedule_done(&schedule, 7); /* not in the schedule: does nothing */
    scrape_schedule_finish(&schedule);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(due_times_do_not_drift_and_missed_scrapes_are_not_made_up_for),
        cmocka_unit_test(a_busy_deployment_is_never_due),
        cmocka_unit_test(a_deployment_that_is_watched_again_while_busy_stays_busy),
        cmocka_unit_test(keeps_the_times_of_remaining_deployments_and_forgets_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
