/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/text.h"
#include "store/ledger/store_private.h"
#include "tests/unit/support/ledger.h"

static struct job queue(struct ledger *ledger, const char *kind, int64_t now_ms)
{
    struct change change = ledger_change("alice", "test");
    struct job job;

    assert_ok(ledger, job_add(ledger->store, kind, "thing", "alice", now_ms, &change, &job,
                              &ledger->error));
    return job;
}

static struct job read_job(struct ledger *ledger, const char *id)
{
    struct job job;

    assert_ok(ledger, job_find(ledger->store, id, &job, &ledger->error));
    return job;
}

static bool claim_succeeds(struct ledger *ledger, const char *kind, int64_t now_ms)
{
    const char *const kinds[] = { kind, NULL };
    struct job job;
    bool found = false;

    assert_ok(ledger,
              job_claim(ledger->store, "other", kinds, now_ms, 1000, &job, &found, &ledger->error));
    return found;
}

static void assert_claim_finds_none(struct ledger *ledger, const char *owner, int64_t now_ms)
{
    const char *const kinds[] = { "other", NULL };
    struct job job;
    bool found = true;

    assert_ok(ledger,
              job_claim(ledger->store, owner, kinds, now_ms, 1000, &job, &found, &ledger->error));
    assert_false(found);
}

static void claims_the_oldest_job_of_a_listed_kind(void **state)
{
    struct ledger *ledger = *state;
    struct job first = queue(ledger, "other", 10), second = queue(ledger, "other", 20);

    queue(ledger, "unlisted", 5);
    struct claim claim = ledger_claim(ledger, "me", 100, 1000);
    assert_string_equal(claim.job_id, first.id);
    assert_int_equal(claim.fence, 1);
    struct job running = read_job(ledger, first.id);
    assert_int_equal(running.state, JOB_RUNNING);
    assert_int_equal(running.started_ms, 100);
    assert_int_equal(running.lease_until_ms, 1100);
    assert_string_equal(running.owner, "me");
    assert_string_equal(ledger_claim(ledger, "me", 100, 1000).job_id, second.id);
    assert_false(claim_succeeds(ledger, "other", 100));
}

static void an_expired_lease_passes_to_the_next_worker_and_the_old_one_is_refused(void **state)
{
    struct ledger *ledger = *state;
    struct job job = queue(ledger, "other", 10);
    struct claim old = ledger_claim(ledger, "me", 100, 1000), new;
    struct job_beat beat = { .claim = old };

    assert_false(claim_succeeds(ledger, "other", 1100));
    /* If the clock jumps ahead, the lease looks expired, but "me" is still running the job. */
    assert_claim_finds_none(ledger, "me", 90000000);
    new = ledger_claim(ledger, "you", 1101, 1000);
    assert_string_equal(new.job_id, job.id);
    assert_int_equal(new.fence, 2);
    assert_refused(ledger,
                   job_finish(ledger->store, &old,
                              &(struct job_ending){ .state = JOB_COMPLETED, .outcome_json = "{}" },
                              1200, &ledger->error),
                   ERROR_CONFLICT, "was taken over by another worker");
    assert_refused(ledger, job_yield(ledger->store, &old, &ledger->error), ERROR_CONFLICT,
                   "taken over");
    assert_ok(ledger, job_heartbeat(ledger->store, &beat, 1, 1200, 1000, &ledger->error));
    assert_true(beat.stale);
    assert_int_equal(read_job(ledger, job.id).started_ms, 100);
    assert_ok(ledger, job_finish(ledger->store, &new,
                                 &(struct job_ending){ .state = JOB_COMPLETED,
                                                       .outcome_json = "{\"a\":1}" },
                                 1300, &ledger->error));
    assert_int_equal(read_job(ledger, job.id).state, JOB_COMPLETED);
    assert_int_equal(read_job(ledger, job.id).finished_ms, 1300);
    assert_string_equal(read_job(ledger, job.id).outcome, "{\"a\":1}");
}

