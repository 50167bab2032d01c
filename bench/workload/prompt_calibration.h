/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out, by a few small requests, how prompts of a wanted length are made for a server. */
#pragma once

#include "bench/workload/probe_request.h"

/* The workload with the plan's sampling, tried in one request: INVALID with the server's words
 * where it refuses that, or where the model ends answers before the plan's output_tokens and no
 * field keeps it from that, unless the plan has natural_output. */
CHECKED bool prompt_calibration_sampling(const struct asker *asker, const struct plan *plan,
                                         struct workload *workload, struct error *error);

/* In this order: token ids (completions only, where the server tells ids and takes them), words of
 * one token each, words by their average. UPSTREAM with the server's words where it does not answer
 * or does not stream. `sampling`: the members of a request where a temperature of 0 is refused; "":
 * none. */
CHECKED bool prompt_calibration_workload(const struct asker *asker, enum bench_api api,
                                         const char *sampling, struct workload *out,
                                         struct error *error);
