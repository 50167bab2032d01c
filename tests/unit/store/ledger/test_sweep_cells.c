/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a stored sweep: only the owner of the sweep's job writes their results, no cell is
 * measured twice, and what was measured never changes. */
#include "tests/unit/support/sweep_scene.h"

/* Cells 1 and 2 are inferred from cells 0 and 3. Cell 3 failed. When it is to be measured again,
 * cells 1 and 2 become pending, too. */
static void inferred_cells_become_pending_when_failed_cells_are_retried(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 5, 1); /* cell 4 stays pending, so the run is not finished */
    struct cell_inference inferences[] = { { scene.cells[0].id, "ignored: already measured" },
                                           { scene.cells[1].id, "beyond the saturation point" },
                                           { scene.cells[2].id, "beyond the saturation point" } };
    struct claim old = scene.claim;
    struct sweep_row again;

    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    attempt_and_end(ledger, &scene, 3, CELL_FAILED);
    assert_ok(ledger, sweep_infer_cells(ledger->store, &scene.claim, scene.sweep.id, inferences, 3,
                                        400, &ledger->error));
    read_cells(ledger, &scene);
    assert_int_equal(scene.cells[0].state, CELL_MEASURED);
    assert_int_equal(scene.cells[1].state, CELL_INFERRED);
    assert_string_equal(scene.cells[2].reason, "beyond the saturation point");
    assert_int_equal(scene.cells[2].measurement.attempted, 0);
    reread_sweep(ledger, &scene);
    assert_int_equal(scene.sweep.cells_done, 4);
    assert_ok(ledger,
              job_finish(ledger->store, &scene.claim,
                         &(struct job_ending){ .state = JOB_COMPLETED }, 510, &ledger->error));
    assert_ok(ledger, sweep_reopen(ledger->store, scene.sweep.id, true, 0, 600, NULL, &again,
                                   &ledger->error));
    assert_int_equal(again.cells_done, 1);
    assert_refused(
        ledger,
        sweep_infer_cells(ledger->store, &old, scene.sweep.id, inferences, 3, 700, &ledger->error),
        ERROR_CONFLICT, "");
    sweep_row_finish(&again);
    end(&scene);
}

static void stores_a_cell_completely(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct cell_result result = measured();
    struct histogram *histogram = histogram_create(), *back;
    struct measurement expected;
    int64_t id = attempt(ledger, &scene, 1), requests;
    void *records;
    size_t length;

    histogram_record(histogram, 5000000);
    histogram_record_censored(histogram, 9000000);
    result.histograms[METRIC_TTFT] = histogram;
    result.records = "packed";
    result.records_length = 6;
    result.records_count = 50;
    result.witness_json = "{\"kv\":1}";
    assert_ok(ledger, attempt_end(ledger->store, &scene.claim, id, &result, 300, &ledger->error));
    read_cells(ledger, &scene);
    assert_int_equal(scene.cells[1].state, CELL_MEASURED);
    assert_int_equal(scene.cells[1].attempt_id, id);
    assert_int_equal(scene.cells[1].attempts, 1);
    assert_int_equal(scene.cells[1].finished_ms, 300);
    assert_string_equal(scene.cells[1].workload_digest, "digest");
    assert_string_equal(scene.cells[1].witness, "{\"kv\":1}");
    json_auto_t *json = measurement_to_json(&result.measurement);
    measurement_from_json(json, &expected);
    assert_int_equal(scene.cells[1].measurement.succeeded, 50);
    assert_true(scene.cells[1].measurement.goodput == expected.goodput);
    assert_ok(ledger, cell_histogram_find(ledger->store, id, METRIC_TTFT, &back, &ledger->error));
    assert_int_equal(histogram_count(back), 2);
    assert_int_equal(histogram_censored(back), 1);
    assert_int_equal(histogram_max(back), 9000000);
    assert_refused(ledger,
                   cell_histogram_find(ledger->store, id, METRIC_E2E, &back, &ledger->error),
                   ERROR_NOT_FOUND, "e2e");
    assert_ok(ledger,
              cell_records_find(ledger->store, id, &records, &length, &requests, &ledger->error));
    assert_int_equal(length, 6);
    assert_memory_equal(records, "packed", 6);
    assert_int_equal(requests, 50);
    free(records);
    histogram_destroy(back);
    histogram_destroy(histogram);
    end(&scene);
}

