/* SPDX-License-Identifier: Apache-2.0 */
/* The list of a plan's parameters: their kinds, places in struct plan, ranges, defaults and help. A
 * file that includes this one must first define PLAN_PARAMETER(name, kind, place, ...). The
 * remaining arguments initialize a `struct member` (plan_members.c) or a `struct param`
 * (handlers/tool.h): plan_members.c reads, checks and writes plans with this list, and tools that
 * accept a plan include it in their params. The choices of a CHOICE are in the order of its
 * enum. */
#define CHOICES(...)                                                                               \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

PLAN_PARAMETER("concurrency", INTEGERS, LIST(concurrency, concurrency_count), .low = 1,
               .high = PLAN_LEVELS, .item_low = 1, .item_high = 10000,
               .help = "Users at once, as [1, 4, 16, 64]; omitted: climbs up to 256.",
               .more = "Each user sends its next request after the last one has ended. If omitted, "
                       "users are added until more of them give no more tokens/s. In an open loop: "
                       "one number, the limit on requests in flight (default 10000).")
PLAN_PARAMETER("arrival", CHOICE, AT(arrival), .choices = arrival_names, .initial = "\"closed\"",
               .rare = true,
               .help = "closed: `concurrency` users wait for their answers; else an open loop: "
                       "requests come at `request_rate` whatever the server does. Latencies then "
                       "count from the scheduled time. constant: equal gaps; poisson: independent, "
                       "as from many people; gamma: with `burstiness`.")
PLAN_PARAMETER("request_rate", NUMBERS, LIST(request_rate, rate_count), .low = 0,
               .high = PLAN_LEVELS, .item_low = 0.001, .item_high = 20000, .rare = true,
               .help = "For an open loop, in place of concurrency: requests per second, a list "
                       "such as [0.5, 2, 10].")
PLAN_PARAMETER(
    "burstiness", NUMBER, AT(burstiness), .low = 0.01, .high = 100, .initial = "1", .rare = true,
    .help = "For gamma arrivals: 1 is poisson, below 1 they come in bursts, above 1 more evenly.")
PLAN_PARAMETER(
    "think_time_s", NUMBER, AT(think_time_s), .low = 0, .high = 3600, .initial = "0", .rare = true,
    .help = "Seconds that a user of a closed loop waits, on average, before the next request.")
PLAN_PARAMETER("think_time", CHOICE, AT(think_time), .choices = CHOICES("fixed", "exponential"),
               .initial = "\"fixed\"", .rare = true,
               .help = "fixed: always think_time_s; exponential: think_time_s on average.")
PLAN_PARAMETER("ramp_s", NUMBER, AT(ramp_s), .low = 0, .high = 3600, .initial = "0", .rare = true,
               .help = "Seconds before the warm-up in which the load rises. 0: users start "
                       "within the time of a request plus think time; a rate is full at once.")
PLAN_PARAMETER("input_tokens", INTEGERS, LIST(input_tokens, input_count), .low = 1,
               .high = PLAN_LEVELS, .item_low = 1, .item_high = 1000000,
               .help = "Prompt lengths, as [128, 1024]; omitted: 512.",
               .more = "If omitted, half the model's context if that is less than 512. Prompts "
                       "too long for the context are reported as infeasible.")
PLAN_PARAMETER("output_tokens", INTEGERS, LIST(output_tokens, output_count), .low = 1,
               .high = PLAN_LEVELS, .item_low = 1, .item_high = 100000, .initial = "[128]",
               .help = "Answer lengths.",
               .more = "Fewer than 16 say nothing about generation speed.")
PLAN_PARAMETER("repetitions", INTEGER, AT(repetitions), .low = 1, .high = 20, .initial = "1",
               .help = "Repetitions of the grid; 3 show the spread.",
               .more = "They are interleaved.")
PLAN_PARAMETER("window_s", NUMBER, AT(window_s), .low = 1, .high = 600,
               .help = "Measured seconds per cell; 30, or 10 if no load is given.",
               .more = "After the warm-up.")
PLAN_PARAMETER("requests", INTEGER, AT(requests), .low = 0, .high = 10000000, .initial = "0",
               .rare = true,
               .help = "The window ends after this many requests, or at window_limit_s; 0: after "
                       "window_s.")
PLAN_PARAMETER(
    "ci_width", NUMBER, AT(ci_width), .low = 0, .high = 1, .initial = "0", .rare = true,
    .help = "The window is extended until the 95 % interval of output tokens/s is within plus or "
            "minus this share (0.03: 3 %), up to window_limit_s; 0: not required.")
