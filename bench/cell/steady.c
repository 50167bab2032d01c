/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cell/steady.h"

#include <math.h>
#include <stdlib.h>

#include "base/core/memory.h"
#include "base/stats/statistics.h"

#define AGREEMENT 0.1
#define BATCHES 20
#define FEWER_BATCHES 10
#define SAMPLES_PER_BATCH 2
#define CORRELATION_MOST 0.95
/* In 5 % of random series of n values, neighbours correlate by more than DEPENDENT / sqrt(n). */
#define DEPENDENT 1.645
#define SHORTEST_PART 4 /* a change must have at least this many batches before it and after it */
#define LEAST_ERROR 1e-6

void steady_finish(struct steady *steady)
{
    free(steady->samples);
    *steady = (struct steady){ 0 };
}

void steady_add(struct steady *steady, int64_t at_ns, int64_t count)
{
    if (steady->count == steady->capacity) {
        steady->capacity = steady->capacity > 0 ? 2 * steady->capacity : 256;
        steady->samples = memory_resize(steady->samples, steady->capacity, sizeof *steady->samples);
    }
    steady->samples[steady->count++] = (struct steady_sample){ at_ns, count };
}

/* The latest sample at or before at_ns; NULL if there is none. */
static const struct steady_sample *find(const struct steady *steady, int64_t at_ns)
{
    for (size_t i = steady->count; i > 0; i--)
        if (steady->samples[i - 1].at_ns <= at_ns)
            return &steady->samples[i - 1];
    return NULL;
}

static double rate(const struct steady_sample *from, const struct steady_sample *to)
{
    return (double)(to->count - from->count) / (double)(to->at_ns - from->at_ns);
}

double steady_rate(const struct steady *steady, int64_t window_ns)
{
    const struct steady_sample *first, *last;

    if (steady->count < 2)
        return NAN;
    last = &steady->samples[steady->count - 1];
    first = find(steady, last->at_ns - window_ns);
    first = first == NULL ? steady->samples : first;
    return first == last ? NAN : rate(first, last) * 1e9;
}

bool steady_agrees(const struct steady *steady, int64_t window_ns)
{
    return steady_agrees_within(steady, window_ns, AGREEMENT);
}

bool steady_agrees_within(const struct steady *steady, int64_t window_ns, double share)
{
    const struct steady_sample *first, *middle, *last;
    double before, after;

    if (steady->count == 0)
        return false;
    last = &steady->samples[steady->count - 1];
    middle = find(steady, last->at_ns - window_ns);
    first = find(steady, last->at_ns - 2 * window_ns);
    if (first == NULL || first == middle || middle == last)
        return false;
    before = rate(first, middle);
    after = rate(middle, last);
    return before > 0 && fabs(before - after) <= share * fmax(before, after);
}

/* ---- How well the rate is known -------------------------------------------------------------- */

/* The count at at_ns, interpolated between the samples before and after that time. *next is the
 * index at which the search for the later sample begins, and is set to that sample's index.
 * Therefore at_ns must not decrease from call to call. */
static double count_at(const struct steady *steady, double at_ns, size_t *next)
{
    const struct steady_sample *to, *from;

    while (*next + 1 < steady->count && (double)steady->samples[*next].at_ns < at_ns)
        (*next)++;
    to = &steady->samples[*next];
    from = *next > 0 ? to - 1 : to;
    if (from == to || to->at_ns == from->at_ns)
        return (double)to->count;
    return (double)from->count
           + rate(from, to) * fmin(at_ns - (double)from->at_ns, (double)(to->at_ns - from->at_ns));
}

/* Divides the time into `batches` equal parts, and sets rates[i] to the growth of the count in part
 * i. As the parts are equally long, the growth is proportional to the rate. */
static void batch_rates(const struct steady *steady, size_t batches, double rates[])
{
    double first_ns = (double)steady->samples[0].at_ns;
    double length_ns =
        ((double)steady->samples[steady->count - 1].at_ns - first_ns) / (double)batches;
    double before = (double)steady->samples[0].count;
    size_t next = 0;

    for (size_t i = 0; i < batches; i++) {
        double after = count_at(steady, first_ns + length_ns * (double)(i + 1), &next);

        rates[i] = after - before;
        before = after;
    }
}

