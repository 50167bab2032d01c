/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep measures and stores, cell by cell. */
#include "tests/unit/support/sweep_rig.h"

#include "tests/simserve/harness/simserve.h"

static void check_cell(const struct cell_row *cell)
{
    const struct measurement *measurement = &cell->measurement;

    assert_int_equal(cell->state, CELL_MEASURED);
    assert_int_equal(cell->attempts, 1);
    assert_true(measurement->attempted > 0);
    assert_int_equal(measurement->succeeded, measurement->attempted);
    assert_int_equal(measurement->input_tokens_min, cell->input_tokens);
    assert_int_equal(measurement->input_tokens_max, cell->input_tokens);
    assert_int_equal(measurement->output_tokens_min, 4);
    assert_int_equal(measurement->output_tokens_max, 4);
    assert_int_equal(measurement->cached_tokens, 0);
    assert_int_equal(strlen(cell->workload_digest), 64);
    assert_string_equal(cell->witness, "{\"seen\":1}");
}

static void measures_every_cell(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    struct run_row *runs;
    size_t count;

    set_up(&rig, state,
           (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", "--cached-tokens-in-usage", "true",
                             NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"concurrency\":[1,4],\"input_tokens\":[4,100]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 4: 4 users x 4 tokens");
    let_go(&rig);
    job = await(&rig, row.job_id, JOB_COMPLETED, "");
    assert_non_null(strstr(job.outcome, "\"state\":\"completed\""));
    assert_non_null(strstr(job.outcome, "\"measured\":4"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "completed");
    assert_non_null(strstr(row.subjects[0].workload, "\"form\":\"ids\""));
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        check_cell(&cells[i]);
    assert_string_not_equal(cells[0].workload_digest, cells[2].workload_digest);
    assert_ok(rig.ledger,
              run_list(rig.ledger->store, NULL, row.id, 0, 10, &runs, &count, &rig.ledger->error));
    assert_non_null(strstr(runs[0].fingerprint_document, "\"engine\":\"vllm\""));
    assert_non_null(strstr(runs[0].fingerprint_document, "\"model_revision\":\"3f2a9c\""));
    assert_non_null(strstr(runs[0].fingerprint_document, "\"chips\":4"));
    run_rows_free(runs, count);
    cell_rows_free(cells, 4);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void an_open_loop_is_measured_rate_by_rate(void **state)
{
    static const double rates[] = { 20, 50.5 };
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    struct run_row *runs;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"arrival\":\"gamma\",\"burstiness\":2,\"request_rate\":[50.5,20],"
                            "\"input_tokens\":[16]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 2: 50.5 requests/s x 16 tokens");
    let_go(&rig);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cells[i].state, CELL_MEASURED);
        assert_true(cells[i].request_rate == rates[i]);
        assert_true(cells[i].measurement.request_rate_asked == rates[i]);
        assert_int_equal(cells[i].concurrency, PLAN_IN_FLIGHT);
        assert_true(cells[i].measurement.latency[METRIC_QUEUE].count > 0);
    }
    cell_rows_free(cells, count);
    assert_ok(rig.ledger,
              run_list(rig.ledger->store, NULL, row.id, 0, 10, &runs, &count, &rig.ledger->error));
    assert_non_null(strstr(runs[0].fingerprint_document, "\"arrival\":\"gamma\""));
    run_rows_free(runs, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_datasets_prompts_are_sent_and_the_fingerprint_has_its_digest(void **state)
{
    char digest[DIGEST_TEXT_SIZE], plan[512];
    const struct measurement *measurement;
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    struct run_row *runs;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    keep_dataset(&rig,
                 "{\"prompt\":\"one two three\",\"output_tokens\":3}\n"
                 "{\"prompt\":\"one two three four five\",\"output_tokens\":5}\n",
                 digest);
    snprintf(plan, sizeof plan,
             "{\"concurrency\":[1],\"input_tokens\":[4],\"dataset\":\"chats\","
             "\"dataset_digest\":\"%s\",\"input_distribution\":\"dataset\","
             "\"output_distribution\":\"dataset\",\"api\":\"chat\"," QUICK "}",
             digest);
    row = start_sweep(&rig, plan);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    measurement = &cells[0].measurement;
    assert_int_equal(measurement->input_tokens_min, 10 + 3); /* the template adds 10 */
    assert_int_equal(measurement->input_tokens_max, 10 + 5);
    assert_int_equal(measurement->output_tokens_min, 3);
    assert_int_equal(measurement->output_tokens_max, 5);
    assert_int_equal(measurement->output_tokens_differing, 0);
    /* The plan requests no lengths, because they come from the dataset. */
    assert_int_equal(measurement->input_tokens_requested_max, 0);
    assert_true(measurement->prompts_repeated > 0);
    assert_ok(rig.ledger,
              run_list(rig.ledger->store, NULL, row.id, 0, 10, &runs, &count, &rig.ledger->error));
    assert_non_null(strstr(runs[0].fingerprint_document, digest));
    run_rows_free(runs, count);
    cell_rows_free(cells, 1);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void chat_prompts_are_exact_and_a_template_that_leaves_no_room_is_reported(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = start_sweep(&rig,
                      "{\"concurrency\":[2],\"input_tokens\":[4,64],\"api\":\"chat\"," QUICK "}");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_INFEASIBLE);
    assert_non_null(strstr(cells[0].reason, "4 input tokens are too few: the server itself adds"));
    assert_non_null(strstr(cells[0].reason, "so the shortest possible prompt has 12"));
    check_cell(&cells[1]);
    assert_int_equal(cells[1].measurement.input_tokens_differing, 0);
    assert_int_equal(cells[1].measurement.input_tokens_requested_min, 64);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void cells_whose_prompts_exceed_the_context_are_infeasible_not_failed(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state,
           (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", "--max-model-len", "256", NULL });
    row = start_sweep(&rig, "{\"concurrency\":[1,4],\"input_tokens\":[64,512]," QUICK "}");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[1].state, CELL_MEASURED);
    for (int i = 2; i < 4; i++) {
        assert_int_equal(cells[i].state, CELL_INFEASIBLE);
        assert_non_null(strstr(cells[i].reason, "too_long: "));
    }
    assert_int_equal(cells[2].measurement.failures[FAILURE_TOO_LONG], 1);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void add_verdict(struct rig *rig, enum cross_check_verdict verdict, const char *reason)
{
    struct cross_check *next = &rig->verdicts[rig->verdict_count++];

    *next = (struct cross_check){ .verdict = verdict };
    snprintf(next->reason, sizeof next->reason, "%s", reason);
    snprintf(next->served, sizeof next->served, "toy");
}

static void an_attempt_that_the_monitor_rejects_is_repeated_or_stops_the_sweep(void **state)
{
    struct attempt_row *attempts;
    struct cell_row *cells;
    struct sweep_row row;
    struct rig rig;
    struct job job;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    add_verdict(&rig, CROSS_CHECK_CONTAMINATED, "busy");
    add_verdict(&rig, CROSS_CHECK_NOTHING, "");
    add_verdict(&rig, CROSS_CHECK_OTHER_MODEL, "other");
    row = start_sweep(&rig, "{\"concurrency\":[1,2,3],\"input_tokens\":[4]," QUICK "}");
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "other: start a new sweep"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "stopped");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_int_equal(cells[0].attempts, 2);
    assert_int_equal(cells[1].state, CELL_PENDING);
    assert_int_equal(cells[1].attempts, 1);
    assert_int_equal(cells[2].attempts, 0);
    cell_rows_free(cells, count);
    assert_ok(rig.ledger, cell_attempt_list(rig.ledger->store, row.id, "rejected", &attempts,
                                            &count, &rig.ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(attempts[0].reason, "busy");
    assert_string_equal(attempts[1].reason, "other");
    free(attempts);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void check_inferred(const struct cell_row *cell)
{
    assert_int_equal(cell->state, CELL_INFERRED);
    assert_int_equal(cell->attempts, 0);
    assert_int_equal(cell->attempt_id, 0);
    assert_int_equal(cell->measurement.attempted, 0);
    assert_non_null(strstr(cell->reason, " the saturation point at "));
}

/* The server runs at most eight requests at once: further users wait and add no throughput. The job
 * pool is shut down during the sweep, and a new one completes the sweep. */
static void an_adaptive_search_measures_the_deciding_cells_and_infers_the_others(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    size_t count, measured = 0;

    set_up(&rig, state,
           (const char *[]){ "--ttft-ms", "20", "--step-ms", "4", "--max-running", "8", NULL });
    hold(&rig, 3);
    row = start_sweep(&rig, "{\"concurrency\":[1,2,3,4,5,6,8,10,12,16,20,24,32,40,48,64],"
                            "\"input_tokens\":[4],\"search\":\"adaptive\",\"limit_percentile\":"
                            "\"p50\",\"limit_ttft_ms\":52,\"output_tokens\":[8],\"window_s\":1,"
                            "\"warmup_limit_s\":0.4,\"requests\":64}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 3, 0 of 16 inferred");
    job_pool_destroy(rig.jobs, PATIENCE_MS);
    start_jobs(&rig);
    job = await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++) {
        measured += cells[i].state == CELL_MEASURED;
        if (cells[i].state != CELL_MEASURED)
            check_inferred(&cells[i]);
    }
    assert_in_range(measured, 3, 12);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_non_null(strstr(job.outcome, "\"inferred\":"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "completed");
    assert_int_equal(row.cells_done, 16);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void await_attempt(const struct rig *rig, int attempt)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_MS * 1000000LL;

    while (atomic_load(&rig->attempts) < attempt) {
        if (clock_monotonic_ns() > until_ns)
            fail_msg("attempt %d did not begin", attempt);
        nanosleep(&pause, NULL);
    }
}

static void set_unavailable(const struct rig *rig, bool is_unavailable)
{
    json_decref(simserve_json(&rig->server, "POST", "/sim/config",
                              is_unavailable ? "{\"faults\":{\"unavailable\":{\"probability\":1}}}"
                                             : "{\"faults\":{\"unavailable\":{\"probability\":0}}}",
                              200));
}

/* The server answers the requests of the second cell with 503. If it `recovers`, it works normally
 * when that cell is measured again. */
static void search_with_failures(void **state, bool recovers)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"concurrency\":[1,8],\"input_tokens\":[4],\"search\":"
                            "\"adaptive\",\"window_s\":1," QUICK "}");
    await_attempt(&rig, 2);
    set_unavailable(&rig, true);
    hold(&rig, 3);
    await_attempt(&rig, 3);
    set_unavailable(&rig, !recovers);
    let_go(&rig);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    assert_int_equal(rig.attempts, 3);
    cells = list_cells(&rig, &row, &count);
    for (size_t i = 0; i < count; i++) {
        bool was_lost = cells[i].attempts == 2;

        assert_int_equal(strstr(cells[i].reason, "overloaded_503") != NULL, was_lost);
        assert_int_equal(cells[i].state, was_lost && !recovers ? CELL_FAILED : CELL_MEASURED);
        assert_int_equal(strstr(cells[i].reason, "measured again after ") != NULL, was_lost);
    }
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void an_adaptive_search_measures_a_lost_level_again(void **state)
{
    search_with_failures(state, true);
}

static void a_level_that_is_lost_twice_fails(void **state)
{
    search_with_failures(state, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_every_cell),
        cmocka_unit_test(an_open_loop_is_measured_rate_by_rate),
        cmocka_unit_test(a_datasets_prompts_are_sent_and_the_fingerprint_has_its_digest),
        cmocka_unit_test(chat_prompts_are_exact_and_a_template_that_leaves_no_room_is_reported),
        cmocka_unit_test(cells_whose_prompts_exceed_the_context_are_infeasible_not_failed),
        cmocka_unit_test(an_attempt_that_the_monitor_rejects_is_repeated_or_stops_the_sweep),
        cmocka_unit_test(an_adaptive_search_measures_the_deciding_cells_and_infers_the_others),
        cmocka_unit_test(an_adaptive_search_measures_a_lost_level_again),
        cmocka_unit_test(a_level_that_is_lost_twice_fails),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = ledger_run(tests);
    outbound_global_finish();
    return failed;
}
