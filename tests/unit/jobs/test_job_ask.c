/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of jobs that ask questions and occupy no thread while they wait for the answers. */
#include <stdatomic.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/json/json.h"
#include "jobs/job_pool.h"
#include "store/audit/audit_log.h"
#include "store/ledger/questions.h"
#include "store/ledger/store.h"
#include "tests/unit/support/ledger.h"

#define PATIENCE_MS 20000

struct services {
    atomic_int runs; /* how often run_asking was called */
};

static struct job queue(struct ledger *ledger, const char *kind)
{
    struct job job;

    assert_ok(ledger, job_add(ledger->store, kind, "thing", "alice", clock_utc_ms(), NULL, &job,
                              &ledger->error));
    return job;
}

/* How a run ends after job_run_ask returned false. */
static enum job_end end_without_answers(struct job_run *run, const struct error *error)
{
    if (error->kind == ERROR_INVALID)
        return JOB_END_FAILED;
    return job_run_stop(run) == JOB_STOP_CANCEL ? JOB_END_CANCELLED : JOB_END_YIELDED;
}

/* Asks for two names at once, then whether the names are right. */
static enum job_end run_asking(struct job_run *run, char **outcome, struct error *error)
{
    struct services *services = run->services;
    json_auto_t *form = json_pack("{s:s}", "message", "Who?"), *names = NULL, *sure = NULL;
    const struct job_question first[] = { { "left", "elicitation/create", form },
                                          { "right", "elicitation/create", form } };
    const struct job_question second = { "sure", "elicitation/create", form };

    services->runs++;
    if (!job_run_ask(run, first, 2, &names, error))
        return end_without_answers(run, error);
    job_run_progress(run, 1, 2, "has names");
    if (!job_run_ask(run, &second, 1, &sure, error))
        return end_without_answers(run, error);
    json_object_update(names, sure);
    *outcome = json_write_canonical(names);
    return JOB_END_COMPLETED;
}

/* Asks a question that is too long. */
static enum job_end run_chatty(struct job_run *run, char **outcome, struct error *error)
{
    char *words = calloc(1, QUESTION_REQUEST_LIMIT_BYTES + 1);
    json_auto_t *form = NULL, *answers = NULL;
    struct job_question question = { "words", "elicitation/create", NULL };

    (void)outcome;
    memset(words, 'x', QUESTION_REQUEST_LIMIT_BYTES);
    form = json_pack("{s:s}", "message", words);
    question.params = form;
    free(words);
    if (!job_run_ask(run, &question, 1, &answers, error))
        return end_without_answers(run, error);
    return JOB_END_COMPLETED;
}

static enum job_end run_quick(struct job_run *run, char **outcome, struct error *error)
{
    (void)run;
    (void)outcome;
    (void)error;
    return JOB_END_COMPLETED;
}

static const struct job_kind kinds[] = {
    { "asking", run_asking }, { "chatty", run_chatty }, { "quick", run_quick }, { 0 }
};

static struct job_pool *start(struct ledger *ledger, struct services *services)
{
    struct job_pool *jobs;

    assert_ok(ledger, job_pool_create(ledger->store, kinds, 1, services, &jobs, &ledger->error));
    job_pool_wake(jobs);
    return jobs;
}

static struct job await(struct ledger *ledger, struct job_pool *jobs, const char *id,
                        enum job_state wanted)
{
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_MS * 1000000LL;
    struct job job;

    assert_ok(ledger, job_pool_show(jobs, id, &job, &ledger->error));
    while (job.state != wanted) {
        if (clock_monotonic_ns() > until_ns)
            fail_msg("got state %s (\"%s\"), expected %s", job_state_name(job.state), job.message,
                     job_state_name(wanted));
        assert_ok(ledger, job_pool_wait(jobs, id, &job, 1000, NULL, NULL, &job, &ledger->error));
    }
    return job;
}

/* Answers the job's questions. Returns how many of the answers were accepted. */
static size_t answer(struct ledger *ledger, struct job_pool *jobs, const char *id, const char *json)
{
    struct change change = ledger_change("alice", "tasks/update");
    json_auto_t *answers = json_loads(json, 0, NULL);
    size_t accepted = 99;

    assert_ok(ledger, job_pool_answer(jobs, id, answers, &change, &accepted, &ledger->error));
    assert_true(change.written);
    return accepted;
}

