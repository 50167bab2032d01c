/* SPDX-License-Identifier: Apache-2.0 */
#include "base/measure/slo.h"

#include <math.h>
#include <string.h>

#include "base/json/json.h"

static int64_t read_percentile(const json_t *plan)
{
    const char *name = json_get_text(plan, "limit_percentile", "p99");

    if (strcmp(name, "p50") == 0)
        return 50;
    if (strcmp(name, "p90") == 0)
        return 90;
    return strcmp(name, "p95") == 0 ? 95 : 99;
}

void slo_from_plan(const json_t *plan, struct slo *out)
{
    *out = (struct slo){
        .percentile = read_percentile(plan),
        .ttft_ms = json_get_number(plan, "limit_ttft_ms", 0),
        .itl_ms = json_get_number(plan, "limit_itl_ms", 0),
        .tpot_ms = json_get_number(plan, "limit_tpot_ms", 0),
        .e2e_ms = json_get_number(plan, "limit_e2e_ms", 0),
        .error_rate = json_get_number(plan, "limit_error_rate", 0),
    };
}

bool slo_are_stated(const struct slo *limits)
{
    return limits->ttft_ms > 0 || limits->itl_ms > 0 || limits->tpot_ms > 0 || limits->e2e_ms > 0
           || limits->error_rate > 0;
}

static double percentile_of(const struct latency_summary *latency, int64_t percentile,
                            bool *censored)
{
    switch (percentile) {
    case 50:
        *censored = latency->p50_censored;
        return latency->p50_ms;
    case 90:
        *censored = latency->p90_censored;
        return latency->p90_ms;
    case 95:
        *censored = latency->p95_censored;
        return latency->p95_ms;
    default:
        *censored = latency->p99_censored;
        return latency->p99_ms;
    }
}

static struct slo_nearest latency_nearest(const struct slo *limits, const char *name,
                                          double limit_ms, const struct latency_summary *latency)
{
    bool censored;
    double value = percentile_of(latency, limits->percentile, &censored);

    return (struct slo_nearest){ .ratio = latency->count == 0 || !isfinite(value) || censored
                                              ? INFINITY
                                              : value / limit_ms,
                                 .name = name,
                                 .unit = " ms",
                                 .value = value,
                                 .limit = limit_ms };
}

static struct slo_nearest errors_nearest(const struct slo *limits, const struct measurement *m)
{
    double limit = limits->error_rate > 0 ? limits->error_rate : SLO_ERROR_RATE;
    double rate = 1 - m->success_rate;
    bool met = m->succeeded > 0 && rate <= limit + 1e-12;

    return (struct slo_nearest){ met ? 0 : INFINITY, "error rate", "", rate, limit };
}

struct slo_nearest slo_find_nearest(const struct slo *limits, const struct measurement *measurement)
{
    const struct latency_summary *latency = measurement->latency;
    const struct {
        const char *name;
        double limit_ms;
        const struct latency_summary *latency;
    } each[] = { { "TTFT", limits->ttft_ms, &latency[METRIC_TTFT] },
                 { "ITL", limits->itl_ms, &latency[METRIC_ITL] },
                 { "TPOT", limits->tpot_ms, &latency[METRIC_TPOT] },
                 { "E2E", limits->e2e_ms, &latency[METRIC_E2E] } };
    struct slo_nearest worst = errors_nearest(limits, measurement);

    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct slo_nearest nearest;

        if (!(each[i].limit_ms > 0))
            continue;
        nearest = latency_nearest(limits, each[i].name, each[i].limit_ms, each[i].latency);
        if (nearest.ratio > worst.ratio)
            worst = nearest;
    }
    return worst;
}
