/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>

#include "base/json/json.h"
#include "store/audit/audit_log.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

struct scene {
    struct deployment deployment;
    struct sweep_row sweep;
    struct claim claim;
    struct cell_row *cells;
    size_t count;
};

static void read_cells(struct ledger *ledger, struct scene *scene)
{
    cell_rows_free(scene->cells, scene->count);
    assert_ok(ledger, cell_list(ledger->store, scene->sweep.id, NULL, &scene->cells, &scene->count,
                                &ledger->error));
}

/* A sweep that runs. */
static struct scene begin(struct ledger *ledger, size_t levels, int64_t repetitions)
{
    struct scene scene = { .deployment = ledger_deployment(ledger, "a") };

    scene.sweep = ledger_sweep(ledger, &scene.deployment, levels, repetitions, 10);
    scene.claim = ledger_claim(ledger, "me", 100, 1000);
    assert_ok(ledger,
              sweep_begin(ledger->store, &scene.claim, scene.sweep.id, 110, &ledger->error));
    assert_ok(ledger,
              sweep_workload_keep(ledger->store, &scene.claim, scene.sweep.id,
                                  scene.sweep.deployment_id, "{\"seed\":7}", &ledger->error));
    read_cells(ledger, &scene);
    return scene;
}

static void end(struct scene *scene)
{
    sweep_row_finish(&scene->sweep);
    cell_rows_free(scene->cells, scene->count);
}

static void look(struct ledger *ledger, struct scene *scene)
{
    struct sweep_row row;

    assert_ok(ledger, sweep_find(ledger->store, scene->sweep.id, &row, &ledger->error));
    sweep_row_finish(&scene->sweep);
    scene->sweep = row;
}

static int64_t attempt(struct ledger *ledger, const struct scene *scene, size_t cell)
{
    int64_t id;

    assert_ok(ledger, attempt_begin(ledger->store, &scene->claim, scene->cells[cell].id, 200, &id,
                                    &ledger->error));
    return id;
}

static struct cell_result measured(void)
{
    struct cell_result result = { .state = CELL_MEASURED, .workload_digest = "digest" };

    result.measurement.attempted = result.measurement.succeeded = 50;
    result.measurement.window_s = 5;
    result.measurement.goodput = 10;
    return result;
}

static void accept(struct ledger *ledger, const struct scene *scene, size_t cell,
                   enum cell_state state)
{
    struct cell_result result = measured();

    result.state = state;
    assert_ok(ledger, attempt_accept(ledger->store, &scene->claim, attempt(ledger, scene, cell),
                                     &result, 300, &ledger->error));
}

/* The middle cells were inferred from cells that are now measured again, so they must be measured,
 * too. */
static void infers_cells_and_undoes_it_when_failures_are_retried(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 5, 1); /* the last stays pending: the run is not finished */
    struct cell_inference inferences[] = { { scene.cells[0].id, "of a measured cell" },
                                           { scene.cells[1].id, "over the saturation point" },
                                           { scene.cells[2].id, "over the saturation point" } };
    struct claim old = scene.claim;
    struct sweep_row again;

    accept(ledger, &scene, 0, CELL_MEASURED);
    accept(ledger, &scene, 3, CELL_FAILED);
    assert_ok(ledger, sweep_infer_cells(ledger->store, &scene.claim, scene.sweep.id, inferences, 3,
                                        400, &ledger->error));
    read_cells(ledger, &scene);
    assert_int_equal(scene.cells[0].state, CELL_MEASURED);
    assert_int_equal(scene.cells[1].state, CELL_INFERRED);
    assert_string_equal(scene.cells[2].reason, "over the saturation point");
    assert_int_equal(scene.cells[2].measurement.attempted, 0);
    look(ledger, &scene);
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

static void creates_job_runs_and_cells_with_their_audit_row(void **state)
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

static void the_same_idempotency_key_gives_the_first_sweep(void **state)
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

static void a_sweep_of_two_deployments_has_runs_of_both(void **state)
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