static size_t open_count(struct ledger *ledger, const char *id)
{
    struct question_row *rows;
    size_t count, open = 0;

    assert_ok(ledger, question_list(ledger->store, id, &rows, &count, &ledger->error));
    for (size_t i = 0; i < count; i++)
        open += rows[i].answer == NULL;
    question_rows_free(rows, count);
    return open;
}

static void await_open(struct ledger *ledger, const char *id, size_t wanted)
{
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_MS * 1000000LL;
    const struct timespec moment = { .tv_nsec = 2000000 };

    while (open_count(ledger, id) != wanted) {
        if (clock_monotonic_ns() > until_ns)
            fail_msg("got %zu open questions, expected %zu", open_count(ledger, id), wanted);
        nanosleep(&moment, NULL);
    }
}

/* Waits until the job is waiting, and asserts that `open` of its questions are open. */
static struct job await_questions(struct ledger *ledger, struct job_pool *jobs, const char *id,
                                  size_t open)
{
    struct job job = await(ledger, jobs, id, JOB_WAITING);

    assert_int_equal(open_count(ledger, id), open);
    return job;
}

#define OUTCOME "{\"left\":{\"name\":\"L\"},\"right\":{\"name\":\"R\"},\"sure\":{\"yes\":true}}"

static void continues_when_all_its_questions_are_answered(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job job = queue(ledger, "asking");

    job_pool_wake(jobs);
    job = await_questions(ledger, jobs, job.id, 2);
    assert_string_equal(job.message, "waiting for an answer");
    assert_int_equal(answer(ledger, jobs, job.id, "{\"left\":{\"name\":\"L\"}}"), 1);
    await_questions(ledger, jobs, job.id, 1);
    assert_int_equal(services.runs, 1);
    assert_int_equal(answer(ledger, jobs, job.id, "{\"right\":{\"name\":\"R\"}}"), 1);
    await_open(ledger, job.id, 1);
    await_questions(ledger, jobs, job.id, 1);
    assert_int_equal(answer(ledger, jobs, job.id, "{\"sure\":{\"yes\":true}}"), 1);
    job = await(ledger, jobs, job.id, JOB_COMPLETED);
    assert_string_equal(job.outcome, OUTCOME);
    assert_int_equal(services.runs, 3);
    assert_true(job.updated_ms >= job.started_ms);
    job_pool_destroy(jobs, 1000);
}

static void ignores_answers_to_unknown_and_to_answered_questions(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job job = queue(ledger, "asking");
    json_auto_t *answers = json_object();
    struct change change = ledger_change("alice", "tasks/update");
    size_t accepted;

    job_pool_wake(jobs);
    await_questions(ledger, jobs, job.id, 2);
    assert_int_equal(answer(ledger, jobs, job.id, "{\"up\":{},\"left\":{\"name\":\"L\"}}"), 1);
    assert_int_equal(answer(ledger, jobs, job.id, "{\"left\":{\"name\":\"other\"}}"), 0);
    assert_int_equal(answer(ledger, jobs, job.id, "{}"), 0);
    assert_int_equal(answer(ledger, jobs, job.id, "{\"right\":{\"name\":\"R\"}}"), 1);
    assert_refused(ledger,
                   job_pool_answer(jobs, "job_none", answers, &change, &accepted, &ledger->error),
                   ERROR_NOT_FOUND, "job_none");
    job_pool_destroy(jobs, 1000);
}

static void an_answer_is_audited_and_one_that_is_too_long_is_refused(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job job = queue(ledger, "asking");
    struct audit_filter filter = { .tool = "tasks/update" };
    char *words = calloc(1, QUESTION_ANSWER_LIMIT_BYTES + 1);
    json_auto_t *answers = NULL;
    struct audit_row *rows;
    size_t count, accepted;

    memset(words, 'x', QUESTION_ANSWER_LIMIT_BYTES);
    answers = json_pack("{s:{s:s}}", "left", "name", words);
    free(words);
    job_pool_wake(jobs);
    await_questions(ledger, jobs, job.id, 2);
    assert_refused(ledger, job_pool_answer(jobs, job.id, answers, NULL, &accepted, &ledger->error),
                   ERROR_INVALID, "\"left\" is 65547 bytes long");
    answer(ledger, jobs, job.id, "{\"left\":{},\"else\":{}}");
    assert_ok(ledger, audit_log_list(ledger->store, &filter, 9, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].subject, job.id);
    assert_string_equal(rows[0].detail, "1 of 2 answers were stored");
    audit_log_rows_free(rows, count);
    job_pool_destroy(jobs, 1000);
}