static double neighbour_correlation(const double values[], size_t count)
{
    double mean = statistics_mean(values, count), products = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        squares += (values[i] - mean) * (values[i] - mean);
        if (i > 0)
            products += (values[i] - mean) * (values[i - 1] - mean);
    }
    return squares > 0 ? products / squares : 0;
}

static double half_width_of(const double rates[], size_t batches, double correlation)
{
    double r = fmin(fmax(correlation, 0), CORRELATION_MOST);
    double error = statistics_deviation(rates, batches) / sqrt((double)batches);

    return statistics_t95(batches - 1) * error * sqrt((1 + r) / (1 - r))
           / statistics_mean(rates, batches);
}

double steady_half_width(const struct steady *steady)
{
    double rates[BATCHES], correlation;
    size_t batches = BATCHES;

    if (steady->count <= (size_t)FEWER_BATCHES * SAMPLES_PER_BATCH
        || steady->samples[steady->count - 1].count == steady->samples[0].count)
        return NAN;
    if (steady->count <= (size_t)BATCHES * SAMPLES_PER_BATCH)
        batches = FEWER_BATCHES;
    batch_rates(steady, batches, rates);
    correlation = neighbour_correlation(rates, batches);
    if (batches == BATCHES && correlation > DEPENDENT / sqrt(BATCHES)) {
        batches = FEWER_BATCHES;
        batch_rates(steady, batches, rates);
        correlation = neighbour_correlation(rates, batches);
    }
    return half_width_of(rates, batches, correlation);
}

/* ---- A change of the rate -------------------------------------------------------------------- */

static double squares_around(const double values[], size_t count, double mean)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sum;
}

/* Compares the mean rate of the first `before` batches with that of the others. */
static struct steady_shift shift_at(const double rates[], size_t before)
{
    size_t after = BATCHES - before;
    double first = statistics_mean(rates, before), second = statistics_mean(rates + before, after);
    double squares =
        squares_around(rates, before, first) + squares_around(rates + before, after, second);
    double error = sqrt(squares / (BATCHES - 2) * (1 / (double)before + 1 / (double)after));
    double mean = (first + second) / 2;

    return (struct steady_shift){ .at = (double)before / BATCHES,
                                  .share = (second - first) / mean,
                                  .error = error / mean };
}

static double distinctness(const struct steady_shift *shift)
{
    return fabs(shift->share) / fmax(shift->error, LEAST_ERROR);
}

bool steady_find_shift(const struct steady *steady, struct steady_shift *out)
{
    double rates[BATCHES];

    if (steady->count <= (size_t)BATCHES * SAMPLES_PER_BATCH
        || steady->samples[steady->count - 1].count == steady->samples[0].count)
        return false;
    batch_rates(steady, BATCHES, rates);
    *out = shift_at(rates, BATCHES / 2);
    for (size_t before = SHORTEST_PART; before <= BATCHES - SHORTEST_PART; before++) {
        struct steady_shift shift = shift_at(rates, before);

        if (distinctness(&shift) > distinctness(out))
            *out = shift;
    }
    return true;
}

/* ---- Growth ---------------------------------------------------------------------------------- */

double steady_growth(const struct steady *steady)
{
    double n = (double)steady->count, mean_s = 0, mean_count = 0, products = 0, squares = 0;

    if (steady->count < 3)
        return NAN;
    for (size_t i = 0; i < steady->count; i++) {
        mean_s += (double)(steady->samples[i].at_ns - steady->samples[0].at_ns) / 1e9 / n;
        mean_count += (double)steady->samples[i].count / n;
    }
    for (size_t i = 0; i < steady->count; i++) {
        double t = (double)(steady->samples[i].at_ns - steady->samples[0].at_ns) / 1e9 - mean_s;

        products += t * ((double)steady->samples[i].count - mean_count);
        squares += t * t;
    }
    return products / squares;
}
