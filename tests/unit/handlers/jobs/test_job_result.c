/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a task's final result, which is built from the job's row, and of how a job that waits
 * for an answer is shown. */
#include "handlers/jobs/job_result.h"
#include "store/ledger/questions.h"
#include "tests/unit/support/tool_sweeps.h"

static struct job job_of_sweep(struct world *world, const char *sweep_id)
{
    struct sweep_row sweep;
    struct job job;

    assert_stored(world, sweep_find(world->services.store, sweep_id, &sweep, &world->error));
    assert_stored(world, job_find(world->services.store, sweep.job_id, &job, &world->error));
    sweep_row_finish(&sweep);
    return job;
}

static void a_sweeps_result_conforms_to_the_schemas_of_sweep_start_and_sweep_resume(void **state)
{
    struct world *world = *state;
    struct answer answer = { 0 };
    char sweep[ID_SIZE];
    struct job job;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    sweep_measured(world, sweep, 4, "completed", "");
    job = job_of_sweep(world, sweep);
    text_copy(job.outcome, sizeof job.outcome,
              "{\"state\":\"completed\",\"measured\":3,\"failed\":1,\"seconds\":7.0}");
    assert_stored(world, job_result(&world->services, &job, &answer, &world->error));
    assert_stored(world, tool_conforms(tool_find("sweep_start"), answer.structured, &world->error));
    assert_stored(world,
                  tool_conforms(tool_find("sweep_resume"), answer.structured, &world->error));
    assert_non_null(strstr(text_string(&answer.text),
                           " is completed: 3 cells measured, 1 cell failed, in 7 s."));
    assert_non_null(strstr(text_string(&answer.text), "Next: run_report with this sweep."));
    assert_int_equal(json_get_integer(json_object_get(answer.structured, "outcome"), "measured", 0),
                     3);
    answer_finish(&answer);
}

static void a_sweep_that_failed_says_why_and_what_to_do(void **state)
{
    struct world *world = *state;
    struct answer answer = { 0 };
    char sweep[ID_SIZE];
    struct job job;

    world_register(world, "demo");
    sweep_started(world, "", sweep);
    sweep_measured(world, sweep, 1, "failed", "the server is down");
    job = job_of_sweep(world, sweep);
    text_copy(job.outcome, sizeof job.outcome,
              "{\"error\":\"the server is down\",\"kind\":\"upstream\"}");
    assert_false(job_result(&world->services, &job, &answer, &world->error));
    assert_int_equal(world->error.kind, ERROR_UPSTREAM);
    assert_non_null(strstr(world->error.message, "the server is down. Next: sweep_show"));
}

static void other_jobs_return_their_outcome_or_their_error(void **state)
{
    struct world *world = *state;
    struct job job = { .id = "job_1", .kind = "other", .state = JOB_COMPLETED };
    struct answer answer = { 0 };

    text_copy(job.outcome, sizeof job.outcome, "{\"text\":\"42\"}");
    assert_true(job_result(&world->services, &job, &answer, &world->error));
    assert_string_equal(text_string(&answer.text), "42");
    answer_finish(&answer);
    text_copy(job.outcome, sizeof job.outcome, "{}");
    assert_true(job_result(&world->services, &job, &answer, &world->error));
    assert_non_null(
        strstr(text_string(&answer.text), "job_1 (other , by , requested -) is completed"));
    answer_finish(&answer);
    job.state = JOB_FAILED;
    /* the stored outcome of an internal error has no kind */
    text_copy(job.outcome, sizeof job.outcome, "{\"error\":\"internal error\"}");
    job_failure(&job, &world->error);
    assert_int_equal(world->error.kind, ERROR_INTERNAL);
    assert_string_equal(world->error.message, "internal error");
}

static void a_job_that_waits_for_an_answer_is_shown_as_waiting(void **state)
{
    static const char *const kinds[] = { "other", NULL };
    const struct question_text question = { "sure", "{}" };
    struct world *world = *state;
    struct store *store = world->services.store;
    TEXT_AUTO arguments = { 0 };
    json_auto_t *shown = NULL, *listed = NULL;
    struct claim claim = { 0 };
    struct job job;
    bool found;

    assert_stored(world, job_add(store, "other", "x", "alice", 5, NULL, &job, &world->error));
    assert_stored(world, job_claim(store, "me", kinds, 6, 1000, &job, &found, &world->error));
    text_copy(claim.job_id, sizeof claim.job_id, job.id);
    claim.fence = job.fence;
    assert_stored(world, question_add(store, &claim, &question, 1, 7, &world->error));
    assert_stored(world, job_yield(store, &claim, &world->error));
    text_addf(&arguments, "{\"job\":\"%s\"}", job.id);
    shown = world_ok(world, "job_show", text_string(&arguments));
    assert_string_equal(json_get_text(json_object_get(shown, "job"), "state", ""), "waiting");
    assert_true(json_is_false(json_object_get(shown, "over")));
    world_says(world, "is waiting");
    world_says(world, "tasks/update");
    listed = world_ok(world, "job_list", "{\"state\":\"waiting\"}");
    assert_int_equal(json_array_size(json_object_get(listed, "jobs")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sweeps_result_conforms_to_the_schemas_of_sweep_start_and_sweep_resume),
        cmocka_unit_test(a_sweep_that_failed_says_why_and_what_to_do),
        cmocka_unit_test(other_jobs_return_their_outcome_or_their_error),
        cmocka_unit_test(a_job_that_waits_for_an_answer_is_shown_as_waiting),
    };

    return world_run(tests);
}
