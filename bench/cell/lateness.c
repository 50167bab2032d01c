/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/lateness.h"

#include <math.h>

/* A figure counts as right if its error is at most ERROR_SHARE of the figure. Latencies also count
 * as right if the client adds at most MEAN_LATE_MS to the mean TTFT, TAIL_LATE_MS to a 99th
 * percentile, or GAP_LATE_MS to a gap between chunks. */
#define ERROR_SHARE 0.02
#define MEAN_LATE_MS 1.0
#define TAIL_LATE_MS 3.0
#define GAP_LATE_MS 0.5
#define BUSY_PERCENT 85 /* a thread that uses more than this share of a core is too busy */
/* If a load thread waits for a CPU for more than this percentage of the window, other processes are
 * keeping the machine busy. */
#define CROWDED_PERCENT 2

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* The largest relative error in rates and mean latencies that the client's lateness can cause. Two
 * delays lengthen a user's round: the one before its answer is read, and the one before its next
 * request is sent. The first delay lengthens TTFT; in an open loop, where TTFT counts from the
 * scheduled time, both do. A delay of up to MEAN_LATE_MS does not count as an error in TTFT. */
static double error_share(const struct measurement *measurement, bool is_open)
{
    const struct latency_summary *latency = measurement->latency;
    double read_lag_ms = measurement->lag_mean_ms, start_lag_ms = measurement->start_lag_mean_ms;
    double ttft_lag_ms = read_lag_ms + (is_open ? start_lag_ms : 0);
    double of_rounds = share(read_lag_ms + start_lag_ms, latency[METRIC_E2E].mean_ms);
    double of_ttft =
        ttft_lag_ms > MEAN_LATE_MS ? share(ttft_lag_ms, latency[METRIC_TTFT].mean_ms) : 0;

    return fmax(of_rounds, of_ttft);
}

static bool gaps_are_late(const struct measurement *measurement)
{
    return measurement->latency[METRIC_ICL].count > 0
           && measurement->lag_p50_ms
                  > fmax(GAP_LATE_MS, ERROR_SHARE * measurement->latency[METRIC_ICL].p50_ms);
}

/* The reported 99th percentile that is normally the shortest: that of the gaps between chunks, if
 * there are any, else that of TTFT. */
static double shortest_tail_ms(const struct measurement *measurement)
{
    const struct latency_summary *latency = measurement->latency;

    return latency[METRIC_ICL].count > 0 ? latency[METRIC_ICL].p99_ms : latency[METRIC_TTFT].p99_ms;
}

void lateness_judge(struct measurement *out, bool is_open)
{
    out->error_share = error_share(out, is_open);
    out->client_limited = out->cpu_percent > BUSY_PERCENT || out->failures[FAILURE_CLIENT_LIMIT] > 0
                          || out->error_share > ERROR_SHARE || gaps_are_late(out);
    out->client_late = out->lag_p99_ms > fmax(TAIL_LATE_MS, ERROR_SHARE * shortest_tail_ms(out));
    out->machine_busy = (out->client_limited || out->client_late)
                        && out->cpu_percent <= BUSY_PERCENT
                        && out->cpu_wait_percent > CROWDED_PERCENT;
}
