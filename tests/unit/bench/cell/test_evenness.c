/* SPDX-License-Identifier: Apache-2.0 */
/* Tests with made-up samples what counts as a stall or a change of speed. */
#include "bench/cell/evenness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/random.h"

#define SAMPLE_NS 50000000

/* A window, and what a cell knows about it. */
struct window {
    struct plan plan;
    struct evenness evenness;
    struct steady steady;
    struct measurement measurement;
    int64_t now_ns, chunks;
    char reason[EVENNESS_SIZE];
};

static struct window begin(double ttft_s, double e2e_s)
{
    struct window window = { .now_ns = SAMPLE_NS };

    window.measurement.latency[METRIC_TTFT].p50_ms = ttft_s * 1000;
    window.measurement.latency[METRIC_ICL].p50_ms = 20;
    window.measurement.latency[METRIC_E2E].mean_ms = e2e_s * 1000;
    return window;
}

static void add_sample(struct window *window, int64_t new_chunks, int64_t in_flight)
{
    window->now_ns += SAMPLE_NS;
    window->chunks += new_chunks;
    steady_add(&window->steady, window->now_ns, window->chunks);
    evenness_note(&window->evenness, window->now_ns, window->chunks, in_flight);
}

static void add_samples(struct window *window, double seconds, int64_t chunks_per_sample)
{
    for (int i = 0; i < (int)(seconds * 1e9 / SAMPLE_NS); i++)
        add_sample(window, chunks_per_sample, 4);
}

/* Judges the window, and returns whether its pace was uneven. */
static bool judge(struct window *window)
{
    window->measurement.window_s = (double)window->now_ns / 1e9;
    window->measurement.attempted = (int64_t)(4e3 * window->measurement.window_s
                                              / window->measurement.latency[METRIC_E2E].mean_ms);
    window->measurement.throughput_ci = steady_half_width(&window->steady);
    evenness_judge(&window->evenness, &window->steady, &window->plan, &window->measurement,
                   window->reason);
    steady_finish(&window->steady);
    return window->measurement.uneven;
}

static void a_constant_pace_is_even(void **state)
{
    struct window window = begin(0.1, 1);

    (void)state;
    add_samples(&window, 10, 8);
    assert_false(judge(&window));
    assert_string_equal(window.reason, "");
}

static void ten_seconds_without_a_chunk_count_as_a_stall(void **state)
{
    struct window window = begin(0.1, 1.5);

    (void)state;
    add_samples(&window, 3, 8);
    add_samples(&window, 10, 0);
    add_samples(&window, 2, 8);
    assert_true(judge(&window));
    assert_string_equal(
        window.reason,
        "nothing arrived for 10.0 s during the window, though requests were in flight");
}

static void waiting_for_long_prompts_is_not_a_stall(void **state)
{
    struct window window = begin(1, 2);

    (void)state;
    for (int i = 0; i < 6; i++) {
        add_samples(&window, 1.2, 0);
        add_samples(&window, 0.8, 8);
    }
    assert_false(judge(&window));
}

/* The client slept and did not read what arrived in the meantime. */
static void time_without_samples_does_not_count_as_silence(void **state)
{
    struct window window = begin(0.1, 1);

    (void)state;
    add_samples(&window, 2, 8);
    window.now_ns += 5000000000;
    add_sample(&window, 0, 4);
    add_samples(&window, 2, 8);
    judge(&window);
    assert_true(window.measurement.silence_s < 0.5);
}

static void silence_with_nothing_in_flight_is_not_a_stall(void **state)
{
    struct window window = begin(0.1, 0.2);

    (void)state;
    window.plan.think_time_s = 2;
    for (int i = 0; i < 5; i++) {
        for (int idle = 0; idle < 40; idle++)
            add_sample(&window, 0, 0);
        add_samples(&window, 0.2, 8);
    }
    assert_false(judge(&window));
}

static void a_change_of_speed_is_reported_only_in_a_closed_loop(void **state)
{
    struct window slower = begin(0.1, 1), faster = begin(0.1, 1), open = begin(0.1, 1);

    (void)state;
    add_samples(&slower, 5, 8);
    add_samples(&slower, 5, 4);
    assert_true(judge(&slower));
    assert_string_equal(slower.reason, "after 5.0 s of the window, the server became 50 % slower");
    add_samples(&faster, 3, 6);
    add_samples(&faster, 7, 8);
    assert_true(judge(&faster));
    assert_string_equal(faster.reason, "after 3.0 s of the window, the server became 33 % faster");
    open.plan.arrival = ARRIVAL_POISSON; /* fewer arrivals could explain the change */
    add_samples(&open, 5, 8);
    add_samples(&open, 5, 4);
    assert_false(judge(&open));
}

/* One answer takes most of the window. As its context grows, each token takes longer. */
static void a_long_answer_that_slows_down_does_not_make_the_pace_uneven(void **state)
{
    struct window window = begin(0.1, 8);

    (void)state;
    for (int i = 0; i < 10; i++)
        add_samples(&window, 1, 20 - i);
    assert_false(judge(&window));
}

/* In each window, 1 to 16 users send about 10 requests each; the answers have random lengths. */
static void random_answer_lengths_do_not_make_the_pace_uneven(void **state)
{
    struct generator generator;

    (void)state;
    generator_init(&generator, 7);
    for (int run = 0; run < 2000; run++) {
        int users = 1 << (run % 5);
        double left_s[16] = { 0 }, e2e_s = 0.8;
        struct window window = begin(0.2, e2e_s);

        for (int i = 0; i < 160; i++) {
            int64_t chunks = 0;

            for (int user = 0; user < users; user++) {
                left_s[user] -= 0.05;
                if (left_s[user] <= 0) /* the user sends the next request */
                    left_s[user] = e2e_s * (0.5 + generator_uniform(&generator));
                chunks += left_s[user] < 0.75 * e2e_s ? 2 : 0;
            }
            add_sample(&window, chunks, users);
        }
        if (judge(&window))
            fail_msg("%d users, run %d: %s", users, run, window.reason);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_pace_is_even),
        cmocka_unit_test(ten_seconds_without_a_chunk_count_as_a_stall),
        cmocka_unit_test(waiting_for_long_prompts_is_not_a_stall),
        cmocka_unit_test(time_without_samples_does_not_count_as_silence),
        cmocka_unit_test(silence_with_nothing_in_flight_is_not_a_stall),
        cmocka_unit_test(a_change_of_speed_is_reported_only_in_a_closed_loop),
        cmocka_unit_test(a_long_answer_that_slows_down_does_not_make_the_pace_uneven),
        cmocka_unit_test(random_answer_lengths_do_not_make_the_pace_uneven),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