static void many_jobs_wait_without_occupying_a_thread(void **state)
{
    enum { COUNT = 40 };
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job waiting[COUNT], quick;
    int64_t counts[JOB_CANCELLED + 1];

    for (int i = 0; i < COUNT; i++)
        waiting[i] = queue(ledger, "asking");
    job_pool_wake(jobs);
    for (int i = 0; i < COUNT; i++)
        await_questions(ledger, jobs, waiting[i].id, 2);
    assert_int_equal(job_pool_running(jobs), 0);
    assert_ok(ledger, job_counts(ledger->store, counts, &ledger->error));
    assert_int_equal(counts[JOB_WAITING], COUNT);
    assert_int_equal(counts[JOB_QUEUED], 0);
    quick = queue(ledger, "quick");
    job_pool_wake(jobs);
    await(ledger, jobs, quick.id, JOB_COMPLETED);
    job_pool_destroy(jobs, 1000);
}

static void after_a_restart_a_job_has_its_questions_and_the_answers_given_meanwhile(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job job = queue(ledger, "asking");
    const struct answer_text late = { "right", "{\"name\":\"R\"}" };
    size_t accepted;

    job_pool_wake(jobs);
    await_questions(ledger, jobs, job.id, 2);
    answer(ledger, jobs, job.id, "{\"left\":{\"name\":\"L\"}}");
    job_pool_destroy(jobs, 1000);
    ledger_reopen(ledger);
    assert_ok(ledger, question_answer(ledger->store, job.id, &late, 1, clock_utc_ms(), NULL,
                                      &accepted, &ledger->error));
    assert_int_equal(accepted, 1);
    jobs = start(ledger, &services);
    await_open(ledger, job.id, 1);
    answer(ledger, jobs, job.id, "{\"sure\":{\"yes\":true}}");
    job = await(ledger, jobs, job.id, JOB_COMPLETED);
    assert_string_equal(job.outcome, OUTCOME);
    job_pool_destroy(jobs, 1000);
}

/* A process died after it had stored the first of two questions and before it returned the job to
 * the queue. */
static void the_process_that_takes_over_adds_only_the_missing_question(void **state)
{
    static const char *const asking[] = { "asking", NULL };
    const struct question_text left = { "left", "{\"method\":\"first\"}" };
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job job = queue(ledger, "asking"), claimed;
    struct question_row *rows;
    struct claim claim = { 0 };
    struct job_pool *jobs;
    size_t count;
    bool found;

    assert_ok(ledger, job_claim(ledger->store, "dead", asking, clock_utc_ms(), 10000, &claimed,
                                &found, &ledger->error));
    claim.fence = claimed.fence;
    snprintf(claim.job_id, sizeof claim.job_id, "%s", job.id);
    assert_ok(ledger, question_add(ledger->store, &claim, &left, 1, 5, &ledger->error));
    jobs = start(ledger, &services);
    await_questions(ledger, jobs, job.id, 2);
    assert_ok(ledger, question_list(ledger->store, job.id, &rows, &count, &ledger->error));
    assert_string_equal(rows[0].request, "{\"method\":\"first\"}"); /* it was not replaced */
    question_rows_free(rows, count);
    assert_refused(ledger, question_add(ledger->store, &claim, &left, 1, 5, &ledger->error),
                   ERROR_CONFLICT, "taken over");
    job_pool_destroy(jobs, 1000);
}

