/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps over two deployments, which take turns. */
#include "tests/unit/support/sweep_rig.h"

static const char *const quick_server[] = { "--ttft-ms", "5", "--step-ms", "2", NULL };
static const char *const slow_server[] = { "--ttft-ms", "60", "--step-ms", "2", NULL };

static void set_up_two(struct rig *rig, void **state)
{
    set_up(rig, state, quick_server);
    rig->other = simserve_start(slow_server);
}

static void check_side(const struct cell_row *cell)
{
    double ttft_ms = cell->measurement.latency[METRIC_TTFT].min_ms;

    assert_int_equal(cell->state, CELL_MEASURED);
    if (strcmp(cell->deployment, "other") == 0)
        assert_true(ttft_ms >= 60);
    else
        assert_true(ttft_ms >= 5 && ttft_ms < 60);
}

static void alternates_between_two_deployments_even_after_a_shutdown(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    struct run_row *runs;
    size_t count;

    set_up_two(&rig, state);
    const struct deployment a = ledger_deployment(rig.ledger, "demo"),
                            b = ledger_deployment(rig.ledger, "other");
    hold(&rig, 2);
    row = start_sweep_over(
        &rig, &a, &b, "{\"concurrency\":[1],\"input_tokens\":[4],\"repetitions\":2," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 4: 1 user x 4 tokens on other");
    job_pool_destroy(rig.jobs, PATIENCE_MS);
    start_jobs(&rig);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        check_side(&cells[i]);
        assert_string_equal(cells[i].deployment, i == 1 || i == 2 ? "other" : "demo");
        assert_int_equal(cells[i].attempts, i == 1 ? 2 : 1);
        assert_string_equal(cells[i].workload_digest, cells[0].workload_digest);
    }
    assert_ok(rig.ledger,
              run_list(rig.ledger->store, NULL, row.id, 0, 10, &runs, &count, &rig.ledger->error));
    assert_int_equal(count, 4);
    assert_string_equal(runs[0].deployment, "demo");
    assert_string_equal(runs[1].deployment, "other");
    assert_string_equal(runs[3].deployment, "demo"); /* measured last in the second repetition */
    assert_string_equal(runs[0].fingerprint, runs[3].fingerprint);
    assert_string_not_equal(runs[0].fingerprint, runs[1].fingerprint);
    run_rows_free(runs, count);
    cell_rows_free(cells, 4);
    find_sweep(&rig, &row);
    assert_non_null(strstr(row.subjects[1].workload, "\"form\":\"ids\""));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void two_sweeps_over_the_same_deployments_in_opposite_order_both_complete(void **state)
{
    static const char plan[] = "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}";
    struct rig rig;
    struct sweep_row first, second;

    set_up_two(&rig, state);
    const struct deployment a = ledger_deployment(rig.ledger, "demo"),
                            b = ledger_deployment(rig.ledger, "other");
    first = start_sweep_over(&rig, &a, &b, plan);
    second = start_sweep_over(&rig, &b, &a, plan);
    await(&rig, first.job_id, JOB_COMPLETED, "");
    await(&rig, second.job_id, JOB_COMPLETED, "");
    sweep_row_finish(&first);
    sweep_row_finish(&second);
    tear_down(&rig);
}

static void one_server_can_be_measured_under_two_names(void **state)
{
    struct rig rig;
    struct sweep_row row;

    set_up(&rig, state, quick_server);
    const struct deployment a = ledger_deployment(rig.ledger, "demo"),
                            b = ledger_deployment(rig.ledger, "alias");
    row = start_sweep_over(&rig, &a, &b, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    find_sweep(&rig, &row);
    assert_int_equal(row.cells_done, 2);
    sweep_row_finish(&row);
    tear_down(&rig);
}

/* Starts a sweep with a dataset that has more prompts than can be sent in a window. One of them
 * fits in a context of 100 tokens only if the chat template is short. */
static struct sweep_row start_sweep_of_prompts(struct rig *rig, const char *candidate)
{
    const struct deployment a = ledger_deployment(rig->ledger, "demo"),
                            b = ledger_deployment(rig->ledger, candidate);
    char digest[DIGEST_TEXT_SIZE], plan[512];
    TEXT_AUTO file = { 0 };

    text_add(&file, "{\"prompt\":\"just fits\",\"output_tokens\":80}\n");
    for (int i = 0; i < 4000; i++)
        text_addf(&file, "{\"prompt\":\"number %d\",\"output_tokens\":4}\n", i);
    keep_dataset(rig, text_string(&file), digest);
    snprintf(plan, sizeof plan,
             "{\"concurrency\":[1],\"input_tokens\":[4],\"dataset\":\"chats\","
             "\"dataset_digest\":\"%s\",\"input_distribution\":\"dataset\","
             "\"output_distribution\":\"dataset\",\"api\":\"chat\"," QUICK "}",
             digest);
    rig->context_tokens = 100;
    return start_sweep_over(rig, &a, &b, plan);
}

static void a_prompt_too_long_for_one_deployment_is_skipped_for_both(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, quick_server);
    rig.other = simserve_start((const char *[]){ "--ttft-ms", "5", "--step-ms", "2",
                                                 "--chat-template-tokens", "30", NULL });
    row = start_sweep_of_prompts(&rig, "other");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cells[i].state, CELL_MEASURED);
        assert_int_equal(cells[i].measurement.prompts_left_out, 1);
        assert_int_equal(cells[i].measurement.prompts_repeated, 0);
    }
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void prompts_sent_earlier_through_another_deployment_count_as_repeated(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, quick_server);
    row = start_sweep_of_prompts(&rig, "alias");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 2);
    assert_int_equal(cells[0].measurement.prompts_repeated, 0);
    assert_true(cells[1].measurement.prompts_repeated > 0);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void stops_when_one_of_two_deployments_keeps_failing(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    size_t count;

    set_up_two(&rig, state);
    const struct deployment a = ledger_deployment(rig.ledger, "demo"),
                            b = ledger_deployment(rig.ledger, "other");
    hold(&rig, 3);
    row = start_sweep_over(&rig, &a, &b,
                           "{\"concurrency\":[1,2,3,4,5,6],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 3 of 12: 2 users");
    simserve_stop(&rig.other);
    let_go(&rig);
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "3 cells in a row failed on other, the last with"));
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_int_equal(cells[11].state, CELL_PENDING);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alternates_between_two_deployments_even_after_a_shutdown),
        cmocka_unit_test(two_sweeps_over_the_same_deployments_in_opposite_order_both_complete),
        cmocka_unit_test(one_server_can_be_measured_under_two_names),
        cmocka_unit_test(a_prompt_too_long_for_one_deployment_is_skipped_for_both),
        cmocka_unit_test(prompts_sent_earlier_through_another_deployment_count_as_repeated),
        cmocka_unit_test(stops_when_one_of_two_deployments_keeps_failing),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = ledger_run(tests);
    outbound_global_finish();
    return failed;
}
