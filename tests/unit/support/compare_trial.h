/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a baseline and of a candidate, for the tests of analysis/compare/. All runs are alike
 * until a test changes them. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/compare/compare.h"
#include "base/core/random.h"

#define RUNS 10
#define CELLS 8 /* 1, 2, 4 and 8 users, with prompts of 128 and 1024 tokens */

/* Indices into compare_metrics. */
enum { OUTPUT_THROUGHPUT, REQUEST_THROUGHPUT, TTFT_P50, TTFT_P99, ITL_P50, TPOT_P50, E2E_P50 };

struct trial {
    struct evidence runs[RUNS]; /* the baseline's runs come first */
    size_t repetitions;         /* number of runs on each side */
    size_t metric;
    const char *factors[4], *accepted[4];
    bool paired, as_deployments;
    /* like RUN_SPREAD, but for the deviation that both runs of a pair share; 0: they share none */
    double drift;
    /* A cell is client_limited if it is faster than its run by more than `limit` times CELL_SPREAD;
     * 0: no cell is. */
    double limit;
    struct comparison comparison;
};

static inline void set_latency(struct evidence_cell *cell, double ms)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        cell->latency[i].p50_ms = cell->latency[i].p99_ms = ms;
}

static inline void set_figures(struct evidence_cell *cell, double speed)
{
    cell->output_throughput = speed;
    cell->request_throughput = speed / 64;
    set_latency(cell, 1000 / speed);
}

static inline void make_run(struct evidence *run, size_t number)
{
    struct evidence_facts *facts = &run->facts;

    evidence_init(run);
    snprintf(run->id, sizeof run->id, "imp_%zu", number);
    run->imported = true;
    run->input_unit = LENGTH_TOKENS;
    strcpy(facts->model, "toy");
    strcpy(facts->model_revision, "a1");
    strcpy(facts->engine, "vllm");
    strcpy(facts->engine_version, "0.9");
    strcpy(facts->flags, "--x");
    strcpy(facts->hardware, "L4");
    strcpy(facts->region, "here");
    strcpy(facts->dataset, "random");
    facts->chips = facts->max_instances = 1;
    for (size_t i = 0; i < CELLS; i++) {
        struct evidence_cell *cell = evidence_add(run);

        cell->state = EVIDENCE_MEASURED;
        cell->concurrency = (double)(1 << i % 4);
        cell->input_length = i < 4 ? 128 : 1024;
        cell->output_tokens_asked = cell->output_tokens_mean = 64;
        cell->success_rate = 1;
        set_figures(cell, 100 * cell->concurrency);
    }
}

static inline int set_up(void **state)
{
    struct trial *trial = calloc(1, sizeof *trial);

    for (size_t i = 0; i < RUNS; i++)
        make_run(&trial->runs[i], i);
    trial->repetitions = RUNS / 2;
    *state = trial;
    return 0;
}

static inline int tear_down(void **state)
{
    struct trial *trial = *state;

    comparison_finish(&trial->comparison);
    for (size_t i = 0; i < RUNS; i++)
        evidence_finish(&trial->runs[i]);
    free(trial);
    return 0;
}

static inline struct compare_input input_of(const struct trial *trial)
{
    return (struct compare_input){ .runs = trial->runs,
                                   .counts = { trial->repetitions, trial->repetitions },
                                   .metric = trial->metric,
                                   .factors = trial->factors,
                                   .accepted = trial->accepted,
                                   .paired = trial->paired,
                                   .as_deployments = trial->as_deployments };
}

static inline const struct comparison *compare(struct trial *trial)
{
    const struct compare_input input = input_of(trial);

    comparison_finish(&trial->comparison);
    compare_runs(&input, &trial->comparison);
    return &trial->comparison;
}

/* Two random deviations are added to the logarithm of a cell's speed. Their standard deviations: */
#define RUN_SPREAD 0.02  /* of the deviation that all cells of a run share */
#define CELL_SPREAD 0.03 /* of the cell's own deviation */

/* Returns a number from the standard normal distribution (Box-Muller transform). */
static inline double normal(struct generator *generator)
{
    double radius = sqrt(-2 * log(1 - generator_uniform(generator)));

    return radius * cos(6.283185307179586 * generator_uniform(generator));
}

/* Draws all figures at random; the candidate's median speed is `factor` times the baseline's. */
static inline void draw(struct trial *trial, struct generator *generator, double factor)
{
    double drifts[RUNS] = { 0 };

    for (size_t i = 0; i < trial->repetitions && trial->drift > 0; i++)
        drifts[i] = trial->drift * normal(generator);
    for (size_t i = 0; i < 2 * trial->repetitions; i++) {
        double luck = drifts[i % trial->repetitions] + RUN_SPREAD * normal(generator)
                      + (i < trial->repetitions ? 0 : log(factor));

        for (size_t j = 0; j < CELLS; j++) {
            struct evidence_cell *cell = &trial->runs[i].cells[j];
            double deviation = normal(generator);

            set_figures(cell, 100 * cell->concurrency * exp(luck + CELL_SPREAD * deviation));
            cell->client_limited = trial->limit > 0 && deviation > trial->limit;
        }
    }
}

#define TRIAL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
