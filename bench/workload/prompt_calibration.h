/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out, with trial requests, how to make prompts of a given length for a server, and which
 * fields it accepts. */
#pragma once

#include "bench/workload/probe_request.h"

/* Finds the kind of prompt and the fields that the server accepts. Tries these kinds, in this
 * order: token ids (only for completions, if the server has a tokenizer and accepts ids), words of
 * one token each, letters of one token each, words with their average number of tokens. If the
 * server counts no tokens, words are taken to be one token each. `sampling` has members for
 * the requests' JSON, which are used if the server refuses a temperature of 0; "": none. UPSTREAM
 * or TIMEOUT if the server does not answer or does not stream. */
CHECKED bool prompt_calibration_workload(const struct asker *asker, enum bench_api api,
                                         const char *sampling, struct workload *out,
                                         struct error *error);

/* Adds the plan's sampling to the workload; if the temperature is not 0, also a seed, unless the
 * server refuses it. INVALID if the plan has sampling settings besides the temperature and
 * the server refuses them; also, unless the plan has natural_output, if the model ends two trial
 * answers early because the server ignores the fields that prevent it. */
CHECKED bool prompt_calibration_sampling(const struct asker *asker, const struct plan *plan,
                                         struct workload *workload, struct error *error);
