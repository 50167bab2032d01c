/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a sweep: a grid of load (users, or a rate of arrivals) x input tokens x output tokens
 * x repetition, and how each cell is measured. */
#pragma once

#include <jansson.h>

#include "base/measure/slo.h"
#include "bench/plan/arrivals.h"
#include "store/ledger/datasets.h"
#include "store/ledger/deployments.h"
#include "store/ledger/sweeps.h"

#define PLAN_LEVELS 64
#define PLAN_CELLS 4096
#define PLAN_IN_FLIGHT 10000 /* requests, at most, in an open loop that states no limit */

#define PLAN_STOPS 4
#define PLAN_STOP_SIZE 65
#define PLAN_PREFIX_TOKENS 4000000 /* tokens of all prefixes together */

enum bench_api { BENCH_COMPLETIONS, BENCH_CHAT };
/* Measures every cell; or only those that determine saturation (search.h); or those from below, for
 * a grid whose largest loads may be far too high. */
enum plan_search { SEARCH_FULL, SEARCH_ADAPTIVE, SEARCH_CLIMB };

enum think_time { THINK_FIXED, THINK_EXPONENTIAL };

/* How the lengths of a cell's requests are distributed around its input_tokens or output_tokens. */
enum distribution {
    DISTRIBUTION_FIXED,
    DISTRIBUTION_UNIFORM,
    DISTRIBUTION_LOGNORMAL,
    DISTRIBUTION_DATASET, /* as in the dataset */
};
extern const char *const distribution_names[]; /* by enum distribution; ends with NULL */

struct plan {
    int64_t concurrency[PLAN_LEVELS], input_tokens[PLAN_LEVELS], output_tokens[PLAN_LEVELS];
    size_t concurrency_count, input_count, output_count;
    enum arrival arrival; /* not CLOSED: the levels are rates, and concurrency[0] is the */
    double request_rate[PLAN_LEVELS]; /* most requests in flight; per second, ascending */
    size_t rate_count;
    double burstiness;   /* of gamma arrivals */
    double think_time_s; /* mean time of a user between an answer and the next request */
    enum think_time think_time;
    double ramp_s;         /* over which the load starts; 0: users start over one request's time */
    int64_t repetitions;   /* 1 .. 20, interleaved over the grid */
    double window_s;       /* the measured window, 1 .. 600 */
    int64_t requests;      /* > 0: the window ends after this many requests instead */
    double ci_width;       /* > 0: extended until the throughput is known as precisely as this, */
    double window_limit_s; /* but not longer than this; 0: four times window_s */
    double warmup_limit_s; /* the warm-up ends when two windows agree, and after this time at the
                              latest */
    enum bench_api api;
    int64_t http2_streams; /* requests that share an HTTP/2 connection; 0: HTTP/1.1, none do */
    uint64_t seed;
    double time_limit_s; /* limit of the whole sweep */
    double ttft_timeout_s, idle_timeout_s, request_timeout_s;
    double goodput_ttft_ms, goodput_tpot_ms; /* 0: no limit */
    enum plan_search search;
    struct slo limits; /* limits, to find the largest load that meets them */
    enum distribution input_distribution, output_distribution;
    /* Uniform: half the range as a part of the mean. Lognormal: deviation / mean. */
    double input_spread, output_spread;
    int64_t shared_prefix_tokens; /* every prompt begins with one of prefix_pools prefixes */
    int64_t prefix_pools;
    /* Sampling; 0 of all but temperature: not sent. */
    double temperature, top_p, presence_penalty, frequency_penalty;
    int64_t top_k;
    char stop[PLAN_STOPS][PLAN_STOP_SIZE];
    size_t stop_count;
    bool natural_output; /* answers may end before output_tokens */
    char dataset[DATASET_NAME_SIZE],
        dataset_digest[65]; /* the dataset whose prompts are sent; "": they are generated */
    bool unique_prompts;    /* each of its prompts gets a head of its own */
};

/* Fills in the grid that is measured if none is stated: a climb to at most 256 users, with windows
 * of 10 s and prompts of 512 tokens, or of half the model's context (0: unknown) if that is less.
 * Such a sweep needs no go-ahead. */
void plan_set_usual_grid(json_t *arguments, int64_t context_tokens);
/* Reads the arguments of sweep_plan and sweep_start (already of the right types) and fills in
 * defaults. INVALID for a grid that is too large names the limits, and how many cells it would
 * have. */
CHECKED bool plan_read(const json_t *arguments, struct plan *out, struct error *error);
json_t *plan_to_json(const struct plan *plan);       /* new reference; plan_read reads it back */
size_t plan_levels(const struct plan *plan);         /* of load: users, or rates */
double plan_window_limit_s(const struct plan *plan); /* also if the plan states none */
/* The digest that the go-ahead is given for: of the plan, and of the deployments and their
 * revisions (`candidate` NULL: there is none). */
void plan_digest(const struct plan *plan, const struct deployment *deployment,
                 const struct deployment *candidate, char out[65]);
/* The cells in order of measuring: per repetition the whole grid, contexts ascending, within one
 * context levels of load ascending. Two subjects take turns at each cell and at going first (A B, B
 * A, A B, ...; within a cell also from repetition to repetition), so that drift affects both alike.
 * `subjects` is 1 or 2. *out is heap memory. */
void plan_cells(const struct plan *plan, size_t subjects, struct cell_plan **out, size_t *count);
/* Whether both have the same cells. */
bool plan_same_shape(const struct plan *a, const struct plan *b);
/* INVALID if the plan has more cells, for that many subjects, than one sweep measures. */
CHECKED bool plan_check_cells(const struct plan *plan, size_t subjects, struct error *error);

/* Upper bounds. A closed loop sends no more than a fast server can answer, as `assumption`
 * explains. */
struct plan_estimate {
    int64_t grid_cells, cells; /* of the grid, and of those that are measured */
    int64_t requests, input_tokens, output_tokens;
    double duration_s;
    char assumption[160];
};
void plan_estimate(const struct plan *plan, size_t subjects, struct plan_estimate *out);
