/* SPDX-License-Identifier: Apache-2.0 */
/* Makes runs of a simulated server, with the figures that various load generators would report.
 * The figures of a run agree with each other, so the audit must find no mistake in them. */
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/evidence.h"

/* The load generators, and which of the figures from maker_measure each of them reports. */
enum reporter {
    REPORTER_OPSBRAIN, /* all */
    REPORTER_VLLM,     /* all but the mean number of requests in flight */
    REPORTER_AIPERF,   /* the same as vLLM, and two token counts: its own and the server's */
    REPORTER_GUIDELLM, /* all */
    /* the number of requests asked for, request and output rates, the mean output length, the
     * success rate, and the E2E latency except its p99 and maximum */
    REPORTER_TABLE,
    REPORTER_BARE, /* request and output rates, the mean output length, and the mean E2E latency */
    REPORTERS
};

struct maker {
    unsigned seed;
    enum reporter reporter;
    /* The server. */
    double slots, prefill_tokens_per_s, step_ms, step_ms_per_running, template_tokens;
    /* The client. */
    double pause_ms; /* between a user's requests; with several users, at most 2 % of the E2E
                        latency */
    double noise;
    /* The grid. */
    double users[8], lengths[6], output_tokens;
    size_t levels, contexts, repetitions, models;
};

static inline double maker_uniform(struct maker *maker)
{
    return (rand_r(&maker->seed) + 0.5) / ((double)RAND_MAX + 1);
}

static inline double maker_between(struct maker *maker, double low, double high)
{
    return low * pow(high / low, maker_uniform(maker));
}

static inline double maker_noise(struct maker *maker)
{
    return 1 + maker->noise * (2 * maker_uniform(maker) - 1);
}

static inline struct maker maker_create(int number)
{
    struct maker maker = { .seed = (unsigned)number * 7919 + 5,
                           .reporter = (enum reporter)(number % REPORTERS) };

    maker.slots = round(maker_between(&maker, 4, 512));
    maker.prefill_tokens_per_s = maker_between(&maker, 2000, 12000);
    maker.step_ms = maker_between(&maker, 12, 60);
    maker.step_ms_per_running = maker.step_ms / maker_between(&maker, 20, 1000);
    maker.template_tokens = floor(maker_between(&maker, 1, 80));
    maker.pause_ms = maker_between(&maker, 0.5, 60);
    maker.noise = maker_between(&maker, 0.001, 0.03);
    maker.output_tokens = round(maker_between(&maker, 32, 1024));
    maker.levels = 1 + (size_t)(maker_uniform(&maker) * 7.99);
    maker.contexts = 1 + (size_t)(maker_uniform(&maker) * 5.99);
    maker.repetitions = maker_uniform(&maker) < 0.3 ? 3 : 1;
    maker.models = maker_uniform(&maker) < 0.2 ? 3 : 1;
    for (size_t i = 0; i < maker.levels; i++)
        maker.users[i] = pow(maker.levels > 5 ? 2 : 4, (double)i);
    for (size_t i = 0; i < maker.contexts; i++)
        maker.lengths[i] = i == 0                        ? 128
                           : maker_uniform(&maker) < 0.3 ? 4 * maker.lengths[i - 1]
                                                         : 2 * maker.lengths[i - 1];
    return maker;
}

/* Makes all figures of one latency, with ascending percentiles. */
static inline struct evidence_latency maker_latency(double mean_ms, double tail, double count)
{
    return (struct evidence_latency){ .count = count,
                                      .mean_ms = mean_ms,
                                      .deviation_ms = mean_ms * tail / 3,
                                      .min_ms = mean_ms * (1 - tail / 2),
                                      .p50_ms = mean_ms * (1 - tail / 20),
                                      .p90_ms = mean_ms * (1 + tail / 2),
                                      .p95_ms = mean_ms * (1 + tail * 0.6),
                                      .p99_ms = mean_ms * (1 + tail * 0.8),
                                      .max_ms = mean_ms * (1 + tail) };
}

/* Computes the figures of a cell. `speed` multiplies the server's speed. */
static inline void maker_measure(struct maker *maker, double speed, struct evidence_cell *cell)
{
    double running = fmin(cell->concurrency, maker->slots), users = cell->concurrency;
    double prompt = cell->input_length + maker->template_tokens, out = maker->output_tokens;
    double step_ms =
        (maker->step_ms + maker->step_ms_per_running * running) / speed * maker_noise(maker);
    double prefill_ms = 1000 * prompt / maker->prefill_tokens_per_s * (1 + running / 64) / speed
                        * maker_noise(maker);
    double served_ms = prefill_ms + (out - 1) * step_ms, e2e_ms = served_ms * users / running;
    double ttft_ms = prefill_ms + e2e_ms - served_ms;
    double pause_ms = users > 1 ? fmin(maker->pause_ms, 0.02 * e2e_ms) : maker->pause_ms;
    double rate = users * 1000 / (e2e_ms + pause_ms), count = fmax(200, 20 * users);

    cell->attempted = cell->succeeded = cell->requests_asked = count;
    cell->failed = 0;
    cell->success_rate = 1;
    cell->request_throughput = rate;
    cell->duration_s = count / rate;
    cell->input_tokens_mean = prompt;
    cell->output_tokens_mean = out;
    cell->input_tokens = prompt * count;
    cell->output_tokens = out * count;
    cell->cached_tokens = 0;
    cell->input_throughput = prompt * rate;
    cell->output_throughput = out * rate;
    cell->total_throughput = (prompt + out) * rate;
    cell->concurrency_actual = rate * e2e_ms / 1000;
    cell->latency[METRIC_E2E] = maker_latency(e2e_ms, 0.2, count);
    cell->latency[METRIC_TTFT] = maker_latency(ttft_ms, 0.3, count);
    cell->latency[METRIC_TPOT] = maker_latency(step_ms, 0.1, count);
    cell->latency[METRIC_ICL] = maker_latency(step_ms, 0.4, count * out);
}

