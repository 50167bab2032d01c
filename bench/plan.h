/* The plan of a sweep: a grid of concurrency x input tokens x output tokens x repetition, and how
 * each cell is measured. */
#pragma once

#include <jansson.h>

#include "store/deployments.h"
#include "store/sweeps.h"

#define PLAN_LEVELS 64
#define PLAN_CELLS 4096

enum bench_api { BENCH_COMPLETIONS, BENCH_CHAT };

struct plan {
    int64_t concurrency[PLAN_LEVELS], input_tokens[PLAN_LEVELS], output_tokens[PLAN_LEVELS];
    size_t concurrency_count, input_count, output_count;
    int64_t repetitions;   /* 1 .. 20, interleaved over the grid */
    double window_s;       /* the measured window, 1 .. 600 */
    double warmup_limit_s; /* warm-up ends when two windows agree, at the latest then */
    enum bench_api api;
    uint64_t seed;
    double time_limit_s; /* of the whole sweep */
    double ttft_timeout_s, idle_timeout_s, request_timeout_s;
    double goodput_ttft_ms, goodput_tpot_ms; /* 0: no limit */
};

/* Reads the arguments of sweep_plan and sweep_start (already of the right types), fills in
 * defaults. Out-of-range grids are told with the limits and how many cells it would be. */
bool plan_read(const json_t *arguments, struct plan *out, struct error *error);
json_t *plan_to_json(const struct plan *plan); /* new reference; plan_read reads it back */
/* What the go-ahead is for: digest of plan, deployment and revision. */
void plan_digest(const struct plan *plan, const struct deployment *deployment, char out[65]);
/* The cells in order of measuring: per repetition the whole grid, contexts ascending, within one
 * context levels ascending. *out is heap memory. */
void plan_cells(const struct plan *plan, struct cell_plan **out, size_t *count);

/* Upper bounds: a closed loop sends no more than a fast server answers (assumed: `assumption`). */
struct plan_estimate {
    int64_t cells, requests, input_tokens, output_tokens;
    double duration_s;
    char assumption[160];
};
void plan_estimate(const struct plan *plan, struct plan_estimate *out);
