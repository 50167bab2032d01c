/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/sweep/attempt_outcome.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct trial {
    struct sweep_work work;
    struct subject subject;
    struct cell_result result;
};

/* Judges a measured cell whose cross-check has this verdict and names the model `served`. */
static void judge(struct trial *trial, enum cross_check_verdict verdict, const char *served)
{
    struct cross_check check = { .verdict = verdict, .reason = "because" };

    text_copy(check.served, sizeof check.served, served);
    trial->result = (struct cell_result){ .state = CELL_MEASURED, .measurement.attempted = 9 };
    attempt_outcome_judge(&trial->work, &trial->subject, &check, &trial->result);
}

static void an_attempt_without_evidence_against_it_is_accepted(void **state)
{
    struct trial trial = { 0 };

    (void)state;
    judge(&trial, CROSS_CHECK_NOTHING, "toy");
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_false(trial.result.measurement.contaminated);
    assert_string_equal(trial.work.stopped, "");
}

static void a_cell_contaminated_three_times_is_accepted_and_marked(void **state)
{
    struct trial trial = { 0 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        judge(&trial, CROSS_CHECK_CONTAMINATED, "toy");
        assert_int_equal(trial.result.state, CELL_PENDING);
        assert_string_equal(trial.result.reason, "because");
    }
    judge(&trial, CROSS_CHECK_CONTAMINATED, "toy");
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_true(trial.result.measurement.contaminated);
    assert_int_equal(trial.result.measurement.attempted, 9);
}

static void a_cell_whose_server_restarted_three_times_fails_without_figures(void **state)
{
    struct trial trial = { 0 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        judge(&trial, CROSS_CHECK_RESTARTED, "toy");
        assert_int_equal(trial.result.state, CELL_PENDING);
    }
    judge(&trial, CROSS_CHECK_RESTARTED, "toy");
    assert_int_equal(trial.result.state, CELL_FAILED);
    assert_string_equal(trial.result.reason, "after 3 attempts: because");
    assert_int_equal(trial.result.measurement.attempted, 0);
}

/* Other clients may have caused the failure, but the cell is still reported as failed. */
static void other_clients_are_no_reason_to_measure_a_failed_cell_again(void **state)
{
    const struct cross_check check = { .verdict = CROSS_CHECK_CONTAMINATED };
    struct trial trial = { .result.state = CELL_FAILED };

    (void)state;
    attempt_outcome_judge(&trial.work, &trial.subject, &check, &trial.result);
    assert_int_equal(trial.result.state, CELL_FAILED);
}

static void a_different_model_stops_the_sweep(void **state)
{
    struct trial within_cell = { 0 }, between_cells = { 0 };

    (void)state;
    judge(&within_cell, CROSS_CHECK_OTHER_MODEL, "other");
    assert_int_equal(within_cell.result.state, CELL_PENDING);
    assert_non_null(strstr(within_cell.work.stopped, "because: start a new sweep"));
    judge(&between_cells, CROSS_CHECK_NOTHING, "toy");
    judge(&between_cells, CROSS_CHECK_NOTHING, ""); /* the server did not report its model */
    assert_int_equal(between_cells.result.state, CELL_MEASURED);
    judge(&between_cells, CROSS_CHECK_NOTHING, "toy (context 8)");
    assert_int_equal(between_cells.result.state, CELL_PENDING);
    assert_non_null(strstr(between_cells.work.stopped, "toy, then toy (context 8)"));
}

static void a_cell_uneven_twice_is_accepted_and_marked(void **state)
{
    const struct cross_check check = { 0 };
    struct trial trial = { 0 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        trial.result = (struct cell_result){ .state = CELL_MEASURED, .measurement.uneven = true };
        text_copy(trial.result.reason, sizeof trial.result.reason, "a stall");
        attempt_outcome_judge_evenness(&trial.work, &check, &trial.result);
        assert_int_equal(trial.result.state, i == 0 ? CELL_PENDING : CELL_MEASURED);
        assert_true(trial.result.measurement.uneven);
        assert_string_equal(trial.result.reason, "a stall");
    }
}

static void missing_metrics_make_a_cell_uneven(void **state)
{
    const struct cross_check check = { .gap_s = 5.5 };
    struct trial trial = { .result.state = CELL_MEASURED };

    (void)state;
    attempt_outcome_judge_evenness(&trial.work, &check, &trial.result);
    assert_int_equal(trial.result.state, CELL_PENDING);
    assert_true(trial.result.measurement.uneven);
    assert_string_equal(trial.result.reason,
                        "the server's metrics were unavailable for 5.5 s during the window");
}

static void an_even_cell_is_accepted(void **state)
{
    const struct cross_check check = { 0 };
    struct trial trial = { .result.state = CELL_MEASURED };

    (void)state;
    attempt_outcome_judge_evenness(&trial.work, &check, &trial.result);
    assert_int_equal(trial.result.state, CELL_MEASURED);
    assert_false(trial.result.measurement.uneven);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_uneven_twice_is_accepted_and_marked),
        cmocka_unit_test(missing_metrics_make_a_cell_uneven),
        cmocka_unit_test(an_even_cell_is_accepted),
        cmocka_unit_test(an_attempt_without_evidence_against_it_is_accepted),
        cmocka_unit_test(a_cell_contaminated_three_times_is_accepted_and_marked),
        cmocka_unit_test(a_cell_whose_server_restarted_three_times_fails_without_figures),
        cmocka_unit_test(other_clients_are_no_reason_to_measure_a_failed_cell_again),
        cmocka_unit_test(a_different_model_stops_the_sweep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