static void a_waiting_job_is_cancelled_at_once(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job job = queue(ledger, "asking");

    job_pool_wake(jobs);
    await_questions(ledger, jobs, job.id, 2);
    assert_ok(ledger, job_pool_cancel(jobs, job.id, NULL, &job, &ledger->error));
    assert_int_equal(job.state, JOB_CANCELLED);
    answer(ledger, jobs, job.id, "{\"left\":{},\"right\":{}}");
    assert_int_equal(await(ledger, jobs, job.id, JOB_CANCELLED).state, JOB_CANCELLED);
    assert_int_equal(services.runs, 1);
    job_pool_destroy(jobs, 1000);
}

/* The job is cancelled after it has asked its question and before it is back in the queue. */
static void a_cancelled_job_does_not_wait_for_answers(void **state)
{
    static const char *const asking[] = { "asking", NULL };
    const struct question_text left = { "left", "{}" };
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job job = queue(ledger, "asking"), claimed;
    struct claim claim = { 0 };
    struct job_pool *jobs;
    bool found;

    assert_ok(ledger, job_claim(ledger->store, "me", asking, clock_utc_ms(), 10000, &claimed,
                                &found, &ledger->error));
    claim.fence = claimed.fence;
    snprintf(claim.job_id, sizeof claim.job_id, "%s", job.id);
    assert_ok(ledger, question_add(ledger->store, &claim, &left, 1, 5, &ledger->error));
    assert_ok(ledger, job_cancel(ledger->store, job.id, 7, NULL, &claimed, &ledger->error));
    assert_ok(ledger, job_yield(ledger->store, &claim, &ledger->error));
    jobs = start(ledger, &services);
    await(ledger, jobs, job.id, JOB_CANCELLED);
    job_pool_destroy(jobs, 1000);
}

static void a_job_whose_question_is_too_long_fails(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job job = queue(ledger, "chatty");

    job_pool_wake(jobs);
    job = await(ledger, jobs, job.id, JOB_FAILED);
    assert_non_null(strstr(job.outcome, "the limit is 16384 bytes"));
    job_pool_destroy(jobs, 1000);
}

static void lists_waiting_jobs_separately_from_queued_jobs(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job job = queue(ledger, "asking"), *rows;
    struct job_filter filter = { .state = JOB_WAITING };
    size_t count;

    queue(ledger, "unknown");
    job_pool_wake(jobs);
    await_questions(ledger, jobs, job.id, 2);
    assert_ok(ledger, job_list(ledger->store, &filter, 9, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].id, job.id);
    free(rows);
    filter.state = JOB_QUEUED;
    assert_ok(ledger, job_list(ledger->store, &filter, 9, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].kind, "unknown");
    free(rows);
    job_pool_destroy(jobs, 1000);
}

static void questions_are_deleted_with_their_job(void **state)
{
    const struct retention retention = { .jobs_days = 1 };
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, &services);
    struct job job = queue(ledger, "asking");
    struct question_row *rows;
    size_t count;

    job_pool_wake(jobs);
    await_questions(ledger, jobs, job.id, 2);
    assert_ok(ledger, job_pool_cancel(jobs, job.id, NULL, &job, &ledger->error));
    job_pool_destroy(jobs, 1000);
    assert_ok(ledger,
              store_apply_retention(ledger->store, &retention,
                                    clock_utc_ms() + 3 * 24 * 3600 * 1000LL, &ledger->error));
    assert_ok(ledger, question_list(ledger->store, job.id, &rows, &count, &ledger->error));
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(continues_when_all_its_questions_are_answered),
        cmocka_unit_test(ignores_answers_to_unknown_and_to_answered_questions),
        cmocka_unit_test(an_answer_is_audited_and_one_that_is_too_long_is_refused),
        cmocka_unit_test(many_jobs_wait_without_occupying_a_thread),
        cmocka_unit_test(after_a_restart_a_job_has_its_questions_and_the_answers_given_meanwhile),
        cmocka_unit_test(the_process_that_takes_over_adds_only_the_missing_question),
        cmocka_unit_test(a_waiting_job_is_cancelled_at_once),
        cmocka_unit_test(a_cancelled_job_does_not_wait_for_answers),
        cmocka_unit_test(a_job_whose_question_is_too_long_fails),
        cmocka_unit_test(lists_waiting_jobs_separately_from_queued_jobs),
        cmocka_unit_test(questions_are_deleted_with_their_job),
    };

    return ledger_run(tests);
}