static void refuses_cells_that_name_other_repetitions(void **state)
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
                   ERROR_INVALID, "2 repetitions, not 3");
    order.repetitions = 1;
    order.cell_count = 0;
    assert_refused(ledger, sweep_create(ledger->store, &order, 10, NULL, &out, &ledger->error),
                   ERROR_INVALID, "1 to");
    assert_ok(ledger, job_counts(ledger->store, counts, &ledger->error));
    assert_int_equal(counts[JOB_QUEUED], 0);
}

static void keeps_a_cell_whole(void **state)
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
    assert_ok(ledger,
              attempt_accept(ledger->store, &scene.claim, id, &result, 300, &ledger->error));
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
    assert_ok(ledger,
              attempt_accept(ledger->store, &scene.claim, id, &result, 300, &ledger->error));
    assert_refused(ledger,
                   attempt_accept(ledger->store, &scene.claim, id, &result, 310, &ledger->error),
                   ERROR_CONFLICT, "already has a result");
    assert_refused(
        ledger,
        attempt_begin(ledger->store, &scene.claim, scene.cells[0].id, 320, &second, &ledger->error),
        ERROR_CONFLICT, "is already measured");
    end(&scene);
}

static void a_stale_holder_writes_nothing(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct cell_result result = measured();
    struct attempt_row *attempts;
    struct claim old = scene.claim;
    int64_t id = attempt(ledger, &scene, 0), other;
    size_t count;

    scene.claim = ledger_claim(ledger, "you", 5000, 1000);
    assert_refused(ledger, attempt_accept(ledger->store, &old, id, &result, 5100, &ledger->error),
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
    /* The new holder of the job cannot end the attempt of the old one, but begins a second attempt.
     */
    assert_refused(ledger,
                   attempt_accept(ledger->store, &scene.claim, id, &result, 5200, &ledger->error),
                   ERROR_CONFLICT, "does not run under this claim");
    accept(ledger, &scene, 0, CELL_MEASURED);
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

static void a_run_ends_with_its_last_cell(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct run_row run;

    accept(ledger, &scene, 0, CELL_MEASURED);
    assert_ok(ledger, run_find(ledger->store, scene.cells[0].run_id, &run, &ledger->error));
    assert_int_equal(run.finished_ms, 0);
    assert_int_equal(run.cells_done, 1);
    run_rows_free(memcpy(malloc(sizeof run), &run, sizeof run), 1);
    accept(ledger, &scene, 1, CELL_INFEASIBLE);
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
    assert_string_equal(runs[0].fingerprint_document, "{\"a\":2,\"b\":1}");
    assert_string_equal(runs[0].fingerprint, runs[1].fingerprint);
    assert_int_equal(strlen(runs[0].fingerprint), 64);
    run_rows_free(runs, count);
    end(&scene);
}

static void a_stopped_sweep_continues_with_what_is_pending(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 3, 1);
    struct change change = ledger_change("bob", "sweep_resume");
    struct sweep_row again;

    accept(ledger, &scene, 0, CELL_MEASURED);
    assert_refused(
        ledger,
        sweep_reopen(ledger->store, scene.sweep.id, false, 0, 400, &change, &again, &ledger->error),
        ERROR_CONFLICT, "is being worked on by job");
    assert_ok(ledger, job_finish(ledger->store, &scene.claim,
                                 &(struct job_ending){ .state = JOB_COMPLETED,
                                                       .sweep_state = "stopped",
                                                       .sweep_reason = "the time limit" },
                                 510, &ledger->error));
    look(ledger, &scene);
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
    accept(ledger, &scene, 1, CELL_MEASURED);
    sweep_row_finish(&again);
    end(&scene);
}

static void failed_cells_of_an_unfinished_run_are_measured_again_on_request(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 3, 1);
    struct attempt_row *attempts;
    struct sweep_row again;
    size_t count;

    accept(ledger, &scene, 0, CELL_MEASURED);
    accept(ledger, &scene, 1, CELL_FAILED);
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
    accept(ledger, &scene, 1, CELL_MEASURED);
    accept(ledger, &scene, 2, CELL_MEASURED);
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

static void a_finished_run_is_not_taken_up_again(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 3, 1);
    struct sweep_row again;

    accept(ledger, &scene, 0, CELL_MEASURED);
    accept(ledger, &scene, 1, CELL_FAILED);
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

/* Runs SQL directly on the file, without any function of the store. */
static bool may_do(struct ledger *ledger, const char *statement, const char *id)
{
    char message[BACKDOOR_MESSAGE_SIZE], *script = sqlite3_mprintf(statement, id);
    int64_t changed = backdoor_try(ledger->folder, script, message);

    if (changed < 0 && strstr(message, " never ") == NULL)
        fail_msg("%s: %s", script, message);
    assert_true(changed != 0);
    sqlite3_free(script);
    return changed > 0;
}

#define OF_CELLS "(SELECT attempt_id FROM cells WHERE sweep_id = %Q)"

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
        "UPDATE attempts SET measurement = '{}' WHERE id IN " OF_CELLS,
        "UPDATE attempts SET state = 'rejected' WHERE id IN " OF_CELLS,
        "DELETE FROM attempts WHERE id IN " OF_CELLS,
        "UPDATE histograms SET data = substr(data, 1, 1) WHERE attempt_id IN " OF_CELLS,
        "DELETE FROM histograms WHERE attempt_id IN " OF_CELLS,
        "UPDATE request_records SET data = substr(data, 1, 1) WHERE attempt_id IN " OF_CELLS,
        "UPDATE sweeps SET plan = '{}' WHERE id = %Q",
    };
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 2, 1);
    struct cell_result result = measured();

    result.histograms[METRIC_TTFT] = histogram_create();
    result.records = "records";
    result.records_length = 7;
    for (size_t i = 0; i < 2; i++) {
        /* a run that is under way may end, but what it measures stays as it is */
        assert_false(
            may_do(ledger, "UPDATE runs SET repetition = 9 WHERE sweep_id = %Q", scene.sweep.id));
        assert_ok(ledger, attempt_accept(ledger->store, &scene.claim, attempt(ledger, &scene, i),
                                         &result, 300, &ledger->error));
        assert_false(may_do(ledger, refused[8], scene.sweep.id));
    }
    histogram_destroy(result.histograms[METRIC_TTFT]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (may_do(ledger, refused[i], scene.sweep.id))
            fail_msg("this was done: %s", refused[i]);
    assert_true(may_do(ledger, "DELETE FROM request_records WHERE attempt_id IN " OF_CELLS,
                       scene.sweep.id)); /* by age: the retention */
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
    struct sweep_row second;
    struct run_row *before, *after, *earlier;
    struct scene anew = { .deployment = scene.deployment };
    size_t count;

    accept(ledger, &scene, 0, CELL_MEASURED);
    assert_ok(ledger, run_list(ledger->store, NULL, scene.sweep.id, 0, 10, &before, &count,
                               &ledger->error));
    assert_string_equal(before[0].corrects, "");
    assert_string_equal(before[0].corrected_by, "");
    snprintf(correction.run_id, sizeof correction.run_id, "%s", before[0].id);
    assert_ok(ledger, sweep_create(ledger->store, &order, 20, &change, &second, &ledger->error));
    assert_ok(ledger,
              run_list(ledger->store, NULL, second.id, 0, 10, &after, &count, &ledger->error));
    assert_string_equal(after[0].corrects, before[0].id);
    assert_ok(ledger, run_list(ledger->store, NULL, scene.sweep.id, 0, 10, &earlier, &count,
                               &ledger->error));
    assert_string_equal(earlier[0].corrected_by, ""); /* it has measured nothing yet */
    run_rows_free(earlier, 1);
    assert_ok(ledger,
              job_finish(ledger->store, &scene.claim,
                         &(struct job_ending){ .state = JOB_COMPLETED }, 390, &ledger->error));
    anew.sweep = second;
    anew.claim = ledger_claim(ledger, "me", 400, 1000);
    assert_ok(ledger, sweep_begin(ledger->store, &anew.claim, second.id, 410, &ledger->error));
    read_cells(ledger, &anew);
    accept(ledger, &anew, 0, CELL_MEASURED);
    assert_ok(ledger, run_list(ledger->store, NULL, scene.sweep.id, 0, 10, &earlier, &count,
                               &ledger->error));
    assert_string_equal(earlier[0].corrected_by, after[0].id);
    run_rows_free(before, 1);
    run_rows_free(after, 1);
    run_rows_free(earlier, 1);
    end(&anew);
    end(&scene);
}

