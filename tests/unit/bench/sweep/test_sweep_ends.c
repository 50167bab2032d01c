/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps that fail, stop, are cancelled, wait for one another, or continue after a shutdown. */
#include "tests/unit/support/sweep_rig.h"

static void a_deployment_that_is_down_fails_the_sweep(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, NULL);
    rig.down = true;
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "demo does not answer: connect_refused"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "failed");
    assert_non_null(strstr(row.reason, "connect_refused"));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_wrong_token_fails_the_sweep_and_is_not_shown(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, (const char *[]){ "--api-key", "right", NULL });
    snprintf(rig.bearer, sizeof rig.bearer, "wrong-token");
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "auth"));
    assert_null(strstr(job.outcome, "wrong-token"));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void stops_when_the_deployment_keeps_failing(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"concurrency\":[1,2,3,4,5,6],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 6: 2 users");
    simserve_stop(&rig.server);
    rig.port = 9; /* nothing listens on this port */
    let_go(&rig);
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "3 cells in a row failed"));
    assert_non_null(strstr(job.outcome, "connect_refused"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "stopped");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_int_equal(cells[3].state, CELL_FAILED);
    assert_true(cells[3].measurement.failures[FAILURE_CONNECT_REFUSED] > 0);
    assert_int_equal(cells[5].state, CELL_PENDING);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_cancel_takes_effect_in_the_middle_of_a_cell(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct attempt_row *attempts;
    struct cell_row *cells;
    size_t count;
    int64_t asked_ns;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = start_sweep(&rig, "{\"concurrency\":[2],\"input_tokens\":[4],\"output_tokens\":[4],"
                            "\"window_s\":600,\"warmup_limit_s\":0}");
    await(&rig, row.job_id, JOB_RUNNING, "measuring");
    asked_ns = clock_monotonic_ns();
    assert_ok(rig.ledger, job_pool_cancel(rig.jobs, row.job_id, NULL, &job, &rig.ledger->error));
    await(&rig, row.job_id, JOB_CANCELLED, "");
    assert_true(clock_monotonic_ns() - asked_ns < 1000000000);
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "cancelled");
    assert_ok(rig.ledger, cell_attempt_list(rig.ledger->store, row.id, "interrupted", &attempts,
                                            &count, &rig.ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(attempts[0].reason, "cancelled");
    free(attempts);
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_PENDING);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void stops_at_its_time_limit(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4],\"output_tokens\":[4],"
                            "\"window_s\":600,\"time_limit_s\":1}");
    job = await(&rig, row.job_id, JOB_COMPLETED, "");
    assert_non_null(strstr(job.outcome, "\"state\":\"stopped\""));
    assert_non_null(strstr(job.outcome, "the time limit of 1 s passed"));
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_PENDING);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_time_limit_that_passes_after_the_last_window_does_not_stop_the_sweep(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    rig.end_us = 5000000;
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4],\"output_tokens\":[4],"
                            "\"window_s\":1,\"warmup_limit_s\":0,\"time_limit_s\":5}");
    job = await(&rig, row.job_id, JOB_COMPLETED, "");
    assert_non_null(strstr(job.outcome, "\"state\":\"completed\""));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void waits_for_a_sweep_of_another_deployment_on_the_same_server(void **state)
{
    struct rig rig;
    struct sweep_row first, second;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 1);
    first = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4,8]," QUICK "}");
    await(&rig, first.job_id, JOB_RUNNING, "cell 1 of 2");
    second = start_sweep_of(&rig, "alias", "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    await(&rig, second.job_id, JOB_QUEUED, "held by alice");
    let_go(&rig);
    await(&rig, first.job_id, JOB_COMPLETED, "");
    await(&rig, second.job_id, JOB_COMPLETED, "");
    sweep_row_finish(&first);
    sweep_row_finish(&second);
    tear_down(&rig);
}

static void continues_after_a_shutdown_where_it_stopped(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *before, *after;
    char *workload;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"concurrency\":[1,2,3],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 3");
    job_pool_destroy(rig.jobs, PATIENCE_MS);
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "running");
    workload = strdup(row.subjects[0].workload);
    before = list_cells(&rig, &row, &count);
    assert_int_equal(before[0].state, CELL_MEASURED);
    assert_int_equal(before[1].state, CELL_PENDING);
    assert_int_equal(before[1].attempts, 1);
    start_jobs(&rig);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    find_sweep(&rig, &row);
    assert_string_equal(row.subjects[0].workload, workload);
    after = list_cells(&rig, &row, &count);
    assert_int_equal(after[0].attempt_id, before[0].attempt_id);
    assert_int_equal(after[0].attempts, 1);
    assert_int_equal(after[1].attempts, 2);
    assert_int_equal(after[2].state, CELL_MEASURED);
    free(workload);
    cell_rows_free(before, count);
    cell_rows_free(after, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void does_not_continue_with_a_different_context_length(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    rig.context_tokens = 4096;
    hold(&rig, 1);
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 1 of 1");
    job_pool_destroy(rig.jobs, PATIENCE_MS);
    rig.context_tokens = 8192;
    start_jobs(&rig);
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "context in tokens was '4096', and now it is '8192'"));
    sweep_row_finish(&row);
    tear_down(&rig);
}

/* Leaves a sweep as if its process had been killed just after it had stored the result of the only
 * cell. Then stops the model server, and starts the jobs again. */
