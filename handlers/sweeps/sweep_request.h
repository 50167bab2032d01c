/* SPDX-License-Identifier: Apache-2.0 */
/* What sweep_plan and sweep_start ask for: the grid, what it would take, and the go-ahead that
 * large ones need. */
#pragma once

#include "bench/plan/plan.h"
#include "handlers/answer.h"

/* More than this needs the digest of the plan that was looked at. */
#define GO_AHEAD_MINUTES 60
#define GO_AHEAD_TOKENS 10000000

/* Choices of `api`, `arrival`, `think_time`, `search` and `limit_percentile`; each ends with NULL.
 */
extern const char *const bench_apis[], *const bench_arrivals[], *const bench_thinks[],
                                                                    *const bench_searches[],
                                                                        *const limit_percentiles[];

/* Rows of both tools; the defaults are those of bench/plan/plan.c, which a test compares. */
#define PARAMS_PLAN                                                                                \
    { "concurrency",                                                                               \
      VALUE_INTEGERS,                                                                              \
      .low = 1,                                                                                    \
      .high = PLAN_LEVELS,                                                                         \
      .item_low = 1,                                                                               \
      .item_high = 10000,                                                                          \
      .help = "Users at once, as [1, 4, 16, 64]; without: climbs up to 256.",                      \
      .more = "Each sends its next request when the last one ended. Left out: until more give "    \
              "nothing. In an open loop one number, the most requests in flight (10000 if not "    \
              "given)." },                                                                         \
        { "arrival",                                                                               \
          VALUE_CHOICE,                                                                            \
          .choices = bench_arrivals,                                                               \
          .initial = "\"closed\"",                                                                 \
          .rare = true,                                                                            \
          .help = "closed: `concurrency` users wait for their answers; else an open loop: "        \
                  "requests come at `request_rate` whatever the server does. Latencies then "      \
                  "count from the scheduled time. constant: equal gaps; poisson: independent, as " \
                  "from many people; gamma: with `burstiness`." },                                 \
        { "request_rate",                                                                          \
          VALUE_NUMBERS,                                                                           \
          .low = 0,                                                                                \
          .high = PLAN_LEVELS,                                                                     \
          .item_low = 0.001,                                                                       \
          .item_high = 20000,                                                                      \
          .rare = true,                                                                            \
          .help = "Of an open loop, in place of concurrency: requests per second, a list such as " \
                  "[0.5, 2, 10]." },                                                               \
        { "burstiness",                                                                            \
          VALUE_NUMBER,                                                                            \
          .low = 0.01,                                                                             \
          .high = 100,                                                                             \
          .initial = "1",                                                                          \
          .rare = true,                                                                            \
          .help = "Of gamma arrivals: 1 is poisson, below it they come in bursts, above it more "  \
                  "evenly." },                                                                     \
        { "think_time_s",                                                                          \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600,                                                                            \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "Seconds that a user of a closed loop waits, on average, before the next "       \
                  "request." },                                                                    \
        { "think_time",                                                                            \
          VALUE_CHOICE,                                                                            \
          .choices = bench_thinks,                                                                 \
          .initial = "\"fixed\"",                                                                  \
          .rare = true,                                                                            \
          .help = "fixed: always that long; exponential: that long on average." },                 \
        { "ramp_s",                                                                                \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600,                                                                            \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "Seconds over which the users, or the rate, start before the warm-up. 0: users " \
                  "over the time of one request, a rate at once." },                               \
        { "input_tokens",                                                                          \
          VALUE_INTEGERS,                                                                          \
          .low = 1,                                                                                \
          .high = PLAN_LEVELS,                                                                     \
          .item_low = 1,                                                                           \
          .item_high = 1000000,                                                                    \
          .help = "Prompt lengths, as [128, 1024]; without: 512.",                                 \
          .more = "What is longer than the model's context is told as infeasible." },              \
        { "output_tokens",                                                                         \
          VALUE_INTEGERS,                                                                          \
          .low = 1,                                                                                \
          .high = PLAN_LEVELS,                                                                     \
          .item_low = 1,                                                                           \
          .item_high = 100000,                                                                     \
          .initial = "[128]",                                                                      \
          .help = "Answer lengths.",                                                               \
          .more = "Under 16 says nothing about generation speed." },                               \
        { "repetitions",                                                                           \
          VALUE_INTEGER,                                                                           \
          .low = 1,                                                                                \
          .high = 20,                                                                              \
          .initial = "1",                                                                          \
          .help = "Of the whole grid; 3 show the spread.",                                         \
          .more = "They are interleaved." },                                                       \
        { "window_s",                                                                              \
          VALUE_NUMBER,                                                                            \
          .low = 1,                                                                                \
          .high = 600,                                                                             \
          .help = "Seconds that count, per cell; 30, without concurrency 10.",                     \
          .more = "After the warm-up." },                                                          \
        { "requests",                                                                              \
          VALUE_INTEGER,                                                                           \
          .low = 0,                                                                                \
          .high = 10000000,                                                                        \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "The window ends with so many requests instead, at window_limit_s at the "       \
                  "latest; 0: by window_s." },                                                     \
        { "ci_width",                                                                              \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 1,                                                                               \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "The window goes on until the 95 % interval of output tokens/s is within plus "  \
                  "or minus this share (0.03: 3 %), to window_limit_s at most; 0: it does not." }, \
        { "window_limit_s",                                                                        \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600,                                                                            \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help =                                                                                  \
              "Seconds that a window takes at most where it goes on; 0: four times window_s." },   \
        { "warmup_limit_s",                                                                        \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 600,                                                                             \
                                                                                                   \
          .rare = true,                                                                            \
          .help = "Seconds of warm-up per cell at most (30, without concurrency 10); it ends "     \
                  "when two successive windows agree." },                                          \
        { "api",                                                                                   \
          VALUE_CHOICE,                                                                            \
          .choices = bench_apis,                                                                   \
          .initial = "\"completions\"",                                                            \
          .rare = true,                                                                            \
          .help = "completions: exact prompt lengths; chat: with the chat template around the "    \
                  "prompt. A server that has only the other one ends the sweep at once, and the "  \
                  "job names it." },                                                               \
        { "http2_streams",                                                                         \
          VALUE_INTEGER,                                                                           \
          .low = 0,                                                                                \
          .high = 1000,                                                                            \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "0: HTTP/1.1, a connection for each request in flight; above: HTTP/2 with at "   \
                  "most so many requests on a connection, which is another test." },               \
        { "seed",                                                                                  \
          VALUE_INTEGER,                                                                           \
          .low = 0,                                                                                \
          .high = 9007199254740991.0,                                                              \
          .initial = "1",                                                                          \
          .rare = true,                                                                            \
          .help = "Makes the prompts: the same seed, the same prompts." },                         \
        { "time_limit_s",                                                                          \
          VALUE_NUMBER,                                                                            \
          .low = 1,                                                                                \
          .high = 604800,                                                                          \
          .initial = "21600",                                                                      \
          .rare = true,                                                                            \
          .help = "Seconds for the whole sweep; then it stops, and sweep_resume can go on." },     \
        { "ttft_timeout_s",                                                                        \
          VALUE_NUMBER,                                                                            \
          .low = 1,                                                                                \
          .high = 3600,                                                                            \
          .initial = "120",                                                                        \
          .rare = true,                                                                            \
          .help = "Seconds a request may wait for its first token." },                             \
        { "idle_timeout_s",                                                                        \
          VALUE_NUMBER,                                                                            \
          .low = 1,                                                                                \
          .high = 3600,                                                                            \
          .initial = "60",                                                                         \
          .rare = true,                                                                            \
          .help = "Seconds a stream may pause." },                                                 \
        { "request_timeout_s",                                                                     \
          VALUE_NUMBER,                                                                            \
          .low = 1,                                                                                \
          .high = 3600,                                                                            \
          .initial = "600",                                                                        \
          .rare = true,                                                                            \
          .help = "Seconds a whole request may take." },                                           \
        { "goodput_ttft_ms",                                                                       \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600000,                                                                         \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "Goodput counts answers whose first token came within this; 0: no limit." },     \
        { "goodput_tpot_ms",                                                                       \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600000,                                                                         \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "Goodput counts answers with at most this per output token; 0: no limit." },     \
        { "search", VALUE_CHOICE, .choices = bench_searches,                                       \
          .help = "full grid; adaptive: only the loads that tell saturation; climb: that, from "   \
                  "below.",                                                                        \
          .more = "full is the default, but climb without concurrency. adaptive: per context "     \
                  "only the loads that tell the saturation point and the largest load within the " \
                  "limits; the others are told as inferred, without figures. Worth it from some "  \
                  "10 loads on: give a fine list." },                                              \
        { "limit_ttft_ms",                                                                         \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600000,                                                                         \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help =                                                                                  \
              "Limit of time to first token, for the largest load within the limits; 0: none." },  \
        { "limit_itl_ms",                                                                          \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600000,                                                                         \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "Limit of the gap between chunks; 0: none." },                                   \
        { "limit_tpot_ms",                                                                         \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600000,                                                                         \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "Limit of milliseconds per output token after the first; 0: none." },            \
        { "limit_e2e_ms",                                                                          \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 3600000,                                                                         \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "Limit of the whole request; 0: none." },                                        \
        { "limit_percentile",                                                                      \
          VALUE_CHOICE,                                                                            \
          .choices = limit_percentiles,                                                            \
          .initial = "\"p99\"",                                                                    \
          .rare = true,                                                                            \
          .help = "The percentile that has to stay within those four limits." },                   \
    {                                                                                              \
        "limit_error_rate", VALUE_NUMBER,                                                          \
            .low = 0, .high = 1, .initial = "0", .rare = true,                                     \
            .help =                                                                                \
                "Share of requests that may fail, such as 0.001; 0: not stated, and then 0.01."    \
    }

