/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the prompt of a request as token ids, directly from the bytes of the JSON, because
 * parsing a hundred kilobytes into a tree would delay the streams. */
#pragma once

#include "base/core/error.h"
#include "base/json/json_scan.h"
#include "tests/simserve/tokenizer.h"

/* Each of these functions reads the next JSON value and appends its tokens to `out`. */

/* Reads a string, a list of token ids, or a list that contains one such prompt. */
bool prompt_read(struct tokenizer *tokenizer, struct json_scan *scan, struct tokens *out,
                 struct error *error);
/* Reads a list of chat messages, and adds the `template_tokens` tokens of a chat template. */
bool prompt_read_messages(struct tokenizer *tokenizer, int64_t template_tokens,
                          struct json_scan *scan, struct tokens *out, struct error *error);
/* Reads the value of the member "tokens", a list of token ids. */
bool prompt_read_ids(struct json_scan *scan, struct tokens *out, struct error *error);