static struct sweep_row killed_after_its_last_cell(struct rig *rig, enum cell_state result_state)
{
    struct cell_result result = { .state = result_state, .workload_digest = "digest" };
    struct ledger *ledger = rig->ledger;
    struct sweep_row row;
    struct claim claim;
    struct cell_row *cells;
    size_t count;
    int64_t attempt;

    snprintf(result.reason, sizeof result.reason, "%s",
             result_state == CELL_FAILED ? "every request failed" : "");
    hold(rig, 1);
    row = start_sweep(rig, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    await(rig, row.job_id, JOB_RUNNING, "cell 1 of 1");
    job_pool_destroy(rig->jobs, PATIENCE_MS);
    claim = ledger_claim(ledger, "the killed process", clock_utc_ms(), PATIENCE_MS);
    cells = list_cells(rig, &row, &count);
    assert_ok(ledger, attempt_begin(ledger->store, &claim, cells[0].id, clock_utc_ms(), &attempt,
                                    &ledger->error));
    assert_ok(ledger,
              attempt_end(ledger->store, &claim, attempt, &result, clock_utc_ms(), &ledger->error));
    cell_rows_free(cells, count);
    rig->down = true;
    simserve_stop(&rig->server);
    rig->server.pid = 0;
    start_jobs(rig);
    return row;
}

static void a_kill_after_the_last_cell_loses_no_result(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = killed_after_its_last_cell(&rig, CELL_MEASURED);
    job = await(&rig, row.job_id, JOB_COMPLETED, "1 of 1 cells done");
    assert_non_null(strstr(job.outcome, "\"measured\":1"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "completed");
    assert_string_equal(row.reason, "");
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_kill_after_the_last_cell_keeps_the_reason_for_the_failure(void **state)
{
    struct rig rig;
    struct sweep_row row;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = killed_after_its_last_cell(&rig, CELL_FAILED);
    await(&rig, row.job_id, JOB_FAILED, "");
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "failed");
    assert_string_equal(row.reason, "every request failed");
    sweep_row_finish(&row);
    tear_down(&rig);
}

/* Shuts the jobs down during the last cell of a sweep, before the cell sends a request. Starts them
 * again while `discover` reports that the model server is down. The sweep waits up to patience_ms
 * for the server. */
static struct sweep_row restarted_before_its_server(struct rig *rig, int64_t patience_ms)
{
    struct sweep_row row;

    hold(rig, 2);
    row = start_sweep(rig, "{\"concurrency\":[1,2],\"input_tokens\":[4]," QUICK "}");
    await(rig, row.job_id, JOB_RUNNING, "cell 2 of 2");
    job_pool_destroy(rig->jobs, PATIENCE_MS);
    rig->down = true;
    rig->server_patience_ms = patience_ms;
    start_jobs(rig);
    return row;
}

static void waits_after_a_restart_until_its_server_is_up_again(void **state)
{
    struct rig rig;
    struct sweep_row row;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = restarted_before_its_server(&rig, PATIENCE_MS);
    await(&rig, row.job_id, JOB_RUNNING, "waiting for the server: demo does not answer");
    let_go(&rig);
    rig.down = false;
    await(&rig, row.job_id, JOB_COMPLETED, "2 of 2 cells done");
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void fails_when_its_server_does_not_come_back_in_time(void **state)
{
    struct rig rig;
    struct sweep_row row;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = restarted_before_its_server(&rig, 1);
    await(&rig, row.job_id, JOB_FAILED, "");
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "failed");
    assert_non_null(strstr(row.reason, "demo does not answer"));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_cancel_takes_effect_while_the_sweep_waits_for_its_server(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = restarted_before_its_server(&rig, PATIENCE_MS);
    await(&rig, row.job_id, JOB_RUNNING, "waiting for the server");
    assert_ok(rig.ledger, job_pool_cancel(rig.jobs, row.job_id, NULL, &job, &rig.ledger->error));
    await(&rig, row.job_id, JOB_CANCELLED, "");
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "cancelled");
    sweep_row_finish(&row);
    tear_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deployment_that_is_down_fails_the_sweep),
        cmocka_unit_test(a_wrong_token_fails_the_sweep_and_is_not_shown),
        cmocka_unit_test(stops_when_the_deployment_keeps_failing),
        cmocka_unit_test(a_cancel_takes_effect_in_the_middle_of_a_cell),
        cmocka_unit_test(stops_at_its_time_limit),
        cmocka_unit_test(a_time_limit_that_passes_after_the_last_window_does_not_stop_the_sweep),
        cmocka_unit_test(waits_for_a_sweep_of_another_deployment_on_the_same_server),
        cmocka_unit_test(continues_after_a_shutdown_where_it_stopped),
        cmocka_unit_test(does_not_continue_with_a_different_context_length),
        cmocka_unit_test(a_kill_after_the_last_cell_loses_no_result),
        cmocka_unit_test(a_kill_after_the_last_cell_keeps_the_reason_for_the_failure),
        cmocka_unit_test(waits_after_a_restart_until_its_server_is_up_again),
        cmocka_unit_test(fails_when_its_server_does_not_come_back_in_time),
        cmocka_unit_test(a_cancel_takes_effect_while_the_sweep_waits_for_its_server),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = ledger_run(tests);
    outbound_global_finish();
    return failed;
}