static void never_measures_a_cell_twice(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct cell_result result = measured();
    int64_t id = attempt(ledger, &scene, 0), second;

    assert_refused(
        ledger,
        attempt_begin(ledger->store, &scene.claim, scene.cells[0].id, 210, &second, &ledger->error),
        ERROR_CONFLICT, "already being measured");
    assert_ok(ledger, attempt_end(ledger->store, &scene.claim, id, &result, 300, &ledger->error));
    assert_refused(ledger,
                   attempt_end(ledger->store, &scene.claim, id, &result, 310, &ledger->error),
                   ERROR_CONFLICT, "already has a result");
    assert_refused(
        ledger,
        attempt_begin(ledger->store, &scene.claim, scene.cells[0].id, 320, &second, &ledger->error),
        ERROR_CONFLICT, "is measured, not pending");
    end(&scene);
}

static void a_stale_owner_writes_nothing(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct cell_result result = measured();
    struct attempt_row *attempts;
    struct claim old = scene.claim;
    int64_t id = attempt(ledger, &scene, 0), other;
    size_t count;

    scene.claim = ledger_claim(ledger, "you", 5000, 1000);
    assert_refused(ledger, attempt_end(ledger->store, &old, id, &result, 5100, &ledger->error),
                   ERROR_CONFLICT, "taken over");
    assert_refused(
        ledger, attempt_begin(ledger->store, &old, scene.cells[1].id, 5100, &other, &ledger->error),
        ERROR_CONFLICT, "taken over");
    assert_refused(ledger, attempt_interrupt(ledger->store, &old, id, "x", 5100, &ledger->error),
                   ERROR_CONFLICT, "taken over");
    assert_refused(ledger,
                   sweep_skip_cells(ledger->store, &old, scene.sweep.id, "x", 5100, &ledger->error),
                   ERROR_CONFLICT, "taken over");
    assert_refused(ledger,
                   job_finish(ledger->store, &old, &(struct job_ending){ .state = JOB_FAILED },
                              5100, &ledger->error),
                   ERROR_CONFLICT, "taken over");
    assert_refused(ledger, sweep_begin(ledger->store, &old, scene.sweep.id, 5100, &ledger->error),
                   ERROR_CONFLICT, "taken over");
    assert_refused(ledger,
                   run_fingerprint_set(ledger->store, &old, scene.sweep.id,
                                       scene.sweep.deployment_id, "{}", &ledger->error),
                   ERROR_CONFLICT, "taken over");
    assert_refused(ledger,
                   sweep_workload_keep(ledger->store, &old, scene.sweep.id,
                                       scene.sweep.deployment_id, "{}", &ledger->error),
                   ERROR_CONFLICT, "taken over");
    assert_ok(ledger, cell_attempt_list(ledger->store, scene.sweep.id, NULL, &attempts, &count,
                                        &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(attempts[0].state, "interrupted");
    assert_string_equal(attempts[0].reason, "the process that measured it ended");
    free(attempts);
    read_cells(ledger, &scene);
    assert_int_equal(scene.cells[0].state, CELL_PENDING);
    /* The job's new owner cannot end the old owner's attempt, but can begin a second one. */
    assert_refused(ledger,
                   attempt_end(ledger->store, &scene.claim, id, &result, 5200, &ledger->error),
                   ERROR_CONFLICT, "is not running under this claim");
    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    read_cells(ledger, &scene);
    assert_int_equal(scene.cells[0].attempts, 2);
    end(&scene);
}

static void another_job_cannot_write_to_the_sweep(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct job job;
    int64_t id;

    assert_ok(ledger, job_add(ledger->store, "other", "", "bob", 20, NULL, &job, &ledger->error));
    struct claim claim = ledger_claim(ledger, "me", 100, 1000);
    assert_refused(ledger, sweep_begin(ledger->store, &claim, scene.sweep.id, 200, &ledger->error),
                   ERROR_CONFLICT, "does not belong to");
    assert_refused(
        ledger, attempt_begin(ledger->store, &claim, scene.cells[0].id, 200, &id, &ledger->error),
        ERROR_CONFLICT, "does not belong to");
    end(&scene);
}

static void failed_cells_of_an_unfinished_run_are_measured_again_on_request(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 3, 1);
    struct attempt_row *attempts;
    struct sweep_row again;
    size_t count;

    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    attempt_and_end(ledger, &scene, 1, CELL_FAILED);
    assert_ok(ledger, job_finish(ledger->store, &scene.claim,
                                 &(struct job_ending){ .state = JOB_COMPLETED,
                                                       .sweep_state = "stopped",
                                                       .sweep_reason = "enough" },
                                 510, &ledger->error));
    assert_ok(ledger, sweep_reopen(ledger->store, scene.sweep.id, true, 0, 600, NULL, &again,
                                   &ledger->error));
    assert_int_equal(again.cells_done, 1);
    assert_ok(ledger, cell_attempt_list(ledger->store, scene.sweep.id, "rejected", &attempts,
                                        &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_int_equal(attempts[0].concurrency, 2);
    free(attempts);
    scene.claim = ledger_claim(ledger, "me", 700, 1000);
    attempt_and_end(ledger, &scene, 1, CELL_MEASURED);
    attempt_and_end(ledger, &scene, 2, CELL_MEASURED);
    assert_ok(ledger,
              job_finish(ledger->store, &scene.claim,
                         &(struct job_ending){ .state = JOB_COMPLETED }, 800, &ledger->error));
    sweep_row_finish(&again);
    assert_refused(
        ledger,
        sweep_reopen(ledger->store, scene.sweep.id, true, 0, 900, NULL, &again, &ledger->error),
        ERROR_CONFLICT, "is complete");
    end(&scene);
}

#define ATTEMPT_IDS "(SELECT attempt_id FROM cells WHERE sweep_id = %Q)"
#define CHANGE_MEASUREMENT "UPDATE attempts SET measurement = '{}' WHERE id IN " ATTEMPT_IDS

static void nothing_changes_what_was_measured(void **state)
{
    static const char *const refused[] = {
        "UPDATE runs SET finished_ms = NULL WHERE sweep_id = %Q",
        "UPDATE runs SET provenance = '{}' WHERE sweep_id = %Q",
        "UPDATE runs SET corrects = id WHERE sweep_id = %Q",
        "DELETE FROM runs WHERE sweep_id = %Q",
        "UPDATE cells SET state = 'pending' WHERE sweep_id = %Q",
        "UPDATE cells SET attempt_id = NULL WHERE sweep_id = %Q",
        "UPDATE cells SET concurrency = 7 WHERE sweep_id = %Q",
        "DELETE FROM cells WHERE sweep_id = %Q",
        CHANGE_MEASUREMENT,
        "UPDATE attempts SET state = 'rejected' WHERE id IN " ATTEMPT_IDS,
        "DELETE FROM attempts WHERE id IN " ATTEMPT_IDS,
        "UPDATE histograms SET data = substr(data, 1, 1) WHERE attempt_id IN " ATTEMPT_IDS,
        "DELETE FROM histograms WHERE attempt_id IN " ATTEMPT_IDS,
        "UPDATE request_records SET data = substr(data, 1, 1) WHERE attempt_id IN " ATTEMPT_IDS,
        "UPDATE sweeps SET plan = '{}' WHERE id = %Q",
    };
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct cell_result result = measured();

    result.histograms[METRIC_TTFT] = histogram_create();
    result.records = "records";
    result.records_length = 7;
    for (size_t i = 0; i < 2; i++) {
        /* An unfinished run can still be finished, but its repetition can never be changed. */
        assert_false(
            may_do(ledger, "UPDATE runs SET repetition = 9 WHERE sweep_id = %Q", scene.sweep.id));
        assert_ok(ledger, attempt_end(ledger->store, &scene.claim, attempt(ledger, &scene, i),
                                      &result, 300, &ledger->error));
        assert_false(may_do(ledger, CHANGE_MEASUREMENT, scene.sweep.id));
    }
    histogram_destroy(result.histograms[METRIC_TTFT]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (may_do(ledger, refused[i], scene.sweep.id))
            fail_msg("not refused: %s", refused[i]);
    assert_true(may_do(ledger, "DELETE FROM request_records WHERE attempt_id IN " ATTEMPT_IDS,
                       scene.sweep.id)); /* as retention does */
    end(&scene);
}

static void a_cell_stays_pending_after_a_rejected_attempt(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 1, 1);

    attempt_and_end(ledger, &scene, 0, CELL_PENDING);
    read_cells(ledger, &scene);
    assert_int_equal(scene.cells[0].state, CELL_PENDING);
    assert_int_equal(scene.cells[0].attempts, 1);
    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inferred_cells_become_pending_when_failed_cells_are_retried),
        cmocka_unit_test(stores_a_cell_completely),
        cmocka_unit_test(never_measures_a_cell_twice),
        cmocka_unit_test(a_stale_owner_writes_nothing),
        cmocka_unit_test(another_job_cannot_write_to_the_sweep),
        cmocka_unit_test(failed_cells_of_an_unfinished_run_are_measured_again_on_request),
        cmocka_unit_test(nothing_changes_what_was_measured),
        cmocka_unit_test(a_cell_stays_pending_after_a_rejected_attempt),
    };

    return ledger_run(tests);
}