PLAN_PARAMETER("window_limit_s", NUMBER, AT(window_limit_s), .low = 0, .high = 3600, .initial = "0",
               .rare = true,
               .help = "Window limit (exceeded only until a request ends); 0: four times window_s.")
PLAN_PARAMETER("warmup_limit_s", NUMBER, AT(warmup_limit_s), .low = 0, .high = 600, .rare = true,
               .help = "Seconds of warm-up per cell, at most (30, or 10 if no load is given); it "
                       "ends earlier once the load is steady.")
PLAN_PARAMETER(
    "api", CHOICE, AT(api), .choices = CHOICES("completions", "chat"), .initial = "\"completions\"",
    .rare = true,
    .help = "completions: the prompt alone; chat: input_tokens include the chat template. If "
            "the server has only the other API, the sweep ends at once, and the job says so.")
PLAN_PARAMETER("http2_streams", INTEGER, AT(http2_streams), .low = 0, .high = 1000, .initial = "0",
               .rare = true,
               .help = "0: HTTP/1.1, a connection for each request in flight; above 0: HTTP/2 with "
                       "up to that many requests on a connection, which measures something else.")
PLAN_PARAMETER("seed", INTEGER, AT(seed), .low = 0, .high = 9007199254740991.0, .initial = "1",
               .rare = true, .help = "The same seed gives the same lengths and arrivals.")
PLAN_PARAMETER(
    "time_limit_s", NUMBER, AT(time_limit_s), .low = 1, .high = 604800, .initial = "21600",
    .rare = true,
    .help = "Seconds for the whole sweep; then it stops, and sweep_resume can continue it.")
PLAN_PARAMETER("ttft_timeout_s", NUMBER, AT(ttft_timeout_s), .low = 1, .high = 3600,
               .initial = "120", .rare = true,
               .help = "Seconds a request may wait for its first token.")
PLAN_PARAMETER("idle_timeout_s", NUMBER, AT(idle_timeout_s), .low = 1, .high = 3600,
               .initial = "60", .rare = true, .help = "Seconds a stream may pause.")
PLAN_PARAMETER("request_timeout_s", NUMBER, AT(request_timeout_s), .low = 1, .high = 3600,
               .initial = "600", .rare = true, .help = "Seconds a whole request may take.")
PLAN_PARAMETER("goodput_ttft_ms", NUMBER, AT(goodput_ttft_ms), .low = 0, .high = 3600000,
               .initial = "0", .rare = true,
               .help = "Goodput counts answers whose first token came within this time; 0: no "
                       "limit.")
PLAN_PARAMETER("goodput_tpot_ms", NUMBER, AT(goodput_tpot_ms), .low = 0, .high = 3600000,
               .initial = "0", .rare = true,
               .help = "Goodput counts answers with at most this time per output token; 0: no "
                       "limit.")
PLAN_PARAMETER("search", CHOICE, AT(search), .choices = CHOICES("full", "adaptive", "climb"),
               .help = "full; adaptive: only the loads that determine saturation; climb: the "
                       "same, from below.",
               .more = "Default: full, or climb if no load is given. adaptive: per context "
                       "only the loads that determine the saturation point and the largest load "
                       "within the limits; the others are reported as inferred, without figures. "
                       "It pays off with about 10 loads or more.")
PLAN_PARAMETER(
    "limit_ttft_ms", NUMBER, AT(limits.ttft_ms), .low = 0, .high = 3600000, .initial = "0",
    .rare = true,
    .help = "Limit on time to first token, for the largest load within the limits; 0: none.")
PLAN_PARAMETER("limit_itl_ms", NUMBER, AT(limits.itl_ms), .low = 0, .high = 3600000, .initial = "0",
               .rare = true, .help = "Limit on the gap between tokens; 0: none.")
PLAN_PARAMETER("limit_tpot_ms", NUMBER, AT(limits.tpot_ms), .low = 0, .high = 3600000,
               .initial = "0", .rare = true,
               .help = "Limit on milliseconds per output token after the first; 0: none.")
PLAN_PARAMETER("limit_e2e_ms", NUMBER, AT(limits.e2e_ms), .low = 0, .high = 3600000, .initial = "0",
               .rare = true, .help = "Limit on the whole request; 0: none.")
