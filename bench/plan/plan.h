/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a sweep: a grid of load (users, or a rate of arrivals) x input tokens x output tokens
 * x repetitions, and how each cell of this grid is measured. */
#pragma once

#include <jansson.h>

#include "base/measure/slo.h"
#include "bench/plan/arrivals.h"
#include "store/ledger/datasets.h"
#include "store/ledger/deployments.h"
#include "store/ledger/sweeps.h"

#define PLAN_LEVELS 64             /* maximum number of values in one dimension of the grid */
#define PLAN_CELLS 4096            /* maximum number of cells in a sweep */
#define PLAN_IN_FLIGHT 10000       /* default limit on requests in flight in an open loop */
#define PLAN_STOPS 4               /* maximum number of strings in `stop` */
#define PLAN_STOP_SIZE 65          /* bytes of one of these strings, with its NUL */
#define PLAN_PREFIX_TOKENS 4000000 /* maximum number of tokens in all prefixes together */

enum bench_api { BENCH_COMPLETIONS, BENCH_CHAT };

/* Which cells of the grid are measured (bench/search/search.h). */
enum plan_search {
    SEARCH_FULL,     /* every cell */
    SEARCH_ADAPTIVE, /* those that determine saturation and the largest load within the limits */
    SEARCH_CLIMB,    /* the same, starting with small loads, as the largest might be far too high */
};

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
    /* In an open loop (`arrival` is not CLOSED), the levels of load are rates in requests per
     * second, ascending, and concurrency[0] is the limit on requests in flight. */
    enum arrival arrival;
    double request_rate[PLAN_LEVELS];
    size_t rate_count;
    double burstiness;   /* for gamma arrivals */
    double think_time_s; /* mean time from an answer to the user's next request */
    enum think_time think_time;
    /* The load rises over this time. 0: the starts of users are spread over the time of one request
     * plus the think time, but over at most a quarter of warmup_limit_s; a rate is at its full
     * value from the start. */
    double ramp_s;
    int64_t repetitions; /* how often the whole grid is measured, 1 .. 20 */
    double window_s;     /* the length of the measured window, 1 .. 600 */
    /* > 0: the window ends after this many requests, or at its limit; 0: after window_s. */
    int64_t requests;
    /* > 0: the window is extended until the 95 % confidence interval of the throughput is within
     * plus or minus this share. */
    double ci_width;
    double window_limit_s; /* the limit of an extended window; 0: four times window_s */
    double warmup_limit_s; /* longest warm-up; it ends earlier once the load has settled */
    enum bench_api api;
    int64_t http2_streams; /* limit on requests in flight per HTTP/2 connection; 0: HTTP/1.1 */
    uint64_t seed;
    double time_limit_s; /* for the whole sweep */
    double ttft_timeout_s, idle_timeout_s, request_timeout_s;
    double goodput_ttft_ms, goodput_tpot_ms; /* 0: no limit */
    enum plan_search search;
    struct slo limits; /* the largest load that meets them is reported */
    enum distribution input_distribution, output_distribution;
    /* Uniform: half the range divided by the mean. Lognormal: standard deviation / mean. */
    double input_spread, output_spread;
    /* > 0: every prompt begins with one of prefix_pools prefixes, which have this many tokens. */
    int64_t shared_prefix_tokens;
    int64_t prefix_pools;
    /* Sampling; 0: not sent. The temperature is always sent. */
    double temperature, top_p, presence_penalty, frequency_penalty;
    int64_t top_k;
    char stop[PLAN_STOPS][PLAN_STOP_SIZE];
    size_t stop_count;
    bool natural_output;             /* answers can end before they have output_tokens tokens */
    char dataset[DATASET_NAME_SIZE]; /* the dataset whose prompts or lengths are used; "": none */
    char dataset_digest[65];         /* the dataset's digest when the sweep was planned */
    bool unique_prompts;             /* each of the dataset's prompts gets a unique prefix */
};

/* Adds defaults to the arguments of a sweep. If "concurrency" is missing (in a closed loop), adds a
 * climb to at most 256 users, with windows of 10 s and warm-ups of at most 10 s, unless the
 * arguments say otherwise. If both "input_tokens" and "dataset" are missing, adds prompts of 512
 * tokens, or of half the model's context if that is less (context_tokens; 0: not known). */
void plan_set_usual_grid(json_t *arguments, int64_t context_tokens);
/* Reads the arguments of sweep_plan and sweep_start, or what plan_to_json wrote, and fills in
 * defaults. INVALID if a value is missing or not allowed, or the grid has too many cells. */
CHECKED bool plan_read(const json_t *arguments, struct plan *out, struct error *error);
json_t *plan_to_json(const struct plan *plan); /* new reference */
size_t plan_levels(const struct plan *plan);   /* how many levels of load: users, or rates */
/* The limit of an extended window in seconds: window_limit_s, or its default if the plan states
 * none. A window in which no request has ended can last longer. */
double plan_window_limit_s(const struct plan *plan);
/* Computes a digest that identifies what a go-ahead for a large sweep covers: the plan, and the
 * deployments with their revisions. `candidate` is NULL if only one deployment is measured. */
void plan_digest(const struct plan *plan, const struct deployment *deployment,
                 const struct deployment *candidate, char out[65]);
/* Lists the cells in the order in which a full grid is measured: each repetition measures the whole
 * grid, by input length, then output length, then load, all ascending. `subjects` is the number of
 * deployments that are measured (1 or 2). Each point of the grid has one cell for each deployment.
 * Which deployment goes first alternates from point to point and from repetition to repetition (A
 * B, B A, A B, ...), so that drift affects both alike. The caller frees *out. */
void plan_cells(const struct plan *plan, size_t subjects, struct cell_plan **out, size_t *count);
/* Whether both plans have the same cells. */
bool plan_same_cells(const struct plan *a, const struct plan *b);
/* INVALID if the plan has more cells, for that many subjects, than one sweep can measure. */
CHECKED bool plan_check_cells(const struct plan *plan, size_t subjects, struct error *error);

/* Upper estimates of what a sweep sends and how long it takes. They hold under `assumption`, which
 * includes a fast server, because a closed loop sends only as much as the server can answer. */
struct plan_estimate {
    int64_t grid_cells; /* all cells of the grid */
    int64_t cells;      /* how many of them are measured, at most */
    int64_t requests, input_tokens, output_tokens;
    double duration_s;
    char assumption[160];
};
void plan_estimate(const struct plan *plan, size_t subjects, struct plan_estimate *out);
