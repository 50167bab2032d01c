/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plan/arrivals.h"

#include <math.h>

const char *const arrival_names[] = {
    [ARRIVAL_CLOSED] = "closed",
    [ARRIVAL_CONSTANT] = "constant",
    [ARRIVAL_POISSON] = "poisson",
    [ARRIVAL_GAMMA] = "gamma",
    NULL,
};

double arrivals_variation(const struct arrivals *arrivals)
{
    if (arrivals->process == ARRIVAL_CONSTANT)
        return 0;
    return arrivals->process == ARRIVAL_GAMMA ? 1 / arrivals->burstiness : 1;
}

/* ---- Gaps, with a mean of 1 ------------------------------------------------------------------ */

static double draw_exponential(struct generator *generator)
{
    return -log1p(-generator_uniform(generator));
}

/* Marsaglia's polar method. */
static double draw_normal(struct generator *generator)
{
    double x, y, square;

    do {
        x = 2 * generator_uniform(generator) - 1;
        y = 2 * generator_uniform(generator) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * sqrt(-2 * log(square) / square);
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), for shape >= 1. */
static double draw_gamma_above_1(struct generator *generator, double shape)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d), normal, v, uniform;

    do {
        do {
            normal = draw_normal(generator);
            v = 1 + c * normal;
        } while (v <= 0);
        v = v * v * v;
        uniform = 1 - generator_uniform(generator);
    } while (log(uniform) >= normal * normal / 2 + d - d * v + d * log(v));
    return d * v;
}

/* For any shape. If it is below 1, gamma(a) = gamma(a + 1) * uniform^(1 / a), by section 6 of the
 * same paper. */
static double draw_gamma(struct generator *generator, double shape)
{
    double uniform;

    if (shape >= 1)
        return draw_gamma_above_1(generator, shape);
    uniform = 1 - generator_uniform(generator);
    return draw_gamma_above_1(generator, shape + 1) * pow(uniform, 1 / shape);
}

static double draw_gap(struct arrivals_share *arrivals_share)
{
    const struct arrivals *arrivals = arrivals_share->arrivals;

    switch (arrivals->process) {
    case ARRIVAL_POISSON:
        return draw_exponential(&arrivals_share->generator);
    case ARRIVAL_GAMMA:
        return draw_gamma(&arrivals_share->generator, arrivals->burstiness) / arrivals->burstiness;
    case ARRIVAL_CONSTANT:
    case ARRIVAL_CLOSED:
        break;
    }
    return 1;
}

/* ---- The schedule ---------------------------------------------------------------------------- */

static void draw(struct arrivals_share *arrivals_share, size_t gaps)
{
    for (size_t i = 0; i < gaps; i++)
        arrivals_share->due += draw_gap(arrivals_share);
}

void arrivals_share_begin(struct arrivals_share *arrivals_share, const struct arrivals *arrivals,
                          size_t index, size_t count)
{
    *arrivals_share = (struct arrivals_share){ .arrivals = arrivals, .step = count };
    generator_init(&arrivals_share->generator, arrivals->seed);
    draw(arrivals_share, index + 1);
}

void arrivals_share_step(struct arrivals_share *arrivals_share)
{
    draw(arrivals_share, arrivals_share->step);
}

/* While the rate rises to r over the ramp T, the number of mean gaps that have passed by time t is
 * r t^2 / (2 T); after the ramp, it is r (t - T / 2). This function solves that for t (time change
 * of a renewal process). */
int64_t arrivals_share_due_ns(const struct arrivals_share *arrivals_share)
{
    const struct arrivals *arrivals = arrivals_share->arrivals;
    double due_s = arrivals_share->due / arrivals->rate, ramp_s = arrivals->ramp_s;

    due_s = due_s < ramp_s / 2 ? sqrt(2 * ramp_s * due_s) : due_s + ramp_s / 2;
    return (int64_t)(due_s * 1e9);
}
