/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of sweep_plan and sweep_start that describe the requests. */
#pragma once

#include "bench/plan/plan.h"
#include "handlers/tool.h"

extern const char *const length_distributions[]; /* ends with NULL */

#define PARAMS_WORKLOAD                                                                            \
    { "input_distribution",                                                                        \
      VALUE_CHOICE,                                                                                \
      .choices = length_distributions,                                                             \
      .initial = "\"fixed\"",                                                                      \
      .rare = true,                                                                                \
      .help = "Prompt lengths around input_tokens: fixed; uniform: mean x (1 - input_spread) to "  \
              "mean x (1 + input_spread); lognormal: a few long ones. Drawn by the seed: every "   \
              "repetition and deployment gets the same. dataset is set by giving one." },          \
        { "input_spread",                                                                          \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 2,                                                                               \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "uniform: half the range as a part of the mean, at most 1; lognormal: standard " \
                  "deviation / mean." },                                                           \
        { "output_distribution",                                                                   \
          VALUE_CHOICE,                                                                            \
          .choices = length_distributions,                                                         \
          .initial = "\"fixed\"",                                                                  \
          .rare = true,                                                                            \
          .help = "The same of answer lengths around output_tokens; dataset: as long as the "      \
                  "dataset's answers." },                                                          \
        { "output_spread",                                                                         \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 2,                                                                               \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "As input_spread." },                                                            \
        { "dataset",                                                                               \
          VALUE_TEXT,                                                                              \
          .low = 1,                                                                                \
          .high = 63,                                                                              \
          .help = "One of dataset_list, in place of input_tokens.",                                \
          .more = "Its prompts are sent, in the seed's order, or made-up ones of its lengths. "    \
                  "What does not fit the context is left out and counted." },                      \
        { "unique_prompts", VALUE_BOOLEAN, .initial = "false", .rare = true,                       \
          .help = "Of a dataset: 16 hexadecimal digits in front of each prompt, so that the "      \
                  "server has none cached when prompts come again. Without, such requests are "    \
                  "counted and the cell is marked." },                                             \
        { "shared_prefix_tokens",                                                                  \
          VALUE_INTEGER,                                                                           \
          .low = 0,                                                                                \
          .high = 1000000,                                                                         \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "So many of input_tokens are a prefix that other prompts begin with too, as "    \
                  "with a system prompt: a warm prefix cache. 0: every prompt is unique." },       \
        { "prefix_pools",                                                                          \
          VALUE_INTEGER,                                                                           \
          .low = 1,                                                                                \
          .high = 100000,                                                                          \
          .initial = "1",                                                                          \
          .rare = true,                                                                            \
          .help = "Different shared prefixes; each prompt begins with one." },                     \
        { "temperature",                                                                           \
          VALUE_NUMBER,                                                                            \
          .low = 0,                                                                                \
          .high = 2,                                                                               \
          .initial = "0",                                                                          \
          .rare = true,                                                                            \
          .help = "Sampling temperature, always sent. Over 0 each request also has its own seed, " \
                  "where the server takes one." },                                                 \
        { "top_p",      VALUE_NUMBER,          .low = 0, .high = 1, .initial = "0",                \
          .rare = true, .help = "0: not sent." },                                                  \
        { "top_k",      VALUE_INTEGER,         .low = 0, .high = 1000000, .initial = "0",          \
          .rare = true, .help = "0: not sent." },                                                  \
        { "presence_penalty", VALUE_NUMBER,          .low = -2, .high = 2, .initial = "0",         \
          .rare = true,       .help = "0: not sent." },                                            \
        { "frequency_penalty", VALUE_NUMBER,          .low = -2, .high = 2, .initial = "0",        \
          .rare = true,        .help = "0: not sent." },                                           \
        { "stop",                                                                                  \
          VALUE_TEXTS,                                                                             \
          .high = PLAN_STOPS,                                                                      \
          .item_low = 1,                                                                           \
          .item_high = PLAN_STOP_SIZE - 1,                                                         \
          .rare = true,                                                                            \
          .help = "Texts that end an answer; needs natural_output." },                             \
    {                                                                                              \
        "natural_output", VALUE_BOOLEAN,                                                           \
            .initial = "false", .rare = true,                                                      \
            .help = "false: answers have exactly output_tokens (ignore_eos and min_tokens, where " \
                    "the server has them; shorter ones are failures). true: the model ends them, " \
                    "and output_tokens is the limit."                                              \
    }