/* A worker that claims a job might have read the clock just before the job was added. */
static void a_job_never_starts_before_it_was_added_nor_ends_before_it_started(void **state)
{
    struct ledger *ledger = *state;
    struct job job = queue(ledger, "other", 101), cancelled = queue(ledger, "third", 101), out;
    struct claim claim = ledger_claim(ledger, "me", 100, 1000);

    assert_int_equal(read_job(ledger, job.id).started_ms, 101);
    assert_ok(ledger,
              job_finish(ledger->store, &claim,
                         &(struct job_ending){ .state = JOB_COMPLETED, .outcome_json = "{}" }, 99,
                         &ledger->error));
    assert_int_equal(read_job(ledger, job.id).finished_ms, 101);
    assert_ok(ledger, job_cancel(ledger->store, cancelled.id, 100, NULL, &out, &ledger->error));
    assert_int_equal(read_job(ledger, cancelled.id).finished_ms, 101);
}

static void heartbeats_extend_the_lease_and_carry_progress(void **state)
{
    struct ledger *ledger = *state;
    struct job job = queue(ledger, "other", 10);
    struct job_beat beat = { .claim = ledger_claim(ledger, "me", 100, 1000),
                             .progress = 3,
                             .progress_total = 8,
                             .message = "cell 3 of 8" };
    struct job now;

    assert_ok(ledger, job_heartbeat(ledger->store, &beat, 1, 900, 1000, &ledger->error));
    assert_false(beat.stale);
    assert_false(beat.cancel_requested);
    now = read_job(ledger, job.id);
    assert_in_range(now.lease_until_ms, 1900, 60000);
    assert_true(now.progress == 3 && now.progress_total == 8);
    assert_string_equal(now.message, "cell 3 of 8");
}

static void a_queued_job_is_cancelled_at_once_and_a_running_one_is_asked_to_stop(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("bob", "job_cancel");
    struct job first = queue(ledger, "other", 10), second = queue(ledger, "other", 20), out;
    struct job_beat beat = { .claim = ledger_claim(ledger, "me", 100, 1000) };

    assert_ok(ledger, job_cancel(ledger->store, second.id, 200, &change, &out, &ledger->error));
    assert_int_equal(out.state, JOB_CANCELLED);
    assert_int_equal(out.finished_ms, 200);
    assert_ok(ledger, job_cancel(ledger->store, first.id, 210, &change, &out, &ledger->error));
    assert_int_equal(out.state, JOB_RUNNING);
    assert_int_equal(out.cancel_requested_ms, 210);
    assert_ok(ledger, job_heartbeat(ledger->store, &beat, 1, 300, 1000, &ledger->error));
    assert_true(beat.cancel_requested);
    assert_ok(ledger,
              job_finish(ledger->store, &beat.claim, &(struct job_ending){ .state = JOB_CANCELLED },
                         400, &ledger->error));
    change.written = false;
    assert_refused(ledger, job_cancel(ledger->store, first.id, 500, &change, &out, &ledger->error),
                   ERROR_CONFLICT, "has already ended (cancelled)");
    assert_false(change.written);
    assert_refused(ledger, job_cancel(ledger->store, "job_x", 500, &change, &out, &ledger->error),
                   ERROR_NOT_FOUND, "job_x");
}

static void cancelling_the_job_of_a_queued_sweep_cancels_the_sweep(void **state)
{
    struct ledger *ledger = *state;
    struct deployment deployment = ledger_deployment(ledger, "a");
    struct sweep_row sweep = ledger_sweep(ledger, &deployment, 2, 1, 10), after;
    struct job out;

    assert_ok(ledger, job_cancel(ledger->store, sweep.job_id, 200, NULL, &out, &ledger->error));
    assert_ok(ledger, sweep_find(ledger->store, sweep.id, &after, &ledger->error));
    assert_string_equal(after.state, "cancelled");
    assert_int_equal(after.finished_ms, 200);
    sweep_row_finish(&sweep);
    sweep_row_finish(&after);
}

static void a_job_given_back_is_queued_again(void **state)
{
    struct ledger *ledger = *state;
    struct job job = queue(ledger, "other", 10);
    struct claim claim = ledger_claim(ledger, "me", 100, 1000);

    assert_ok(ledger, job_yield(ledger->store, &claim, &ledger->error));
    assert_int_equal(read_job(ledger, job.id).state, JOB_QUEUED);
    assert_int_equal(ledger_claim(ledger, "you", 101, 1000).fence, 2);
}