static inline void maker_forget_latency(struct evidence_latency *latency)
{
    latency->count = latency->mean_ms = latency->deviation_ms = latency->min_ms = NAN;
    latency->p50_ms = latency->p90_ms = latency->p95_ms = latency->p99_ms = latency->max_ms = NAN;
}

/* Removes the figures that the load generator does not report, and changes those that it counts
 * differently. */
static inline void maker_withhold(const struct maker *maker, struct evidence_cell *cell)
{
    bool bare = maker->reporter == REPORTER_BARE;

    if (maker->reporter != REPORTER_OPSBRAIN && maker->reporter != REPORTER_GUIDELLM)
        cell->concurrency_actual = NAN;
    if (maker->reporter == REPORTER_OPSBRAIN)
        cell->concurrency_actual = cell->concurrency * 0.998;
    if (maker->reporter == REPORTER_AIPERF) { /* its own count omits the chat template */
        cell->input_tokens_usage = cell->input_tokens_mean;
        cell->output_tokens_usage = cell->output_tokens_mean;
        cell->input_tokens_mean = cell->input_length;
        cell->input_tokens = cell->input_length * cell->succeeded;
        cell->input_throughput = cell->input_length * cell->request_throughput;
        cell->total_throughput = cell->input_throughput + cell->output_throughput;
    }
    if (maker->reporter != REPORTER_TABLE && !bare)
        return;
    cell->attempted = cell->succeeded = cell->failed = cell->duration_s = NAN;
    cell->input_tokens = cell->output_tokens = cell->cached_tokens = cell->input_tokens_mean = NAN;
    cell->input_throughput = cell->total_throughput = NAN;
    cell->requests_asked = bare ? NAN : cell->requests_asked;
    cell->success_rate = bare ? NAN : 1;
    cell->state = bare ? EVIDENCE_UNKNOWN : EVIDENCE_MEASURED;
    for (int i = 0; i < METRIC_COUNT; i++)
        if (i != METRIC_E2E)
            maker_forget_latency(&cell->latency[i]);
    cell->latency[METRIC_E2E].p99_ms = cell->latency[METRIC_E2E].max_ms = NAN;
    if (bare) {
        double mean_ms = cell->latency[METRIC_E2E].mean_ms;

        maker_forget_latency(&cell->latency[METRIC_E2E]);
        cell->latency[METRIC_E2E].mean_ms = mean_ms;
    }
}

static inline struct evidence_cell *maker_add(struct maker *maker, struct evidence *out,
                                              double users, double length, double speed)
{
    struct evidence_cell *cell = evidence_add(out);

    cell->row = (int64_t)out->cell_count + 1;
    cell->state = EVIDENCE_MEASURED;
    cell->concurrency = users;
    cell->input_length = length;
    cell->output_tokens_asked = maker->output_tokens;
    maker_measure(maker, speed, cell);
    maker_withhold(maker, cell);
    return cell;
}

/* Makes a run with a cell for each model, repetition, context and level. A run by opsbrain
 * itself has one model and one repetition. */
static inline void maker_run(struct maker *maker, struct evidence *out)
{
    evidence_init(out);
    out->imported = maker->reporter != REPORTER_OPSBRAIN;
    out->input_unit = LENGTH_TOKENS;
    snprintf(out->id, sizeof out->id, "imp_made");
    if (!out->imported)
        maker->models = maker->repetitions = 1;
    for (size_t model = 0; model < maker->models; model++)
        for (size_t repetition = 0; repetition < maker->repetitions; repetition++)
            for (size_t context = 0; context < maker->contexts; context++)
                for (size_t level = 0; level < maker->levels; level++) {
                    struct evidence_cell *cell =
                        maker_add(maker, out, maker->users[level], maker->lengths[context],
                                  1 + 2.0 * (double)model);

                    if (maker->models > 1 || maker->repetitions > 1)
                        snprintf(cell->variant, sizeof cell->variant, "model=m%zu, repetition=%zu",
                                 model, repetition);
                }
}
