/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the prompt of a request as token ids, directly from the bytes of the JSON: parsing a
 * hundred kilobytes into a tree would delay the streams. */
#pragma once

#include "base/core/error.h"
#include "base/json/json_scan.h"
#include "tests/simserve/tokenizer.h"

/* Each of these functions reads the next value and appends its tokens. */

/* Reads a text, a list of ids, or a list with one of these. */
bool prompt_read(struct tokenizer *tokenizer, struct json_scan *scan, struct tokens *out,
                 struct error *error);
/* Reads a list of chat messages, and adds a chat template of `template_tokens` tokens. */
bool prompt_read_messages(struct tokenizer *tokenizer, int64_t template_tokens,
                          struct json_scan *scan, struct tokens *out, struct error *error);
/* Reads the list of ids in the member "tokens". */
bool prompt_read_ids(struct json_scan *scan, struct tokens *out, struct error *error);
