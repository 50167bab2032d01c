/* SPDX-License-Identifier: Apache-2.0 */
/* The prompt of a request as token ids, read directly from the bytes: for a hundred kilobytes,
 * building a tree would take longer than the plan allows. */
#pragma once

#include "base/core/error.h"
#include "base/json/json_scan.h"
#include "tests/simserve/tokenizer.h"

/* Each of these reads the next value and appends its tokens. */

/* Text, a list of ids, or a list with one of these. */
bool prompt_read(struct tokenizer *tokenizer, struct json_scan *scan, struct tokens *out,
                 struct error *error);
/* A list of chat messages; adds a chat template of `template_tokens` tokens. */
bool prompt_read_messages(struct tokenizer *tokenizer, int64_t template_tokens,
                          struct json_scan *scan, struct tokens *out, struct error *error);
/* A list of ids; `name` is for the error message. */
bool prompt_read_ids(struct json_scan *scan, const char *name, struct tokens *out,
                     struct error *error);
