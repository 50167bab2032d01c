/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads for tests of prompts, and the requests that are made from them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "bench/workload/prompt_source.h"

static inline struct workload make_workload(enum prompt_form form)
{
    struct workload workload = { .api = BENCH_COMPLETIONS,
                                 .form = form,
                                 .overhead_tokens = 1,
                                 .tokens_per_piece = 1,
                                 .fields = FIELD_MAX_TOKENS | FIELD_STREAM_USAGE | FIELD_IGNORE_EOS
                                           | FIELD_MIN_TOKENS,
                                 .piece_count = 300 };

    for (short i = 0; i < 300; i++)
        snprintf(workload.pieces[i], WORKLOAD_PIECE_SIZE, form == PROMPT_IDS ? "%hd" : "w%hd", i);
    return workload;
}

static inline struct prompt_source *make_prompts_of_plan(const struct workload *workload,
                                                         const struct plan *plan, int64_t tokens,
                                                         uint64_t nonce)
{
    const struct prompt_source_order order = { .workload = workload,
                                               .plan = plan,
                                               .model = "a \"model\"",
                                               .input_tokens = tokens,
                                               .output_tokens = 7,
                                               .context_tokens = 2000,
                                               .nonce = nonce };
    struct prompt_source *prompts;
    struct error error;

    if (!prompt_source_create(&order, &prompts, &error))
        fail_msg("%s", error.message);
    return prompts;
}

/* Reads request number `index` in pieces of `size` bytes (at most 4096), and returns its JSON, a
 * new reference. */
static inline json_t *read_prompt(const struct prompt_source *prompts, uint64_t index, size_t size)
{
    struct bench_prompt prompt;
    TEXT_AUTO body = { 0 };
    char piece[4096];
    size_t got;
    json_t *json;
    struct error error;

    prompt_source_make(prompts, index, &prompt);
    while ((got = prompt_source_read(&prompt, piece, size)) > 0)
        text_add_bytes(&body, piece, got);
    assert_int_equal(body.length, prompt.length);
    if (!json_parse(body.data, body.length, &json, &error))
        fail_msg("%s: %s", error.message, body.data);
    return json;
}
