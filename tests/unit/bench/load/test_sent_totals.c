/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/sent_totals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/load/tally.h"

#define ASKED 16

static struct request answered(int64_t prompt_tokens, int64_t completion_tokens)
{
    return (struct request){ .sends = 1,
                             .chunks = 10,
                             .wanted.output_tokens = ASKED,
                             .prompt_tokens = prompt_tokens,
                             .completion_tokens = completion_tokens };
}

static void sums_the_requests_that_were_answered_in_full(void **state)
{
    const struct request request = answered(100, 16);
    struct sent_totals_sums sums = { 0 }, other = { 0 };
    struct sent sent;

    (void)state;
    for (int i = 0; i < 3; i++)
        sent_totals_add(i < 2 ? &sums : &other, &request);
    sent_totals_merge(&sums, &other);
    sent = sent_totals_total(&sums, 100);
    assert_int_equal(sent.requests, 3);
    assert_int_equal(sent.input_tokens, 300);
    assert_int_equal(sent.output_tokens, 48);
    assert_int_equal(sent.more_requests + sent.more_input_tokens + sent.more_output_tokens, 0);
    assert_false(sent.input_unknown);
}

/* The server may have counted all tokens of a failed request. Its prompt is assumed to have the
 * length that the server reported for it or, if there is none, the longest reported for any
 * request. Its answer is assumed to be as long as the longest that was requested or reported. */
static void a_failed_request_may_have_been_counted_in_full(void **state)
{
    const struct request whole = answered(100, 16);
    struct request cut = answered(-1, -1), reported = answered(90, 7);
    struct sent_totals_sums sums = { 0 };
    struct sent sent;

    (void)state;
    cut.failure = FAILURE_CANCELLED;
    reported.failure = FAILURE_SHORT_OUTPUT;
    sent_totals_add(&sums, &cut);
    sent_totals_add(&sums, &whole);
    sent_totals_add(&sums, &reported);
    sent = sent_totals_total(&sums, 64);
    assert_int_equal(sent.requests, 1);
    assert_int_equal(sent.more_requests, 2);
    assert_int_equal(sent.more_input_tokens, 190);
    assert_int_equal(sent.more_output_tokens, 32);
}

/* An answer that was cut off is assumed to be as long as the longest answer reported for any
 * request. */
static void an_answer_that_was_cut_off_may_have_been_as_long_as_the_longest(void **state)
{
    const struct request longest = answered(100, 64);
    struct request cut = answered(-1, -1);
    struct sent_totals_sums sums = { 0 };

    (void)state;
    cut.failure = FAILURE_CANCELLED;
    sent_totals_add(&sums, &cut);
    sent_totals_add(&sums, &longest);
    assert_int_equal(sent_totals_total(&sums, 64).more_output_tokens, 64);
}

static void unsent_requests_are_not_counted(void **state)
{
    struct request unsent = answered(-1, -1);
    struct sent_totals_sums sums = { 0 };

    (void)state;
    unsent.sends = 0;
    unsent.failure = FAILURE_CONNECT_REFUSED;
    sent_totals_add(&sums, &unsent);
    assert_int_equal(sent_totals_total(&sums, 64).more_requests, 0);
}

static void a_request_that_was_sent_twice_may_count_twice(void **state)
{
    struct request again = answered(100, 16);
    struct sent_totals_sums sums = { 0 };
    struct sent sent;

    (void)state;
    again.sends = 2;
    sent_totals_add(&sums, &again);
    sent = sent_totals_total(&sums, 100);
    assert_int_equal(sent.requests, 1);
    assert_int_equal(sent.more_requests, 1);
    assert_int_equal(sent.more_input_tokens, 100);
    assert_int_equal(sent.more_output_tokens, 16);
}

static void answers_without_usage_leave_a_range_of_output_tokens(void **state)
{
    const struct request silent = answered(-1, -1);
    struct sent_totals_sums sums = { 0 };
    struct sent sent;

    (void)state;
    sent_totals_add(&sums, &silent);
    sent = sent_totals_total(&sums, 100);
    assert_int_equal(sent.requests, 1);
    assert_true(sent.input_unknown);
    assert_int_equal(sent.output_tokens, 10);
    assert_int_equal(sent.more_output_tokens, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_the_requests_that_were_answered_in_full),
        cmocka_unit_test(a_failed_request_may_have_been_counted_in_full),
        cmocka_unit_test(an_answer_that_was_cut_off_may_have_been_as_long_as_the_longest),
        cmocka_unit_test(unsent_requests_are_not_counted),
        cmocka_unit_test(a_request_that_was_sent_twice_may_count_twice),
        cmocka_unit_test(answers_without_usage_leave_a_range_of_output_tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
