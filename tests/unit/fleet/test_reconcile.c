/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/reconcile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/metrics_map.h"

/* Compares the counts after we sent 100 requests, each with 1000 input tokens and 16 output tokens.
 * The server counted these plus the given numbers of further requests and tokens (negative: it
 * counted fewer; NaN: it does not report that count). */
static struct reconciliation with_excess(double requests, double input, double output)
{
    const struct sent sent = { .requests = 100, .input_tokens = 100000, .output_tokens = 1600 };
    struct engine_metrics_snapshot first, last;
    struct reconciliation counts;

    metrics_map_clear(&first);
    first.requests_total = first.prompt_tokens_total = first.generation_tokens_total = 50;
    last = first;
    last.requests_total += 100 + requests;
    last.prompt_tokens_total += 100000 + input;
    last.generation_tokens_total += 1600 + output;
    reconcile(&first, &last, &sent, &counts);
    return counts;
}

static void the_counts_agree_if_all_requests_are_ours(void **state)
{
    const struct reconciliation counts = with_excess(0, 0, 0);

    (void)state;
    assert_false(counts.has_foreign);
    assert_false(counts.is_shortfall);
}

static void one_extra_request_shows_another_client(void **state)
{
    const struct reconciliation counts = with_excess(1, 1000, 16);
    TEXT_AUTO words = { 0 };

    (void)state;
    assert_true(counts.has_foreign);
    reconcile_describe(&counts, &words);
    assert_string_equal(text_string(&words), "1 request");
}

/* If another client cancels a request, only the token counters grow. */
static void many_extra_tokens_show_another_client_without_an_extra_request(void **state)
{
    (void)state;
    assert_true(with_excess(0, 5000, 0).has_foreign);
    assert_true(with_excess(0, 0, 300).has_foreign);
}

static void one_more_token_for_each_request_does_not_show_another_client(void **state)
{
    (void)state;
    assert_false(with_excess(0, 100, 100).has_foreign);
}

static void without_a_request_count_a_tenth_more_tokens_shows_another_client(void **state)
{
    (void)state;
    assert_true(with_excess(NAN, 10000, 160).has_foreign);
    assert_true(with_excess(NAN, 0, 160).has_foreign);
    assert_false(with_excess(NAN, 500, 10).has_foreign);
    /* a server that does not count prompts that it finds in its cache */
    assert_true(with_excess(NAN, -100000, 160).has_foreign);
}

static void nothing_is_concluded_if_nothing_is_reported(void **state)
{
    const struct reconciliation counts = with_excess(NAN, NAN, NAN);

    (void)state;
    assert_false(counts.has_foreign);
    assert_false(counts.is_shortfall);
}

/* Until a server has answered its first request, counters can be missing or lack label sets. */
static void a_counter_missing_from_the_first_snapshot_counts_from_zero(void **state)
{
    static const char before[] = "vllm:num_requests_running 0\n",
                      after[] = "vllm:prompt_tokens_total 100500\n"
                                "vllm:request_success_total{finished_reason=\"stop\"} 70\n"
                                "vllm:request_success_total{finished_reason=\"length\"} 34\n";
    const struct sent sent = { .requests = 100, .input_tokens = 100000, .output_tokens = 1600 };
    struct engine_metrics_snapshot first, last;
    struct reconciliation counts;

    (void)state;
    metrics_map_clear(&first);
    metrics_map_clear(&last);
    metrics_map(before, sizeof before - 1, &first);
    metrics_map(after, sizeof after - 1, &last);
    reconcile(&first, &last, &sent, &counts);
    assert_true(counts.has_foreign);
    assert_true(counts.counts[COUNT_REQUESTS].foreign == 4);
    assert_true(counts.counts[COUNT_INPUT].server == 100500);
    assert_true(isnan(counts.counts[COUNT_OUTPUT].server));
}

static void a_label_set_missing_from_the_first_snapshot_counts_in_full(void **state)
{
    static const char before[] = "vllm:request_success_total{finished_reason=\"stop\"} 1000\n",
                      after[] = "vllm:request_success_total{finished_reason=\"stop\"} 1060\n"
                                "vllm:request_success_total{finished_reason=\"length\"} 42\n";
    const struct sent sent = { .requests = 100 };
    struct engine_metrics_snapshot first, last;
    struct reconciliation counts;

    (void)state;
    metrics_map_clear(&first);
    metrics_map_clear(&last);
    metrics_map(before, sizeof before - 1, &first);
    metrics_map(after, sizeof after - 1, &last);
    reconcile(&first, &last, &sent, &counts);
    assert_true(counts.counts[COUNT_REQUESTS].server == 102);
    assert_true(counts.counts[COUNT_REQUESTS].foreign == 2);
}

static void counts_far_below_ours_are_a_shortfall(void **state)
{
    (void)state;
    assert_true(with_excess(-50, -50000, -800).is_shortfall);
    assert_false(with_excess(-5, -5000, -80).is_shortfall);
    assert_true(with_excess(NAN, NAN, -800).is_shortfall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_counts_agree_if_all_requests_are_ours),
        cmocka_unit_test(one_extra_request_shows_another_client),
        cmocka_unit_test(many_extra_tokens_show_another_client_without_an_extra_request),
        cmocka_unit_test(one_more_token_for_each_request_does_not_show_another_client),
        cmocka_unit_test(without_a_request_count_a_tenth_more_tokens_shows_another_client),
        cmocka_unit_test(nothing_is_concluded_if_nothing_is_reported),
        cmocka_unit_test(a_counter_missing_from_the_first_snapshot_counts_from_zero),
        cmocka_unit_test(a_label_set_missing_from_the_first_snapshot_counts_in_full),
        cmocka_unit_test(counts_far_below_ours_are_a_shortfall),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
