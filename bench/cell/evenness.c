/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/evenness.h"

#include <math.h>
#include <stdio.h>

/* One sample adds at most this much to a silence: if more time has passed since the previous
 * sample, the client itself was delayed. */
#define LONGEST_GAP_NS 250000000
/* A silence counts as a stall if it is longer than SHORTEST_STALL_S, longer than STALL_TIMES times
 * the median TTFT, and longer than STALL_TIMES times the median gap between chunks. Shorter
 * silences are normal, for example while a single user waits for its answer to begin. */
#define SHORTEST_STALL_S 1.0
#define STALL_TIMES 5
#define STALL_TIMES_VARIED 20 /* instead, for the TTFT, if prompts vary in length */
/* The throughput is too uncertain if its confidence interval is wider than +-100 % (WIDEST),
 * although the window had at least WIDEST_REQUESTS requests, and WIDEST_ROUNDS per user on
 * average. */
#define WIDEST 1.0
#define WIDEST_REQUESTS 30
#define WIDEST_ROUNDS 8
/* The pace has shifted if the mean rates before and after a moment differ by more than SHIFT, as a
 * share of their mean, and by more than SHIFT_ERRORS standard errors. This is judged only in
 * windows of at least SHIFT_WINDOW_S, with at least SHIFT_ROUNDS answers per user on average: in
 * shorter ones, the later part might be slower only because the contexts have grown. */
#define SHIFT 0.25
#define SHIFT_ERRORS 6
#define SHIFT_ROUNDS 4
#define SHIFT_WINDOW_S 3.0

void evenness_note(struct evenness *evenness, int64_t now_ns, int64_t chunks, int64_t in_flight)
{
    int64_t gap_ns = now_ns - evenness->sampled_ns;

    if (evenness->sampled_ns == 0 || chunks != evenness->chunks || in_flight == 0)
        evenness->silence_ns = 0;
    else
        evenness->silence_ns += gap_ns < LONGEST_GAP_NS ? gap_ns : LONGEST_GAP_NS;
    if (evenness->silence_ns > evenness->longest_ns)
        evenness->longest_ns = evenness->silence_ns;
    evenness->chunks = chunks;
    evenness->sampled_ns = now_ns;
}

/* Whether the longest silence was longer than is normal for a single user. */
static bool has_stalled(const struct plan *plan, const struct measurement *measurement)
{
    double first_s = measurement->latency[METRIC_TTFT].p50_ms / 1000;
    double gap_s = measurement->latency[METRIC_ICL].p50_ms / 1000;
    int times = plan->input_distribution == DISTRIBUTION_FIXED ? STALL_TIMES : STALL_TIMES_VARIED;

    return measurement->silence_s
           > fmax(SHORTEST_STALL_S, fmax(times * first_s, STALL_TIMES * gap_s));
}

/* How many answers a user receives in the window, on average. */
static double rounds(const struct plan *plan, const struct measurement *measurement)
{
    return measurement->window_s
           / (measurement->latency[METRIC_E2E].mean_ms / 1000 + plan->think_time_s);
}

/* Whether the throughput is too uncertain to be used. False in an open loop, where the arrivals
 * determine the throughput. */
static bool is_uncertain(const struct plan *plan, const struct measurement *measurement)
{
    return plan->arrival == ARRIVAL_CLOSED && measurement->throughput_ci > WIDEST
           && measurement->attempted >= WIDEST_REQUESTS
           && rounds(plan, measurement) >= WIDEST_ROUNDS;
}

static bool has_shifted(const struct plan *plan, const struct measurement *measurement,
                        const struct steady *progress, struct steady_shift *shift)
{
    return plan->arrival == ARRIVAL_CLOSED && measurement->window_s >= SHIFT_WINDOW_S
           && rounds(plan, measurement) >= SHIFT_ROUNDS && steady_find_shift(progress, shift)
           && fabs(shift->share) > fmax(SHIFT, SHIFT_ERRORS * shift->error);
}

/* The size of the change, in percent of the rate before it. */
static double percent_of_change(const struct steady_shift *shift)
{
    return 100 * fabs(shift->share) / (1 - shift->share / 2);
}

void evenness_judge(const struct evenness *evenness, const struct steady *progress,
                    const struct plan *plan, struct measurement *out, char reason[EVENNESS_SIZE])
{
    struct steady_shift shift;

    reason[0] = '\0';
    out->silence_s = (double)evenness->longest_ns / 1e9;
    if (has_stalled(plan, out))
        snprintf(reason, EVENNESS_SIZE,
                 "nothing arrived for %.1f s during the window, though requests were in flight",
                 out->silence_s);
    else if (is_uncertain(plan, out))
        snprintf(reason, EVENNESS_SIZE, "the throughput is only known to +-%.0f %%",
                 100 * out->throughput_ci);
    else if (has_shifted(plan, out, progress, &shift))
        snprintf(reason, EVENNESS_SIZE, "after %.1f s of the window, the server became %.0f %% %s",
                 shift.at * out->window_s, percent_of_change(&shift),
                 shift.share < 0 ? "slower" : "faster");
    out->uneven = reason[0] != '\0';
}
