/* Plain statistics on arrays of doubles. */
#pragma once

#include <stddef.h>

double statistics_mean(const double *values, size_t count); /* NaN when empty */
double statistics_deviation(const double *values,
                            size_t count);              /* sample standard deviation, NaN below 2 */
double statistics_median(double *values, size_t count); /* sorts in place; NaN when empty */
/* Two-sided 95 % quantile of Student's t: to 30 degrees of freedom from the table of the
 * NIST/SEMATECH e-Handbook (1.3.6.7.2), above by Abramowitz and Stegun 26.7.5. Infinite for 0. */
double statistics_t95(size_t degrees_of_freedom);
