/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stats/statistics.h"

#include <math.h>

double statistics_mean(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count > 0 ? sum / (double)count : NAN;
}

double statistics_deviation(const double *values, size_t count)
{
    double mean = statistics_mean(values, count), squares = 0;

    if (count < 2)
        return NAN;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(count - 1));
}

double statistics_t95(size_t degrees_of_freedom)
{
    static const double table[] = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
        2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    };
    static const double z = 1.959964; /* the 97.5 % quantile of the normal distribution */
    double n = (double)degrees_of_freedom;

    if (degrees_of_freedom == 0)
        return INFINITY;
    if (degrees_of_freedom <= sizeof table / sizeof *table)
        return table[degrees_of_freedom - 1];
    return z + (pow(z, 3) + z) / (4 * n) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}

/* The continued fraction of I_x(a, b), by Lentz's method as modified by Thompson and Barnett. It
 * converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
    static const double tiny = 1e-300;
    double c = 1, d = 1 / (1 - (a + b) * x / (a + 1)), value = d;

    for (int m = 1; m <= 500; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

        for (int step = 0; step < 2; step++) {
            double term = step == 0 ? even : odd;

            d = 1 / copysign(fmax(fabs(1 + term * d), tiny), 1 + term * d);
            c = 1 + term / c;
            c = copysign(fmax(fabs(c), tiny), c);
            value *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return value;
}

/* Thread-safe, unlike lgamma, which writes to the global signgam. */
static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

static double beta_incomplete(double x, double a, double b)
{
    double front;

    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double statistics_t_p(double t, double degrees_of_freedom)
{
    double n = degrees_of_freedom;

    return isnan(t) || !(n > 0) ? NAN : beta_incomplete(n / (n + t * t), n / 2, 0.5);
}

double statistics_t_quantile(double p, double degrees_of_freedom)
{
    double low = 0, high = 1;

    if (!(p > 0 && p < 1) || !(degrees_of_freedom > 0))
        return NAN;
    while (high < 1e150 && statistics_t_p(high, degrees_of_freedom) > p)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = low + (high - low) / 2;

        if (statistics_t_p(middle, degrees_of_freedom) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}