#define PARAM_CANDIDATE                                                                            \
    {                                                                                              \
        "candidate", VALUE_TEXT,                                                                   \
            .low = 1, .high = 63,                                                                  \
            .help = "A second deployment: an A/B sweep in turns, for run_compare.",                \
            .more = "The two take turns cell by cell at the same plan, so that what drifts hits "  \
                    "both alike; run_compare with this sweep then tells whether the candidate is " \
                    "faster. Give repetitions 5 or more."                                          \
    }

#define PARAM_PLAN_DIGEST(unlisted)                                                                \
    {                                                                                              \
        "plan_digest", VALUE_TEXT,                                                                 \
            .rare = unlisted, .low = 64, .high = 64,                                               \
            .help = "Of sweep_plan: starts that very plan.",                                       \
            .more =                                                                                \
                "Needed over 60 minutes or 10 million tokens. What else is given must be of the "  \
                "same plan."                                                                       \
    }

/* What goes with a plan and is no part of it: sweep_plan takes it too, so that an agent plans and
 * starts with one set of arguments. */
#define PARAMS_ORDER                                                                                \
    {                                                                                               \
        "purpose",   VALUE_TEXT,   .low = 1,                                                        \
        .high = 300, .rare = true, .help = "Why it is measured, in a sentence: kept with its runs." \
    },                                                                                              \
    {                                                                                               \
        "corrects", VALUE_TEXT,                                                                     \
            .low = 1, .high = 39, .rare = true,                                                     \
            .help =                                                                                 \
                "A run (run_...) or sweep (swp_...) that this one stands in for. It is of the "     \
                "same deployments and cells, and turned out wrong or failed in part; it stays as "  \
                "it is, and is told as corrected by this one. Of a run give repetitions 1."         \
    }

struct sweep_request {
    struct deployment deployment, candidate;
    size_t subjects;  /* 2: with the candidate */
    bool same_server; /* they are of one host and port */
    struct plan plan;
    struct plan_estimate estimate;
    char digest[65];
    bool needs_go_ahead;
};

/* The call's deployments and plan, checked, with what it would take. */
CHECKED bool sweep_request_read(const struct call *call, struct sweep_request *out,
                                struct error *error);
/* Is the call's plan_digest of another plan than this? */
bool sweep_request_is_other(const struct call *call, const struct sweep_request *request);
/* A large sweep is refused unless the call gives the digest of this very plan: the sentence says
 * what it would take. A digest that does not fit is refused in any case. */
CHECKED bool sweep_request_check(const struct call *call, const struct sweep_request *request,
                                 struct error *error);
/* NULL: there is none. */
const struct deployment *sweep_request_candidate(const struct sweep_request *request);
/* "demo (revision 1), in turns with new (revision 2)" */
void sweep_request_name(const struct sweep_request *request, struct text *out);
