/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "base/core/clock.h"
#include "jobs/job_pool.h"
#include "tests/unit/support/ledger.h"

#define PATIENCE_MS 10000

/* Shared by a test and the functions of its jobs. */
struct services {
    atomic_int running; /* "patient" and "sweep" jobs that are running */
    atomic_int peak;    /* maximum of `running`, updated when a "sweep" job begins */
    atomic_int ended;   /* "sweep" jobs that have ended */
    atomic_int changes; /* calls to the listener */
    atomic_bool go;     /* if true, "patient" and "sweep" jobs end */
};

static struct job queue(struct ledger *ledger, const char *kind)
{
    struct job job;

    assert_ok(ledger, job_add(ledger->store, kind, "thing", "alice", clock_utc_ms(), NULL, &job,
                              &ledger->error));
    return job;
}

static enum job_end run_quick(struct job_run *run, char **outcome, struct error *error)
{
    (void)error;
    job_run_progress(run, 1, 2, "half");
    job_run_progress(run, 2, 2, "done");
    *outcome = strdup("{\"answer\":42}");
    return JOB_END_COMPLETED;
}

static enum job_end run_failing(struct job_run *run, char **outcome, struct error *error)
{
    (void)run;
    (void)outcome;
    error_set(error, ERROR_UPSTREAM, "the server is down");
    return JOB_END_FAILED;
}

static enum job_end run_broken(struct job_run *run, char **outcome, struct error *error)
{
    (void)run;
    (void)outcome;
    error_set(error, ERROR_INTERNAL, "null pointer at secret place");
    return JOB_END_FAILED;
}

/* Does not say how it ended. */
static enum job_end run_vague(struct job_run *run, char **outcome, struct error *error)
{
    (void)run;
    (void)error;
    *outcome = strdup("{\"answer\":42}");
    return 0;
}

/* Runs until it is asked to stop, or until `go` is set. */
static enum job_end run_patient(struct job_run *run, char **outcome, struct error *error)
{
    struct services *services = run->services;
    enum job_stop stop;

    (void)outcome;
    (void)error;
    services->running++;
    job_run_progress(run, 0, 1, "patient");
    while ((stop = job_run_wait(run, 50)) == JOB_STOP_NO && !services->go)
        continue;
    services->running--;
    if (stop == JOB_STOP_CANCEL)
        return JOB_END_CANCELLED;
    return stop == JOB_STOP_NO ? JOB_END_COMPLETED : JOB_END_YIELDED;
}

/* Counts how many jobs run at the endpoint at the same time. */
static enum job_end run_at_endpoint(struct job_run *run, char **outcome, struct error *error)
{
    struct services *services = run->services;

    (void)outcome;
    (void)error;
    services->running++;
    if (services->running > services->peak)
        services->peak = atomic_load(&services->running);
    job_run_progress(run, 0, 1, "holding");
    while (!services->go && job_run_wait(run, 20) == JOB_STOP_NO)
        continue;
    services->running--;
    services->ended++;
    return JOB_END_COMPLETED;
}

static const struct job_kind kinds[] = {
    { "quick", run_quick },
    { "failing", run_failing },
    { "broken", run_broken },
    { "patient", run_patient },
    { "sweep", run_at_endpoint },
    { "vague", run_vague },
    { "urgent", run_quick, .threads = 1 },
    { 0 },
};

/* Queues a sweep of this deployment. */
static struct job queue_sweep(struct ledger *ledger, const struct deployment *deployment)
{
    struct sweep_row row = ledger_sweep(ledger, deployment, 1, 1, clock_utc_ms());
    struct job job;

    assert_ok(ledger, job_find(ledger->store, row.job_id, &job, &ledger->error));
    sweep_row_finish(&row);
    return job;
}

static struct job_pool *start(struct ledger *ledger, unsigned threads, struct services *services)
{
    struct job_pool *jobs;

    assert_ok(ledger,
              job_pool_create(ledger->store, kinds, threads, services, &jobs, &ledger->error));
    return jobs;
}

/* Waits until the job is in this state and its message begins with `message`. */
static struct job await(struct ledger *ledger, struct job_pool *jobs, const char *id,
                        enum job_state wanted, const char *message)
{
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_MS * 1000000LL;
    struct job job;

    assert_ok(ledger, job_pool_show(jobs, id, &job, &ledger->error));
    while (job.state != wanted || strncmp(job.message, message, strlen(message)) != 0) {
        if (clock_monotonic_ns() > until_ns)
            fail_msg("got state %s (\"%s\"), expected %s (\"%s...\")", job_state_name(job.state),
                     job.message, job_state_name(wanted), message);
        assert_ok(ledger, job_pool_wait(jobs, id, &job, 1000, NULL, NULL, &job, &ledger->error));
    }
    return job;
}