static void jobs_of_other_processes_are_released_at_start(void **state)
{
    struct ledger *ledger = *state;
    struct job mine = queue(ledger, "other", 10), theirs = queue(ledger, "other", 20);

    ledger_claim(ledger, "me", 100, 100000);
    ledger_claim(ledger, "dead", 100, 100000);
    assert_ok(ledger, job_orphans_release(ledger->store, "me", &ledger->error));
    assert_string_equal(ledger_claim(ledger, "me", 101, 1000).job_id, theirs.id);
    assert_false(claim_succeeds(ledger, "other", 102));
    assert_int_equal(read_job(ledger, mine.id).fence, 1);
}

static void without_the_folders_lock_a_job_is_released_only_when_its_lease_expires(void **state)
{
    struct ledger *ledger = *state;
    struct job job = queue(ledger, "other", 10);
    int lock_file = ledger->store->lock_file;
    struct claim claim;

    ledger_claim(ledger, "other process", 100, 1000);
    ledger->store->lock_file = -1;
    assert_ok(ledger, job_orphans_release(ledger->store, "me", &ledger->error));
    ledger->store->lock_file = lock_file;
    assert_int_equal(read_job(ledger, job.id).lease_until_ms, 1100);
    assert_claim_finds_none(ledger, "me", 1100);
    claim = ledger_claim(ledger, "me", 1101, 1000);
    assert_string_equal(claim.job_id, job.id);
    assert_int_equal(claim.fence, 2);
}

static void lists_newest_first_and_counts_by_state(void **state)
{
    struct ledger *ledger = *state;
    struct job first = queue(ledger, "other", 10), second = queue(ledger, "sweep", 20), *rows;
    struct job_filter all = { .state = -1 }, sweeps = { .kind = "sweep", .state = -1 };
    struct job_filter running = { .state = JOB_RUNNING };
    int64_t counts[JOB_CANCELLED + 1];
    size_t count;

    ledger_claim(ledger, "me", 100, 1000);
    assert_ok(ledger, job_list(ledger->store, &all, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].id, second.id);
    free(rows);
    all.before_ms = 20;
    assert_ok(ledger, job_list(ledger->store, &all, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    free(rows);
    assert_ok(ledger, job_list(ledger->store, &sweeps, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    free(rows);
    assert_ok(ledger, job_list(ledger->store, &running, 10, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].id, first.id);
    free(rows);
    assert_ok(ledger, job_counts(ledger->store, counts, &ledger->error));
    assert_int_equal(counts[JOB_QUEUED], 1);
    assert_int_equal(counts[JOB_RUNNING], 1);
    assert_int_equal(counts[JOB_FAILED], 0);
}

static void an_outcome_that_is_too_long_is_truncated_and_its_full_length_is_stored(void **state)
{
    struct ledger *ledger = *state;
    struct job job = queue(ledger, "other", 10);
    struct claim claim = ledger_claim(ledger, "me", 100, 1000);
    TEXT_AUTO outcome = { 0 };

    text_add(&outcome, "{\"a\":\"");
    while (outcome.length < 9998)
        text_add_char(&outcome, 'x');
    text_add(&outcome, "\"}");
    assert_ok(ledger, job_finish(ledger->store, &claim,
                                 &(struct job_ending){ .state = JOB_COMPLETED,
                                                       .outcome_json = outcome.data },
                                 200, &ledger->error));
    assert_memory_equal(read_job(ledger, job.id).outcome, "{\"truncated\":true,\"bytes\":10000",
                        31);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_the_oldest_job_of_a_listed_kind),
        cmocka_unit_test(an_expired_lease_passes_to_the_next_worker_and_the_old_one_is_refused),
        cmocka_unit_test(a_job_never_starts_before_it_was_added_nor_ends_before_it_started),
        cmocka_unit_test(heartbeats_extend_the_lease_and_carry_progress),
        cmocka_unit_test(a_queued_job_is_cancelled_at_once_and_a_running_one_is_asked_to_stop),
        cmocka_unit_test(cancelling_the_job_of_a_queued_sweep_cancels_the_sweep),
        cmocka_unit_test(a_job_given_back_is_queued_again),
        cmocka_unit_test(jobs_of_other_processes_are_released_at_start),
        cmocka_unit_test(without_the_folders_lock_a_job_is_released_only_when_its_lease_expires),
        cmocka_unit_test(lists_newest_first_and_counts_by_state),
        cmocka_unit_test(an_outcome_that_is_too_long_is_truncated_and_its_full_length_is_stored),
    };

    return ledger_run(tests);
}
