/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/clock.h"
#include "store/audit/audit_log.h"
#include "store/ledger/plausible_time.h"
#include "store/ledger/request_nonces.h"
#include "store/ledger/store.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"
#include "tests/unit/support/scraped.h"

#define DAY_MS (24 * 60 * 60 * 1000LL)

static size_t count_jobs(struct ledger *ledger)
{
    struct job *rows;
    size_t count;

    assert_ok(ledger, job_list(ledger->store, &(struct job_filter){ .state = -1 }, 5000, &rows,
                               &count, &ledger->error));
    free(rows);
    return count;
}

static size_t count_points(struct ledger *ledger)
{
    const struct scrape_range range = { 1, "x", 0, INT64_MAX, 1 };
    struct scraped *series;
    size_t count, points;

    assert_ok(ledger,
              scraped_read(ledger->store, &range, SCRAPE_RAW, &series, &count, &ledger->error));
    points = count == 0 ? 0 : series[0].count;
    scraped_free(series, count);
    return points;
}

static size_t count_audit(struct ledger *ledger)
{
    struct audit_row *rows;
    size_t count;

    assert_ok(ledger, audit_log_list(ledger->store, &(struct audit_filter){ 0 }, 100, &rows, &count,
                                     &ledger->error));
    audit_log_rows_free(rows, count);
    return count;
}

/* Stores a sweep with one cell, which was measured on the first day, and the cell's raw records.
 * Returns the id of the cell's attempt. */
static int64_t measure(struct ledger *ledger)
{
    struct deployment deployment = ledger_deployment(ledger, "a");
    struct sweep_row sweep = ledger_sweep(ledger, &deployment, 1, 1, 10);
    struct claim claim = ledger_claim(ledger, "me", 100, 1000);
    struct cell_result result = { .state = CELL_MEASURED, .records = "x", .records_length = 1 };
    struct cell_row *cells;
    int64_t attempt;
    size_t count;

    assert_ok(ledger, cell_list(ledger->store, sweep.id, NULL, &cells, &count, &ledger->error));
    assert_ok(ledger,
              attempt_begin(ledger->store, &claim, cells[0].id, 100, &attempt, &ledger->error));
    assert_ok(ledger, attempt_end(ledger->store, &claim, attempt, &result, 200, &ledger->error));
    assert_ok(ledger,
              job_finish(ledger->store, &claim, &(struct job_ending){ .state = JOB_COMPLETED }, 300,
                         &ledger->error));
    cell_rows_free(cells, count);
    sweep_row_finish(&sweep);
    return attempt;
}

static bool has_records(struct ledger *ledger, int64_t attempt)
{
    int64_t requests;
    size_t length;
    void *data;

    if (!cell_records_find(ledger->store, attempt, &data, &length, &requests, &ledger->error))
        return false;
    free(data);
    return true;
}

static void deletes_what_is_too_old_and_keeps_the_rest(void **state)
{
    struct ledger *ledger = *state;
    const struct scrape_value value = { "x", "", "gauge", 1 };
    const struct retention retention = { 2, 2, 2, .samples_days = 2 };
    int64_t attempt = measure(ledger), now_ms = 4 * DAY_MS;
    struct job job;

    for (int i = 0; i < 3; i++) {
        int64_t at_ms = i * 2 * DAY_MS + 1000;

        assert_ok(ledger, scrape_add(ledger->store, 1, at_ms, &value, 1, NULL, &ledger->error));
        assert_ok(ledger,
                  job_add(ledger->store, "other", "", "a", at_ms, NULL, &job, &ledger->error));
        assert_ok(ledger, job_cancel(ledger->store, job.id, at_ms, NULL, &job, &ledger->error));
    }
    assert_int_equal(count_jobs(ledger), 4);
    assert_ok(ledger, store_apply_retention(ledger->store, &retention, now_ms, &ledger->error));
    assert_int_equal(count_points(ledger), 2);
    assert_int_equal(count_jobs(ledger), 3); /* the sweep's job stays with its sweep */
    assert_false(has_records(ledger, attempt));
    assert_int_equal(count_audit(ledger), 2); /* these rows have the current time */
    assert_ok(ledger, store_apply_retention(ledger->store, &retention, clock_utc_ms() + 3 * DAY_MS,
                                            &ledger->error));
    assert_int_equal(count_audit(ledger), 0);
}

static void an_undeletable_row_does_not_protect_the_rest(void **state)
{
    struct ledger *ledger = *state;
    const struct scrape_value value = { "x", "", "gauge", 1 };
    const struct retention retention = { .jobs_days = 1, .audit_days = 1, .samples_days = 1 };
    struct job job;

    assert_ok(ledger, job_add(ledger->store, "other", "", "a", 1000, NULL, &job, &ledger->error));
    assert_ok(ledger, job_cancel(ledger->store, job.id, 1000, NULL, &job, &ledger->error));
    assert_ok(ledger, scrape_add(ledger->store, 1, 1000, &value, 1, NULL, &ledger->error));
    ledger_deployment(ledger, "a");
    assert_int_equal(count_audit(ledger), 1);
    backdoor_refuse(ledger->folder, "broken", "DELETE ON jobs", "TRUE");
    assert_refused(ledger,
                   store_apply_retention(ledger->store, &retention, clock_utc_ms() + 3 * DAY_MS,
                                         &ledger->error),
                   ERROR_INTERNAL, "trouble");
    assert_int_equal(count_jobs(ledger), 1);
    assert_int_equal(count_points(ledger), 0);
    assert_int_equal(count_audit(ledger), 0);
}