PLAN_PARAMETER("limit_percentile", PERCENTILE, AT(limits.percentile),
               .choices = CHOICES("p50", "p90", "p95", "p99"), .initial = "\"p99\"", .rare = true,
               .help = "The percentile that must stay within the four latency limits.")
PLAN_PARAMETER(
    "limit_error_rate", NUMBER, AT(limits.error_rate), .low = 0, .high = 1, .initial = "0",
    .rare = true,
    .help = "Share of requests that may fail, such as 0.001; 0: not stated, which means 0.01.")
PLAN_PARAMETER(
    "input_distribution", CHOICE, AT(input_distribution), .choices = distribution_names,
    .initial = "\"fixed\"", .rare = true,
    .help = "Prompt lengths around input_tokens: fixed; uniform: mean x (1 - input_spread) to mean "
            "x (1 + input_spread); lognormal: a few long ones. The seed decides them: every "
            "repetition and deployment gets the same. dataset: set by giving `dataset`.")
PLAN_PARAMETER("input_spread", NUMBER, AT(input_spread), .low = 0, .high = 2, .initial = "0",
               .rare = true,
               .help = "uniform: half the range / mean, at most 1; lognormal: standard deviation / "
                       "mean.")
PLAN_PARAMETER("output_distribution", CHOICE, AT(output_distribution),
               .choices = distribution_names, .initial = "\"fixed\"", .rare = true,
               .help =
                   "As input_distribution, for answer lengths around output_tokens; dataset: as "
                   "long as the dataset's answers.")
PLAN_PARAMETER("output_spread", NUMBER, AT(output_spread), .low = 0, .high = 2, .initial = "0",
               .rare = true, .help = "As input_spread.")
PLAN_PARAMETER("dataset", TEXT, AT(dataset), .low = 1, .high = 63,
               .help = "A name from dataset_list, in place of input_tokens.",
               .more = "Its prompts are sent, in an order that the seed decides; if it has only "
                       "lengths, prompts are generated to match. Prompts that do not fit the "
                       "context are skipped and counted.")
PLAN_PARAMETER("unique_prompts", BOOLEAN, AT(unique_prompts), .initial = "false", .rare = true,
               .help = "For a dataset: puts 16 hexadecimal digits in front of each prompt, so that "
                       "none is cached when it is sent again. Otherwise repeated prompts are "
                       "counted and the cell is marked.")
PLAN_PARAMETER("shared_prefix_tokens", INTEGER, AT(shared_prefix_tokens), .low = 0, .high = 1000000,
               .initial = "0", .rare = true,
               .help = "How many of input_tokens are a prefix that other prompts share, like a "
                       "system prompt: a warm prefix cache. 0: every prompt is unique.")
PLAN_PARAMETER("prefix_pools", INTEGER, AT(prefix_pools), .low = 1, .high = 100000, .initial = "1",
               .rare = true,
               .help = "How many shared prefixes there are; each prompt begins with one.")
PLAN_PARAMETER("temperature", NUMBER, AT(temperature), .low = 0, .high = 2, .initial = "0",
               .rare = true,
               .help = "Sampling temperature, always sent. Above 0 each request also has a seed of "
                       "its own, where the server takes one.")
PLAN_PARAMETER("top_p", NUMBER, AT(top_p), .low = 0, .high = 1, .initial = "0", .rare = true,
               .help = "0: not sent.")
PLAN_PARAMETER("top_k", INTEGER, AT(top_k), .low = 0, .high = 1000000, .initial = "0", .rare = true,
               .help = "0: not sent.")
PLAN_PARAMETER("presence_penalty", NUMBER, AT(presence_penalty), .low = -2, .high = 2,
               .initial = "0", .rare = true, .help = "0: not sent.")
PLAN_PARAMETER("frequency_penalty", NUMBER, AT(frequency_penalty), .low = -2, .high = 2,
               .initial = "0", .rare = true, .help = "0: not sent.")
PLAN_PARAMETER("stop", TEXTS, LIST(stop, stop_count), .high = PLAN_STOPS, .item_low = 1,
               .item_high = PLAN_STOP_SIZE - 1, .rare = true,
               .help = "Texts that end an answer; needs natural_output.")
PLAN_PARAMETER("natural_output", BOOLEAN, AT(natural_output), .initial = "false", .rare = true,
               .help =
                   "false: answers have exactly output_tokens (ignore_eos and min_tokens, where "
                   "the server supports them; shorter ones are failures). true: the model "
                   "ends them, and output_tokens is the limit.")
