/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics on arrays of doubles, and Student's t distribution. */
#pragma once

#include <stddef.h>

double statistics_mean(const double *values, size_t count); /* NaN when empty */
/* The standard deviation of a sample; NaN if there are fewer than 2 values. */
double statistics_deviation(const double *values, size_t count);
/* The two-sided 95 % quantile of Student's t. For up to 30 degrees of freedom, it comes from the
 * table in the NIST/SEMATECH e-Handbook (1.3.6.7.2); for more, from Abramowitz and Stegun 26.7.5.
 * For 0, it is infinite. */
double statistics_t95(size_t degrees_of_freedom);
/* The two-sided p-value of Student's t: the probability of |T| >= |t| by chance. The degrees of
 * freedom n need not be a whole number. The p-value is the incomplete beta function I_x(n/2, 1/2)
 * at x = n / (n + t^2) (Abramowitz and Stegun 26.7.1, 26.5.27), computed with the continued
 * fraction in DLMF 8.17.22. */
double statistics_t_p(double t, double degrees_of_freedom);
/* The t > 0 for which statistics_t_p returns `p`, found by bisection. NaN unless 0 < p < 1 and
 * degrees_of_freedom > 0. */
double statistics_t_quantile(double p, double degrees_of_freedom);
