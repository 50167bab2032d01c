/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out, with trial requests, how to make prompts of a given length for a server, and which
 * fields it accepts. */
#pragma once

#include "bench/workload/probe_request.h"

/* Finds the kind of prompt and the fields that the server accepts. Tries these kinds, in this
 * order: token ids (only for completions, if the server has a tokenizer and accepts ids), words of
 * one token each, letters of one token each, words with a known average number of tokens. If the
 * server reports no token counts, each word counts as one token. `sampling` (JSON members, or "")
 * is added to the requests if the server refuses a temperature of 0. Fails with UPSTREAM or TIMEOUT
 * if the server does not answer or does not stream. */
CHECKED bool prompt_calibration_workload(const struct asker *asker, enum bench_api api,
                                         const char *sampling, struct workload *out,
                                         struct error *error);

/* Adds the plan's sampling to the workload; if the temperature is not 0, also a seed, unless the
 * server refuses it. INVALID if the plan has sampling settings besides the temperature, and the
 * server refuses them. Also INVALID if the model ends two trial answers early because the server
 * ignores the fields that prevent this, unless the plan has natural_output. */
CHECKED bool prompt_calibration_sampling(const struct asker *asker, const struct plan *plan,
                                         struct workload *workload, struct error *error);
