/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/evenness.h"

#include <math.h>
#include <stdio.h>

/* Time between two samples; beyond it the client itself was delayed. */
#define LONGEST_LOOK_NS 250000000
#define SHORTEST_SILENCE_S 1.0
/* one user is normally silent for up to this many times the median TTFT */
#define FIRST_TOKENS 5
#define FIRST_TOKENS_VARIED 20 /* if its prompts have different lengths */
#define WIDEST 1.0             /* an interval of +-100 % is not a usable figure, */
#define WIDEST_REQUESTS 30     /* unless few requests are the reason, */
#define WIDEST_ROUNDS 8        /* or their waves */
#define SHIFT 0.25             /* change of the mean, from before a moment to after it, */
#define SHIFT_ERRORS 6         /* and this many times its standard error */
#define SHIFT_ROUNDS 4         /* with fewer, longer contexts may be why the rest is slower */
#define SHIFT_WINDOW_S 3.0

void evenness_note(struct evenness *evenness, int64_t now_ns, int64_t chunks, int64_t in_flight)
{
    int64_t since_ns = now_ns - evenness->seen_ns;

    if (evenness->seen_ns == 0 || chunks != evenness->chunks || in_flight == 0)
        evenness->silence_ns = 0;
    else
        evenness->silence_ns += since_ns < LONGEST_LOOK_NS ? since_ns : LONGEST_LOOK_NS;
    if (evenness->silence_ns > evenness->longest_ns)
        evenness->longest_ns = evenness->silence_ns;
    evenness->chunks = chunks;
    evenness->seen_ns = now_ns;
}

/* Whether this is longer than the silence of a single user who waits for a first token. */
static bool has_stalled(const struct plan *plan, const struct measurement *measurement)
{
    double first_s = measurement->latency[METRIC_TTFT].p50_ms / 1000;
    double gap_s = measurement->latency[METRIC_ICL].p50_ms / 1000;
    int times = plan->input_distribution == DISTRIBUTION_FIXED ? FIRST_TOKENS : FIRST_TOKENS_VARIED;

    return measurement->silence_s
           > fmax(SHORTEST_SILENCE_S, fmax(times * first_s, FIRST_TOKENS * gap_s));
}

/* How many answers each user received, on average. */
static double rounds(const struct plan *plan, const struct measurement *measurement)
{
    return measurement->window_s
           / (measurement->latency[METRIC_E2E].mean_ms / 1000 + plan->think_time_s);
}

/* Only for a closed loop: in an open one the rate is that of the arrivals. */
static bool is_unknown(const struct plan *plan, const struct measurement *measurement)
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

/* The change, as a share of the rate before it. */
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
                 "nothing came for %.1f s in the middle, though requests were in flight",
                 out->silence_s);
    else if (is_unknown(plan, out))
        snprintf(reason, EVENNESS_SIZE, "the throughput is only known to +-%.0f %%",
                 100 * out->throughput_ci);
    else if (has_shifted(plan, out, progress, &shift))
        snprintf(reason, EVENNESS_SIZE, "after %.1f s of the window the server became %.0f %% %s",
                 shift.at * out->window_s, percent_of_change(&shift),
                 shift.share < 0 ? "slower" : "faster");
    out->uneven = reason[0] != '\0';
}
