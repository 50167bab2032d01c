#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

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

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

double statistics_median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, compare);
    if (count % 2 == 1)
        return values[count / 2];
    return values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

double statistics_t95(size_t degrees_of_freedom)
{
    static const double table[] = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
        2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
        2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    };
    static const double z = 1.959964; /* of the normal distribution */
    double n = (double)degrees_of_freedom;

    if (degrees_of_freedom == 0)
        return INFINITY;
    if (degrees_of_freedom <= sizeof table / sizeof *table)
        return table[degrees_of_freedom - 1];
    return z + (pow(z, 3) + z) / (4 * n) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * n * n);
}
