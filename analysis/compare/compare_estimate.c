/* SPDX-License-Identifier: Apache-2.0 */
/* Compares one quantity of two sides: ratio, interval, p and verdict. */
#include <math.h>

#include "analysis/compare/compare.h"
#include "base/stats/statistics.h"

enum verdict compare_verdict(const struct estimate *estimate, double p, bool higher_is_better)
{
    if (!(p < COMPARE_SIGNIFICANCE))
        return VERDICT_NO_EVIDENCE;
    return (estimate->ratio > 1) == higher_is_better ? VERDICT_FASTER : VERDICT_SLOWER;
}

/* Returns the estimate for a difference of mean logarithms with this standard error and these
 * degrees of freedom. `baseline`: the baseline's mean logarithm. */
static struct estimate estimate_of(double baseline, double difference, double error, double freedom,
                                   bool higher_is_better)
{
    struct estimate estimate = {
        .values = { exp(baseline), exp(baseline + difference) },
        .ratio = exp(difference),
        .low = NAN,
        .high = NAN,
        .p = NAN,
        .p_corrected = NAN,
        .verdict = VERDICT_NO_EVIDENCE,
    };
    double half;

    if (!(error > 1e-12)) /* a side has only one run, or the figures have no spread */
        return estimate;
    half = statistics_t_quantile(COMPARE_SIGNIFICANCE, freedom) * error;
    estimate.low = exp(difference - half);
    estimate.high = exp(difference + half);
    estimate.p = estimate.p_corrected = statistics_t_p(difference / error, freedom);
    estimate.verdict = compare_verdict(&estimate, estimate.p, higher_is_better);
    return estimate;
}

struct estimate compare_estimate_pairs(const double *baseline, const double *candidate,
                                       size_t count, bool higher_is_better)
{
    double differences[COMPARE_RUNS_MAX] = { 0 }, error;

    for (size_t i = 0; i < count; i++)
        differences[i] = candidate[i] - baseline[i];
    error = statistics_deviation(differences, count) / sqrt((double)count);
    return estimate_of(statistics_mean(baseline, count), statistics_mean(differences, count), error,
                       (double)count - 1, higher_is_better);
}

/* Welch, B. L., Biometrika 34 (1947): t-test on two means whose variances can differ, with
 * the degrees of freedom of Welch and Satterthwaite. */
struct estimate compare_estimate(const double *baseline, size_t baseline_count,
                                 const double *candidate, size_t candidate_count,
                                 bool higher_is_better)
{
    double means[SIDES] = { statistics_mean(baseline, baseline_count),
                            statistics_mean(candidate, candidate_count) };
    double deviations[SIDES] = { statistics_deviation(baseline, baseline_count),
                                 statistics_deviation(candidate, candidate_count) };
    double b = deviations[SIDE_BASELINE] * deviations[SIDE_BASELINE] / (double)baseline_count;
    double c = deviations[SIDE_CANDIDATE] * deviations[SIDE_CANDIDATE] / (double)candidate_count;
    double freedom =
        (b + c) * (b + c)
        / (b * b / (double)(baseline_count - 1) + c * c / (double)(candidate_count - 1));

    return estimate_of(means[SIDE_BASELINE], means[SIDE_CANDIDATE] - means[SIDE_BASELINE],
                       sqrt(b + c), freedom, higher_is_better);
}