static void zero_days_keep_records_for_ever(void **state)
{
    struct ledger *ledger = *state;
    int64_t attempt = measure(ledger);

    assert_ok(ledger, store_apply_retention(ledger->store, &(struct retention){ 0 }, 1000 * DAY_MS,
                                            &ledger->error));
    assert_true(has_records(ledger, attempt));
}

static bool nonce_is_kept(struct ledger *ledger, const char *nonce)
{
    struct request_nonce nonce_row;
    bool found;

    assert_ok(ledger, request_nonce_find(ledger->store, nonce, &nonce_row, &found, &ledger->error));
    if (found)
        free(nonce_row.result);
    return found;
}

/* A client can repeat the last round of a request for several minutes. */
static void the_answer_to_a_request_in_several_rounds_is_kept_for_a_day(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "test");
    const struct retention for_ever = { 0 };
    struct job job;

    change.nonce = "once";
    assert_ok(ledger, job_add(ledger->store, "other", "", "alice", clock_utc_ms(), &change, &job,
                              &ledger->error));
    assert_ok(ledger, request_nonce_answer(ledger->store, "once", "{}", &ledger->error));
    assert_ok(ledger, store_apply_retention(ledger->store, &for_ever, clock_utc_ms() + DAY_MS / 2,
                                            &ledger->error));
    assert_true(nonce_is_kept(ledger, "once"));
    assert_ok(ledger, store_apply_retention(ledger->store, &for_ever, clock_utc_ms() + 2 * DAY_MS,
                                            &ledger->error));
    assert_false(nonce_is_kept(ledger, "once"));
}

static void deletes_more_than_one_batch_and_gives_the_space_back(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "test");
    char *arguments = calloc(1, 4000);
    int64_t full_bytes;

    memset(arguments, 'x', 3999);
    change.arguments = arguments;
    for (int i = 0; i < 3400; i++)
        assert_ok(ledger, audit_log_add(ledger->store, &change, "ok", "", "", &ledger->error));
    ledger_reopen(ledger);
    full_bytes = store_size_bytes(ledger->store);
    assert_ok(ledger, store_apply_retention(ledger->store, &(struct retention){ .audit_days = 1 },
                                            clock_utc_ms() + 10 * DAY_MS, &ledger->error));
    assert_int_equal(count_audit(ledger), 0);
    ledger_reopen(ledger);
    if (test_database_is_files()) /* PostgreSQL keeps the space for reuse */
        assert_true(store_size_bytes(ledger->store) < full_bytes - 4 * 1024 * 1024);
    free(arguments);
}

/* Returns whether the stored record of the clock has no rival time (see the next test), so that the
 * next process will trust the clock. */
static bool is_trusted(const struct ledger *ledger)
{
    char message[BACKDOOR_MESSAGE_SIZE];

    return backdoor_try(ledger->folder, "UPDATE clock SET rival_ms = 0 WHERE rival_ms = 0", message)
           == 1;
}

/* After a jump, the clock is not trusted, and its time is stored as a rival time. When the clock is
 * accepted, the rival time must be cleared at once, because the process might be killed next. */
static void an_accepted_clock_is_still_trusted_after_a_restart(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "clock accept");
    int64_t wall_ms = clock_utc_ms(), leap_ms = wall_ms + 400 * DAY_MS;
    struct timeline_verdict verdict;

    plausible_time(ledger->store, wall_ms, DAY_MS);
    ledger_reopen(ledger);
    assert_ok(ledger, plausible_time_accept(ledger->store, leap_ms, DAY_MS + 1000, &change,
                                            &verdict, &ledger->error));
    assert_true(is_trusted(ledger));
    assert_true(verdict.ahead_ms > 399 * DAY_MS);
    ledger_reopen(ledger);
    verdict = plausible_time(ledger->store, leap_ms + 1000, DAY_MS + 2000);
    assert_int_equal(verdict.ahead_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deletes_what_is_too_old_and_keeps_the_rest),
        cmocka_unit_test(an_undeletable_row_does_not_protect_the_rest),
        cmocka_unit_test(zero_days_keep_records_for_ever),
        cmocka_unit_test(the_answer_to_a_request_in_several_rounds_is_kept_for_a_day),
        cmocka_unit_test(deletes_more_than_one_batch_and_gives_the_space_back),
        cmocka_unit_test(an_accepted_clock_is_still_trusted_after_a_restart),
    };

    return ledger_run(tests);
}
