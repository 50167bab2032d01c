/* SPDX-License-Identifier: Apache-2.0 */
/* Which figures include a request, depending on when it was due, when it was sent and when it
 * ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/cell/cell_summary.h"
#include "bench/load/stream_events.h"
#include "bench/load/tally.h"

#define S INT64_C(1000000000) /* a second, in nanoseconds */

static const struct workload workload = { .reports_usage = true };

/* A load whose window lasts from second 100 to second 130. */
static struct load load_with_window(const struct arrivals *arrivals)
{
    return (struct load){ .workload = &workload,
                          .arrivals = arrivals,
                          .window_start_ns = 100 * S,
                          .window_end_ns = 130 * S };
}

static void count(struct tally *tally, int64_t sent_ns, int64_t end_ns, enum failure failure)
{
    const struct request request = { .due_ns = sent_ns,
                                     .sent_ns = sent_ns,
                                     .end_ns = end_ns,
                                     .prompt_tokens = -1,
                                     .completion_tokens = -1,
                                     .failure = failure };

    tally_request(tally, &request, end_ns);
}

static void requests_unanswered_throughout_the_window_are_counted_as_held(void **state)
{
    struct load load = load_with_window(NULL);
    struct tally tally, total;
    struct measurement measurement = { 0 };

    (void)state;
    tally_init(&tally, &load);
    tally_init(&total, &load);
    count(&tally, 99 * S, 140 * S, FAILURE_CANCELLED);
    count(&tally, 40 * S, 135 * S, FAILURE_TTFT_TIMEOUT);
    count(&tally, 99 * S, 131 * S, FAILURE_NONE);       /* it succeeded */
    count(&tally, 101 * S, 140 * S, FAILURE_CANCELLED); /* sent in the window */
    count(&tally, 99 * S, 120 * S, FAILURE_TTFT_TIMEOUT);
    count(&tally, 0, 140 * S, FAILURE_CANCELLED); /* never sent */
    assert_int_equal(tally.attempted, 1);
    assert_int_equal(tally.held, 2);
    tally_merge(&total, &tally);
    cell_summary_fill(&total, 30, 16, &measurement);
    assert_int_equal(measurement.held, 2);
    tally_finish(&tally);
    tally_finish(&total);
}

static void in_an_open_loop_unanswered_requests_count_as_attempted(void **state)
{
    const struct arrivals arrivals = { .process = ARRIVAL_CONSTANT, .rate = 1 };
    struct load load = load_with_window(&arrivals);
    struct tally tally;

    (void)state;
    tally_init(&tally, &load);
    count(&tally, 99 * S, 140 * S, FAILURE_CANCELLED); /* due before the window */
    count(&tally, 101 * S, 140 * S, FAILURE_CANCELLED);
    tally_unsent(&tally, 129 * S, 140 * S, true);
    tally_unsent(&tally, 130 * S, 140 * S, true); /* due after the window */
    assert_int_equal(tally.attempted, 2);
    assert_int_equal(tally.unanswered, 2);
    assert_int_equal(tally.unsent, 1);
    assert_int_equal(tally.held, 0);
    assert_int_equal(histogram_censored(tally.latency[METRIC_E2E]), 2);
    assert_int_equal(histogram_min(tally.latency[METRIC_QUEUE]), 0);
    tally_finish(&tally);
}

static void an_unsent_request_counts_as_late_unless_too_many_were_in_flight(void **state)
{
    const struct arrivals arrivals = { .process = ARRIVAL_CONSTANT, .rate = 1 };
    struct load load = load_with_window(&arrivals);
    struct tally tally;

    (void)state;
    tally_init(&tally, &load);
    tally_unsent(&tally, 120 * S, 140 * S, true);
    assert_int_equal(tally.waited, 1);
    assert_int_equal(histogram_count(tally.start_lag), 0);
    tally_unsent(&tally, 121 * S, 140 * S, false);
    assert_int_equal(tally.waited, 1);
    assert_int_equal(histogram_count(tally.start_lag), 1);
    assert_true(histogram_max(tally.start_lag) > 18 * S);
    tally_finish(&tally);
}

static void long_windows_of_many_users_do_not_overflow(void **state)
{
    struct load load = load_with_window(NULL);
    struct measurement measurement = { 0 };
    struct tally tally;

    (void)state;
    atomic_store(&load.window_end_ns, 100 * S + 7 * 86400 * S); /* a week */
    tally_init(&tally, &load);
    for (int i = 0; i < 10000; i++)
        tally_sent(&tally, 50 * S);
    tally_close(&tally, 101 * S + 7 * 86400 * S);
    cell_summary_fill(&tally, 7 * 86400.0, 16, &measurement);
    assert_true(measurement.concurrency_actual == 10000);
    tally_finish(&tally);
}

/* Records an answer of eight chunks, one per second. Each chunk reports the usage of the whole
 * answer. */
static void answer_with_repeated_usage(struct tally *tally, int64_t first_ns)
{
    const struct completion_event chunk = { .has_content = true,
                                            .has_usage = true,
                                            .prompt_tokens = 4,
                                            .completion_tokens = 8,
                                            .cached_tokens = -1,
                                            .reasoning_tokens = -1,
                                            .token_ids = -1 };
    struct request request = { .sent_ns = first_ns - S, .due_ns = first_ns - S };

    for (int i = 0; i < 8; i++) {
        request.bytes_ns = request.end_ns = first_ns + i * S;
        stream_events_record(tally, &request, &chunk);
    }
    tally_request(tally, &request, request.end_ns);
}

/* The first answer begins before the window, and the third ends after it. */
static void an_answers_total_usage_in_each_chunk_is_not_counted_as_the_chunks_own(void **state)
{
    struct load load = load_with_window(NULL);
    struct tally tally;

    (void)state;
    tally_init(&tally, &load);
    answer_with_repeated_usage(&tally, 96 * S);
    answer_with_repeated_usage(&tally, 110 * S);
    answer_with_repeated_usage(&tally, 126 * S);
    tally_conclude(&tally);
    assert_true(tally_tokens_per_chunk(&tally) == 1);
    assert_int_equal(histogram_count(tally.latency[METRIC_TPOT]), 2);
    assert_int_equal(histogram_count(tally.latency[METRIC_ITL]),
                     histogram_count(tally.latency[METRIC_ICL]));
    tally_finish(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_unanswered_throughout_the_window_are_counted_as_held),
        cmocka_unit_test(in_an_open_loop_unanswered_requests_count_as_attempted),
        cmocka_unit_test(an_unsent_request_counts_as_late_unless_too_many_were_in_flight),
        cmocka_unit_test(long_windows_of_many_users_do_not_overflow),
        cmocka_unit_test(an_answers_total_usage_in_each_chunk_is_not_counted_as_the_chunks_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