static void runs_a_queued_job_to_its_end(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 2, &services);
    struct job job = queue(ledger, "quick");

    job_pool_wake(jobs);
    job = await(ledger, jobs, job.id, JOB_COMPLETED, "done");
    assert_string_equal(job.outcome, "{\"answer\":42}");
    assert_true(job.progress == 2 && job.progress_total == 2);
    assert_true(job.finished_ms >= job.started_ms && job.started_ms >= job.created_ms);
    job_pool_destroy(jobs, 1000);
}

static void a_job_kind_with_its_own_thread_does_not_wait_for_other_kinds(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 1, &services);
    struct job long_one = queue(ledger, "patient"), quick, urgent;

    job_pool_wake(jobs);
    await(ledger, jobs, long_one.id, JOB_RUNNING, "patient");
    quick = queue(ledger, "quick");
    urgent = queue(ledger, "urgent");
    job_pool_wake(jobs);
    await(ledger, jobs, urgent.id, JOB_COMPLETED, "done");
    await(ledger, jobs, quick.id, JOB_QUEUED, "");
    services.go = true;
    await(ledger, jobs, quick.id, JOB_COMPLETED, "done");
    job_pool_destroy(jobs, 1000);
}

static void finds_a_queued_job_without_being_woken(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 1, &services);
    struct job job = queue(ledger, "quick");

    await(ledger, jobs, job.id, JOB_COMPLETED, "");
    job_pool_destroy(jobs, 1000);
}

static void shows_why_a_job_failed_but_hides_internal_errors(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 1, &services);
    struct job failing = queue(ledger, "failing"), broken = queue(ledger, "broken");
    struct job vague = queue(ledger, "vague");

    job_pool_wake(jobs);
    failing = await(ledger, jobs, failing.id, JOB_FAILED, "");
    assert_string_equal(failing.outcome,
                        "{\"error\":\"the server is down\",\"kind\":\"upstream\"}");
    broken = await(ledger, jobs, broken.id, JOB_FAILED, "");
    assert_null(strstr(broken.outcome, "secret place"));
    vague = await(ledger, jobs, vague.id, JOB_FAILED, "");
    assert_string_equal(vague.outcome, broken.outcome);
    job_pool_destroy(jobs, 1000);
}

static void cancels_queued_and_running_jobs(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 1, &services);
    struct change change = ledger_change("bob", "job_cancel");
    struct job running = queue(ledger, "patient"), queued, out;

    job_pool_wake(jobs);
    await(ledger, jobs, running.id, JOB_RUNNING, "patient");
    assert_int_equal(job_pool_running(jobs), 1);
    queued = queue(ledger, "patient");
    assert_ok(ledger, job_pool_cancel(jobs, queued.id, &change, &out, &ledger->error));
    assert_int_equal(out.state, JOB_CANCELLED);
    assert_ok(ledger, job_pool_cancel(jobs, running.id, &change, &out, &ledger->error));
    await(ledger, jobs, running.id, JOB_CANCELLED, "");
    assert_refused(ledger, job_pool_cancel(jobs, running.id, &change, &out, &ledger->error),
                   ERROR_CONFLICT, "already ended");
    job_pool_destroy(jobs, 1000);
}

static void a_stopped_pool_requeues_running_jobs_and_the_next_pool_runs_them(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 2, &services);
    struct job job = queue(ledger, "patient");

    job_pool_wake(jobs);
    await(ledger, jobs, job.id, JOB_RUNNING, "patient");
    job_pool_destroy(jobs, PATIENCE_MS);
    assert_ok(ledger, job_find(ledger->store, job.id, &job, &ledger->error));
    assert_int_equal(job.state, JOB_QUEUED);
    services.go = true;
    jobs = start(ledger, 2, &services);
    job = await(ledger, jobs, job.id, JOB_COMPLETED, "");
    /* more than 2 if an idle thread claimed the job again before the pool stopped */
    assert_true(job.fence >= 2);
    job_pool_destroy(jobs, 1000);
}

static void a_job_claimed_by_a_dead_process_runs_before_the_claim_expires(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job job = queue(ledger, "quick");
    const char *const names[] = { "quick", NULL };
    bool found;

    assert_ok(ledger, job_claim(ledger->store, "dead", names, clock_utc_ms(), 3600000, &job, &found,
                                &ledger->error));
    struct job_pool *jobs = start(ledger, 1, &services);
    job = await(ledger, jobs, job.id, JOB_COMPLETED, "");
    assert_int_equal(job.fence, 2);
    job_pool_destroy(jobs, 1000);
}

