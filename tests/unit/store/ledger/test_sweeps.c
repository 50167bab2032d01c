/* SPDX-License-Identifier: Apache-2.0 */
/* Stored sweeps: how they are begun, continued, corrected and ended. */
#include "store/audit/audit_log.h"
#include "tests/unit/support/sweep_scene.h"

static void creates_runs_cells_a_job_and_an_audit_row(void **state)
{
    struct ledger *ledger = *state;
    struct deployment deployment = ledger_deployment(ledger, "a");
    struct sweep_row sweep = ledger_sweep(ledger, &deployment, 3, 2, 10);
    struct audit_row *audit;
    struct run_row *runs;
    struct cell_row *cells;
    struct job job;
    size_t count;

    assert_string_equal(sweep.state, "planned");
    assert_string_equal(sweep.deployment, "a");
    assert_string_equal(sweep.plan, "{\"window_s\":5}");
    assert_int_equal(sweep.cells_total, 6);
    assert_int_equal(sweep.cells_done, 0);
    assert_int_equal(sweep.repetitions, 2);
    assert_ok(ledger, job_find(ledger->store, sweep.job_id, &job, &ledger->error));
    assert_string_equal(job.subject, sweep.id);
    assert_string_equal(job.principal, "alice");
    assert_ok(ledger, run_list(ledger->store, "a", sweep.id, 0, 10, &runs, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_int_equal(runs[0].repetition, 1);
    assert_int_equal(runs[0].cells_total, 3);
    assert_string_equal(runs[0].provenance, "{\"who\":\"alice\"}");
    assert_ok(ledger,
              cell_list(ledger->store, sweep.id, runs[1].id, &cells, &count, &ledger->error));
    assert_int_equal(count, 3);
    assert_int_equal(cells[2].concurrency, 4);
    assert_int_equal(cells[2].position, 5);
    assert_null(cells[2].witness);
    cell_rows_free(cells, 3);
    run_rows_free(runs, 2);
    assert_ok(ledger, audit_log_list(ledger->store, &(struct audit_filter){ .subject = sweep.id },
                                     10, &audit, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(audit[0].outcome, "ok");
    audit_log_rows_free(audit, count);
    sweep_row_finish(&sweep);
}

static void a_repeated_idempotency_key_returns_the_first_sweep(void **state)
{
    struct ledger *ledger = *state;
    struct deployment deployment = ledger_deployment(ledger, "a");
    struct sweep_row first, again, *rows;
    char subject[ID_SIZE];
    size_t count;
    bool found;

    assert_ok(ledger, ledger_sweep_with_key(ledger, &deployment, 2, 1, "key", "args", 10, &first));
    assert_ok(ledger, ledger_sweep_with_key(ledger, &deployment, 2, 1, "key", "args", 20, &again));
    assert_string_equal(again.id, first.id);
    assert_refused(ledger,
                   ledger_sweep_with_key(ledger, &deployment, 2, 1, "key", "others", 30, &again),
                   ERROR_CONFLICT, "with other arguments");
    assert_ok(ledger, sweep_list(ledger->store, "a", 0, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_ok(ledger, idempotency_find(ledger->store, "alice", "sweep_start", "key", "args",
                                       subject, &found, &ledger->error));
    assert_true(found);
    assert_string_equal(subject, first.id);
    assert_ok(ledger, idempotency_find(ledger->store, "bob", "sweep_start", "key", "args", subject,
                                       &found, &ledger->error));
    assert_false(found);
    sweep_row_finish(&rows[0]);
    free(rows);
    sweep_row_finish(&first);
    sweep_row_finish(&again);
}

static void a_sweep_of_two_deployments_has_runs_for_both(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = ledger_deployment(ledger, "a"), b = ledger_deployment(ledger, "b");
    struct cell_plan cells[] = {
        { 1, 64, 16, 0, 0, 0, 0 },
        { 1, 64, 16, 0, 1, 0, 1 },
        { 1, 64, 16, 1, 2, 0, 1 },
        { 1, 64, 16, 1, 3, 0, 0 },
    };
    const struct sweep_order order = { .deployment = &a,
                                       .candidate = &b,
                                       .plan_json = "{}",
                                       .plan_digest = "",
                                       .provenance_json = "{}",
                                       .cells = cells,
                                       .cell_count = 4,
                                       .repetitions = 2,
                                       .arguments_digest = "" };
    struct change change = ledger_change("alice", "sweep_start");
    struct sweep_row out, *listed;
    struct cell_row *rows;
    struct run_row *runs;
    struct claim claim;
    size_t count;

    assert_ok(ledger, sweep_create(ledger->store, &order, 10, &change, &out, &ledger->error));
    assert_int_equal(out.subject_count, 2);
    assert_int_equal(out.repetitions, 2);
    assert_string_equal(out.deployment, "a");
    assert_string_equal(out.subjects[1].deployment, "b");
    assert_int_equal(out.subjects[1].revision, b.revision);
    assert_ok(ledger, cell_list(ledger->store, out.id, NULL, &rows, &count, &ledger->error));
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(rows[i].deployment, cells[i].subject == 1 ? "b" : "a");
    assert_string_not_equal(rows[1].run_id, rows[2].run_id);
    assert_string_not_equal(rows[0].run_id, rows[1].run_id);
    cell_rows_free(rows, count);

    claim = ledger_claim(ledger, "me", 20, 1000);
    assert_ok(ledger, run_fingerprint_set(ledger->store, &claim, out.id, b.id, "{\"of\":\"b\"}",
                                          &ledger->error));
    assert_ok(ledger, sweep_workload_keep(ledger->store, &claim, out.id, b.id, "{\"of\":\"b\"}",
                                          &ledger->error));
    assert_ok(ledger, run_list(ledger->store, "b", out.id, 0, 10, &runs, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(runs[1].fingerprint_document, "{\"of\":\"b\"}");
    run_rows_free(runs, count);
    assert_ok(ledger, run_list(ledger->store, "a", out.id, 0, 10, &runs, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(runs[0].fingerprint, "");
    run_rows_free(runs, count);
    assert_ok(ledger, sweep_list(ledger->store, "b", 0, 10, &listed, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(listed[0].subjects[0].workload, "{}");
    assert_string_equal(listed[0].subjects[1].workload, "{\"of\":\"b\"}");
    sweep_row_finish(&listed[0]);
    free(listed);
    sweep_row_finish(&out);
}

static void refuses_cells_that_do_not_match_the_repetitions(void **state)
{
    struct ledger *ledger = *state;
    struct deployment deployment = ledger_deployment(ledger, "a");
    struct cell_plan cells[] = { { 1, 64, 16, 1, 0 }, { 1, 64, 16, 2, 1 } };
    struct sweep_order order = { .deployment = &deployment,
                                 .plan_json = "{}",
                                 .plan_digest = "",
                                 .provenance_json = "{}",
                                 .cells = cells,
                                 .cell_count = 2,
                                 .repetitions = 1,
                                 .arguments_digest = "" };
    int64_t counts[JOB_CANCELLED + 1];
    struct sweep_row out;

    assert_refused(ledger, sweep_create(ledger->store, &order, 10, NULL, &out, &ledger->error),
                   ERROR_INVALID, "more than 1 repetitions");
    order.repetitions = 3;
    assert_refused(ledger, sweep_create(ledger->store, &order, 10, NULL, &out, &ledger->error),
                   ERROR_INVALID, "belong to 2 runs instead of 3");
    order.repetitions = 1;
    order.cell_count = 0;
    assert_refused(ledger, sweep_create(ledger->store, &order, 10, NULL, &out, &ledger->error),
                   ERROR_INVALID, "1 to");
    assert_ok(ledger, job_counts(ledger->store, counts, &ledger->error));
    assert_int_equal(counts[JOB_QUEUED], 0);
}

static void a_run_ends_with_its_last_cell(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct run_row run;

    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    assert_ok(ledger, run_find(ledger->store, scene.cells[0].run_id, &run, &ledger->error));
    assert_int_equal(run.finished_ms, 0);
    assert_int_equal(run.cells_done, 1);
    run_rows_free(memcpy(malloc(sizeof run), &run, sizeof run), 1);
    attempt_and_end(ledger, &scene, 1, CELL_INFEASIBLE);
    assert_ok(ledger, run_find(ledger->store, scene.cells[0].run_id, &run, &ledger->error));
    assert_int_equal(run.finished_ms, 300);
    run_rows_free(memcpy(malloc(sizeof run), &run, sizeof run), 1);
    assert_refused(ledger, run_find(ledger->store, "run_x", &run, &ledger->error), ERROR_NOT_FOUND,
                   "run_x");
    end(&scene);
}

static void fingerprints_are_digests_of_the_canonical_document(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 1, 2);
    struct run_row *runs;
    size_t count;

    assert_ok(ledger,
              run_fingerprint_set(ledger->store, &scene.claim, scene.sweep.id,
                                  scene.sweep.deployment_id, "{\"b\":1, \"a\":2}", &ledger->error));
    assert_ok(ledger,
              run_fingerprint_set(ledger->store, &scene.claim, scene.sweep.id,
                                  scene.sweep.deployment_id, "{\"other\":1}", &ledger->error));
    assert_ok(ledger,
              run_list(ledger->store, NULL, scene.sweep.id, 0, 10, &runs, &count, &ledger->error));
    assert_int_equal(count, 2);
    /* The second fingerprint was ignored, because the runs already had one. */
    assert_string_equal(runs[0].fingerprint_document, "{\"a\":2,\"b\":1}");
    assert_string_equal(runs[0].fingerprint, runs[1].fingerprint);
    assert_int_equal(strlen(runs[0].fingerprint), 64);
    run_rows_free(runs, count);
    end(&scene);
}

static void a_stopped_sweep_continues_with_its_pending_cells(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 3, 1);
    struct change change = ledger_change("bob", "sweep_resume");
    struct sweep_row again;

    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    assert_refused(
        ledger,
        sweep_reopen(ledger->store, scene.sweep.id, false, 0, 400, &change, &again, &ledger->error),
        ERROR_CONFLICT, "has not ended: wait");
    assert_ok(ledger, job_finish(ledger->store, &scene.claim,
                                 &(struct job_ending){ .state = JOB_COMPLETED,
                                                       .sweep_state = "stopped",
                                                       .sweep_reason = "the time limit" },
                                 510, &ledger->error));
    reread_sweep(ledger, &scene);
    assert_string_equal(scene.sweep.state, "stopped");
    assert_string_equal(scene.sweep.reason, "the time limit");
    assert_ok(ledger, sweep_reopen(ledger->store, scene.sweep.id, false, 0, 600, &change, &again,
                                   &ledger->error));
    assert_true(change.written);
    assert_string_not_equal(again.job_id, scene.sweep.job_id);
    assert_string_equal(again.state, "planned");
    assert_string_equal(again.subjects[0].workload, "{\"seed\":7}");
    assert_int_equal(again.cells_done, 1);
    scene.claim = ledger_claim(ledger, "me", 700, 1000);
    attempt_and_end(ledger, &scene, 1, CELL_MEASURED);
    sweep_row_finish(&again);
    end(&scene);
}

static void a_finished_run_is_not_reopened(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 3, 1);
    struct sweep_row again;

    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    attempt_and_end(ledger, &scene, 1, CELL_FAILED);
    assert_ok(ledger, sweep_skip_cells(ledger->store, &scene.claim, scene.sweep.id,
                                       "larger ones failed", 400, &ledger->error));
    assert_ok(ledger, job_finish(ledger->store, &scene.claim,
                                 &(struct job_ending){ .state = JOB_COMPLETED,
                                                       .sweep_state = "completed",
                                                       .sweep_reason = "" },
                                 510, &ledger->error));
    for (int retry = 0; retry < 2; retry++) {
        assert_refused(ledger,
                       sweep_reopen(ledger->store, scene.sweep.id, retry == 1, 0, 600, NULL, &again,
                                    &ledger->error),
                       ERROR_CONFLICT,
                       "with 2 cells that failed or were skipped, and a finished "
                       "run is never changed");
        assert_non_null(strstr(ledger->error.message, "\"corrects\": \"swp_"));
    }
    end(&scene);
}

static void a_correction_points_at_the_run_it_replaces(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 1, 1);
    struct change change = ledger_change("alice", "sweep_start");
    struct correction correction = { 0, 1, "" };
    struct cell_plan cell = { 1, 64, 16, 1, 0 };
    struct sweep_order order = { .deployment = &scene.deployment,
                                 .corrections = &correction,
                                 .correction_count = 1,
                                 .plan_json = "{}",
                                 .plan_digest = "",
                                 .provenance_json = "{}",
                                 .cells = &cell,
                                 .cell_count = 1,
                                 .repetitions = 1,
                                 .arguments_digest = "" };
    struct sweep_row new_sweep;
    struct run_row *old_run, *new_run, *reread;
    struct scene correcting = { .deployment = scene.deployment };
    size_t count;

    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    assert_ok(ledger, run_list(ledger->store, NULL, scene.sweep.id, 0, 10, &old_run, &count,
                               &ledger->error));
    assert_string_equal(old_run[0].corrects, "");
    assert_string_equal(old_run[0].corrected_by, "");
    snprintf(correction.run_id, sizeof correction.run_id, "%s", old_run[0].id);
    assert_ok(ledger, sweep_create(ledger->store, &order, 20, &change, &new_sweep, &ledger->error));
    assert_ok(ledger,
              run_list(ledger->store, NULL, new_sweep.id, 0, 10, &new_run, &count, &ledger->error));
    assert_string_equal(new_run[0].corrects, old_run[0].id);
    assert_ok(ledger, run_list(ledger->store, NULL, scene.sweep.id, 0, 10, &reread, &count,
                               &ledger->error));
    assert_string_equal(reread[0].corrected_by, ""); /* the new run has measured nothing yet */
    run_rows_free(reread, 1);
    assert_ok(ledger,
              job_finish(ledger->store, &scene.claim,
                         &(struct job_ending){ .state = JOB_COMPLETED }, 390, &ledger->error));
    correcting.sweep = new_sweep;
    correcting.claim = ledger_claim(ledger, "me", 400, 1000);
    assert_ok(ledger,
              sweep_begin(ledger->store, &correcting.claim, new_sweep.id, 410, &ledger->error));
    read_cells(ledger, &correcting);
    attempt_and_end(ledger, &correcting, 0, CELL_MEASURED);
    assert_ok(ledger, run_list(ledger->store, NULL, scene.sweep.id, 0, 10, &reread, &count,
                               &ledger->error));
    assert_string_equal(reread[0].corrected_by, new_run[0].id);
    run_rows_free(old_run, 1);
    run_rows_free(new_run, 1);
    run_rows_free(reread, 1);
    end(&correcting);
    end(&scene);
}

static void a_job_that_fails_ends_its_sweep_and_attempts(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct attempt_row *attempts;
    size_t count;

    attempt(ledger, &scene, 0);
    assert_ok(ledger, job_finish(ledger->store, &scene.claim,
                                 &(struct job_ending){ .state = JOB_FAILED,
                                                       .outcome_json = "{\"error\":\"x\"}" },
                                 800, &ledger->error));
    reread_sweep(ledger, &scene);
    assert_string_equal(scene.sweep.state, "failed");
    assert_ok(ledger, cell_attempt_list(ledger->store, scene.sweep.id, "interrupted", &attempts,
                                        &count, &ledger->error));
    assert_int_equal(count, 1);
    free(attempts);
    end(&scene);
}

/* Here, the sweep has ended, but its job has not. An earlier version left this state behind if it
 * was killed between ending the two. */
static void a_sweep_that_has_ended_is_not_changed(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 1, 1);

    attempt_and_end(ledger, &scene, 0, CELL_MEASURED);
    assert_true(may_do(ledger,
                       "UPDATE sweeps SET state = 'completed', finished_ms = 500 WHERE id = %Q",
                       scene.sweep.id));
    assert_refused(ledger,
                   sweep_begin(ledger->store, &scene.claim, scene.sweep.id, 600, &ledger->error),
                   ERROR_CONFLICT, "has ended");
    assert_ok(ledger, job_finish(ledger->store, &scene.claim,
                                 &(struct job_ending){ .state = JOB_FAILED,
                                                       .sweep_state = "failed",
                                                       .sweep_reason = "its server is gone" },
                                 700, &ledger->error));
    reread_sweep(ledger, &scene);
    assert_string_equal(scene.sweep.state, "completed");
    assert_string_equal(scene.sweep.reason, "");
    assert_int_equal(scene.sweep.finished_ms, 500);
    end(&scene);
}

static void a_sweep_and_its_job_end_together_or_not_at_all(void **state)
{
    static const struct job_ending stopped = { .state = JOB_COMPLETED,
                                               .sweep_state = "stopped",
                                               .sweep_reason = "the time limit" };
    struct job_ending impossible = stopped;
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 1, 1);
    struct job job;

    impossible.sweep_state = "no state at all";
    assert_false(job_finish(ledger->store, &scene.claim, &impossible, 500, &ledger->error));
    reread_sweep(ledger, &scene);
    assert_string_equal(scene.sweep.state, "running");
    assert_ok(ledger, job_find(ledger->store, scene.sweep.job_id, &job, &ledger->error));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_ok(ledger, job_finish(ledger->store, &scene.claim, &stopped, 500, &ledger->error));
    reread_sweep(ledger, &scene);
    assert_string_equal(scene.sweep.state, "stopped");
    assert_string_equal(scene.sweep.reason, "the time limit");
    assert_ok(ledger, job_find(ledger->store, scene.sweep.job_id, &job, &ledger->error));
    assert_int_equal(job.state, JOB_COMPLETED);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creates_runs_cells_a_job_and_an_audit_row),
        cmocka_unit_test(a_repeated_idempotency_key_returns_the_first_sweep),
        cmocka_unit_test(a_sweep_of_two_deployments_has_runs_for_both),
        cmocka_unit_test(refuses_cells_that_do_not_match_the_repetitions),
        cmocka_unit_test(a_run_ends_with_its_last_cell),
        cmocka_unit_test(fingerprints_are_digests_of_the_canonical_document),
        cmocka_unit_test(a_stopped_sweep_continues_with_its_pending_cells),
        cmocka_unit_test(a_finished_run_is_not_reopened),
        cmocka_unit_test(a_correction_points_at_the_run_it_replaces),
        cmocka_unit_test(a_job_that_fails_ends_its_sweep_and_attempts),
        cmocka_unit_test(a_sweep_that_has_ended_is_not_changed),
        cmocka_unit_test(a_sweep_and_its_job_end_together_or_not_at_all),
    };

    return ledger_run(tests);
}
