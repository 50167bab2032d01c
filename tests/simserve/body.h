/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the members that this server supports from the JSON body of a request. */
#pragma once

#include "base/core/error.h"
#include "tests/simserve/config.h"
#include "tests/simserve/tokenizer.h"

enum body_prompt { BODY_NOTHING, BODY_PROMPT, BODY_MESSAGES, BODY_IDS };

struct body {
    enum body_prompt given; /* the member that `tokens` were read from */
    struct tokens tokens;
    char model[CONFIG_TEXT_SIZE]; /* empty if absent */
    char cache_salt[CONFIG_TEXT_SIZE];
    int64_t max_tokens;            /* 0 if absent */
    int64_t max_completion_tokens; /* 0 if absent */
    int64_t min_tokens;
    int64_t n; /* 1 if absent */
    bool stream;
    bool ignore_eos;
    bool has_stream_options;
    bool include_usage;
    bool continuous_usage_stats;
};

#define BODY_AUTO __attribute__((cleanup(body_finish))) struct body

/* Reads a request's body, and skips the members that struct body does not have. Fails with
 * ERROR_INVALID if the body is not a JSON object or a member has a wrong value. The caller releases
 * *out with body_finish, even after a failure. */
bool body_read(struct tokenizer *tokenizer, const struct config *config, const char *bytes,
               size_t length, struct body *out, struct error *error);
void body_finish(struct body *body);