static void a_run_that_lost_its_claim_is_stopped_and_writes_nothing(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 1, &services);
    struct job job = queue(ledger, "patient"), other;
    const char *const names[] = { "patient", NULL };
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_MS * 1000000LL;
    bool found;

    job_pool_wake(jobs);
    await(ledger, jobs, job.id, JOB_RUNNING, "patient");
    /* Another process, whose clock is an hour ahead, claims the job. */
    assert_ok(ledger, job_claim(ledger->store, "thief", names, clock_utc_ms() + 3600000, 7200000,
                                &other, &found, &ledger->error));
    assert_true(found);
    while (services.running > 0 && clock_monotonic_ns() < until_ns)
        usleep(10000);
    assert_int_equal(services.running, 0);
    job_pool_destroy(jobs, PATIENCE_MS);
    assert_ok(ledger, job_find(ledger->store, job.id, &job, &ledger->error));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_string_equal(job.owner, "thief");
}

static void jobs_at_one_endpoint_run_one_after_another(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct deployment demo = ledger_deployment(ledger, "demo");
    struct job_pool *jobs = start(ledger, 3, &services);
    struct job first = queue_sweep(ledger, &demo), second, third;

    job_pool_wake(jobs);
    await(ledger, jobs, first.id, JOB_RUNNING, "holding");
    second = queue_sweep(ledger, &demo);
    job_pool_wake(jobs);
    second = await(ledger, jobs, second.id, JOB_QUEUED, "waiting for endpoint 127.0.0.1:8000: ");
    assert_non_null(strstr(second.message, "held by alice for swp_"));
    assert_non_null(strstr(second.message, "; 1st in line"));
    third = queue_sweep(ledger, &demo);
    job_pool_wake(jobs);
    third = await(ledger, jobs, third.id, JOB_QUEUED, "waiting for endpoint");
    assert_non_null(strstr(third.message, "; 2nd in line"));
    services.go = true;
    await(ledger, jobs, first.id, JOB_COMPLETED, "");
    await(ledger, jobs, second.id, JOB_COMPLETED, "");
    await(ledger, jobs, third.id, JOB_COMPLETED, "");
    assert_int_equal(services.peak, 1);
    assert_int_equal(services.ended, 3);
    job_pool_destroy(jobs, 1000);
}

static void jobs_in_line_occupy_no_thread(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct deployment demo = ledger_deployment(ledger, "demo");
    struct job_pool *jobs = start(ledger, 2, &services);
    struct job first = queue_sweep(ledger, &demo), last, other, one_too_many;

    job_pool_wake(jobs);
    await(ledger, jobs, first.id, JOB_RUNNING, "holding");
    for (int i = 0; i < 30; i++)
        last = queue_sweep(ledger, &demo);
    other = queue(ledger, "patient");
    one_too_many = queue(ledger, "patient");
    job_pool_wake(jobs);
    await(ledger, jobs, other.id, JOB_RUNNING, "patient");
    assert_int_equal(job_pool_running(jobs), 2);
    await(ledger, jobs, last.id, JOB_QUEUED, "waiting for endpoint");
    assert_ok(ledger, job_pool_show(jobs, one_too_many.id, &one_too_many, &ledger->error));
    assert_int_equal(one_too_many.state, JOB_QUEUED);
    services.go = true;
    await(ledger, jobs, one_too_many.id, JOB_COMPLETED, "");
    await(ledger, jobs, last.id, JOB_COMPLETED, "");
    assert_int_equal(services.ended, 31);
    job_pool_destroy(jobs, PATIENCE_MS);
}

static void cancelling_a_job_in_line_moves_the_next_job_up(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct deployment demo = ledger_deployment(ledger, "demo");
    struct job_pool *jobs = start(ledger, 2, &services);
    struct job first = queue_sweep(ledger, &demo), second, third, out;

    job_pool_wake(jobs);
    await(ledger, jobs, first.id, JOB_RUNNING, "holding");
    second = queue_sweep(ledger, &demo);
    third = queue_sweep(ledger, &demo);
    third = await(ledger, jobs, third.id, JOB_QUEUED, "waiting for");
    assert_non_null(strstr(third.message, "; 2nd in line"));
    assert_ok(ledger, job_pool_cancel(jobs, second.id, NULL, &out, &ledger->error));
    assert_int_equal(out.state, JOB_CANCELLED);
    assert_ok(ledger, job_pool_wait(jobs, third.id, &third, PATIENCE_MS, NULL, NULL, &third,
                                    &ledger->error));
    assert_non_null(strstr(third.message, "; 1st in line"));
    services.go = true;
    await(ledger, jobs, third.id, JOB_COMPLETED, "");
    job_pool_destroy(jobs, PATIENCE_MS);
}