static void a_rejected_attempt_leaves_the_cell_to_be_measured(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 1, 1);

    accept(ledger, &scene, 0, CELL_PENDING);
    read_cells(ledger, &scene);
    assert_int_equal(scene.cells[0].state, CELL_PENDING);
    assert_int_equal(scene.cells[0].attempts, 1);
    accept(ledger, &scene, 0, CELL_MEASURED);
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
    look(ledger, &scene);
    assert_string_equal(scene.sweep.state, "failed");
    assert_ok(ledger, cell_attempt_list(ledger->store, scene.sweep.id, "interrupted", &attempts,
                                        &count, &ledger->error));
    assert_int_equal(count, 1);
    free(attempts);
    end(&scene);
}

/* The state that an earlier version left if it was killed between the end of the job and that of
 * the sweep. */
static void a_sweep_that_has_ended_is_not_changed(void **state)
{
    struct ledger *ledger = *state;
    struct scene scene = begin(ledger, 1, 1);

    accept(ledger, &scene, 0, CELL_MEASURED);
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
    look(ledger, &scene);
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
    look(ledger, &scene);
    assert_string_equal(scene.sweep.state, "running");
    assert_ok(ledger, job_find(ledger->store, scene.sweep.job_id, &job, &ledger->error));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_ok(ledger, job_finish(ledger->store, &scene.claim, &stopped, 500, &ledger->error));
    look(ledger, &scene);
    assert_string_equal(scene.sweep.state, "stopped");
    assert_string_equal(scene.sweep.reason, "the time limit");
    assert_ok(ledger, job_find(ledger->store, scene.sweep.job_id, &job, &ledger->error));
    assert_int_equal(job.state, JOB_COMPLETED);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infers_cells_and_undoes_it_when_failures_are_retried),
        cmocka_unit_test(creates_job_runs_and_cells_with_their_audit_row),
        cmocka_unit_test(the_same_idempotency_key_gives_the_first_sweep),
        cmocka_unit_test(a_sweep_of_two_deployments_has_runs_of_both),
        cmocka_unit_test(refuses_cells_that_name_other_repetitions),
        cmocka_unit_test(keeps_a_cell_whole),
        cmocka_unit_test(never_measures_a_cell_twice),
        cmocka_unit_test(a_stale_holder_writes_nothing),
        cmocka_unit_test(another_job_cannot_write_to_the_sweep),
        cmocka_unit_test(a_run_ends_with_its_last_cell),
        cmocka_unit_test(fingerprints_are_digests_of_the_canonical_document),
        cmocka_unit_test(a_stopped_sweep_continues_with_what_is_pending),
        cmocka_unit_test(failed_cells_of_an_unfinished_run_are_measured_again_on_request),
        cmocka_unit_test(a_finished_run_is_not_taken_up_again),
        cmocka_unit_test(nothing_changes_what_was_measured),
        cmocka_unit_test(a_correction_points_at_the_run_it_replaces),
        cmocka_unit_test(a_rejected_attempt_leaves_the_cell_to_be_measured),
        cmocka_unit_test(a_job_that_fails_ends_its_sweep_and_attempts),
        cmocka_unit_test(a_sweep_that_has_ended_is_not_changed),
        cmocka_unit_test(a_sweep_and_its_job_end_together_or_not_at_all),
    };

    return ledger_run(tests);
}