static void lists_jobs_with_their_current_messages(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_filter all = { .state = -1 };
    struct deployment demo = ledger_deployment(ledger, "demo");
    struct job_pool *jobs = start(ledger, 1, &services);
    struct job first = queue_sweep(ledger, &demo), *rows;
    size_t count;

    job_pool_wake(jobs);
    await(ledger, jobs, first.id, JOB_RUNNING, "holding");
    queue_sweep(ledger, &demo);
    assert_ok(ledger, job_pool_list(jobs, &all, 9, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_non_null(strstr(rows[0].message, "; 1st in line"));
    assert_string_equal(rows[1].message, "holding");
    free(rows);
    services.go = true;
    job_pool_destroy(jobs, PATIENCE_MS);
}

static bool is_cancelled_at_the_third_check(void *context)
{
    *(int *)context += 1;
    return *(int *)context == 3;
}

static void a_wait_ends_at_its_timeout_or_when_it_is_cancelled(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 1, &services);
    struct job job = queue(ledger, "unknown"), out;
    int64_t begun_ns = clock_monotonic_ns();
    int checks = 0;

    assert_ok(ledger, job_pool_wait(jobs, job.id, &job, 100, NULL, NULL, &out, &ledger->error));
    assert_in_range((clock_monotonic_ns() - begun_ns) / 1000000, 100, 5000);
    assert_int_equal(out.state, JOB_QUEUED);
    assert_ok(ledger, job_pool_wait(jobs, job.id, &job, 60000, is_cancelled_at_the_third_check,
                                    &checks, &out, &ledger->error));
    assert_in_range((clock_monotonic_ns() - begun_ns) / 1000000, 100, 10000);
    assert_refused(ledger,
                   job_pool_wait(jobs, "job_x", &job, 1000, NULL, NULL, &out, &ledger->error),
                   ERROR_NOT_FOUND, "job_x");
    job_pool_destroy(jobs, 1000);
}

static void count_change(void *context, const char *job_id)
{
    struct services *services = context;

    assert_memory_equal(job_id, "job_", 4);
    services->changes++;
}

static void the_listener_is_called_for_every_change(void **state)
{
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 1, &services);
    struct job job;

    job_pool_listen(jobs, count_change, &services);
    job = queue(ledger, "quick");
    job_pool_wake(jobs);
    await(ledger, jobs, job.id, JOB_COMPLETED, "");
    job_pool_destroy(jobs, 1000);
    assert_int_equal(services.changes, 4); /* claimed, progress 1 of 2, progress 2 of 2, ended */
}

static void each_of_many_jobs_runs_once(void **state)
{
    enum { COUNT = 40 };
    struct ledger *ledger = *state;
    struct services services = { 0 };
    struct job_pool *jobs = start(ledger, 4, &services);
    struct job queued[COUNT];

    for (int i = 0; i < COUNT; i++) {
        queued[i] = queue(ledger, "quick");
        job_pool_wake(jobs);
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(await(ledger, jobs, queued[i].id, JOB_COMPLETED, "").fence, 1);
    job_pool_destroy(jobs, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_a_queued_job_to_its_end),
        cmocka_unit_test(a_job_kind_with_its_own_thread_does_not_wait_for_other_kinds),
        cmocka_unit_test(finds_a_queued_job_without_being_woken),
        cmocka_unit_test(shows_why_a_job_failed_but_hides_internal_errors),
        cmocka_unit_test(cancels_queued_and_running_jobs),
        cmocka_unit_test(a_stopped_pool_requeues_running_jobs_and_the_next_pool_runs_them),
        cmocka_unit_test(a_job_claimed_by_a_dead_process_runs_before_the_claim_expires),
        cmocka_unit_test(a_run_that_lost_its_claim_is_stopped_and_writes_nothing),
        cmocka_unit_test(jobs_at_one_endpoint_run_one_after_another),
        cmocka_unit_test(jobs_in_line_occupy_no_thread),
        cmocka_unit_test(cancelling_a_job_in_line_moves_the_next_job_up),
        cmocka_unit_test(lists_jobs_with_their_current_messages),
        cmocka_unit_test(a_wait_ends_at_its_timeout_or_when_it_is_cancelled),
        cmocka_unit_test(the_listener_is_called_for_every_change),
        cmocka_unit_test(each_of_many_jobs_runs_once),
    };

    return ledger_run(tests);
}
