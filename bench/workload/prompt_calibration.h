/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out, with a few small requests, how to make prompts of a given length for a server. */
#pragma once

#include "bench/workload/probe_request.h"

/* Adds the plan's sampling to the workload, and tries it in one request. INVALID, with the server's
 * message, if the server refuses it, or if the model ends answers before the plan's output_tokens
 * and no field prevents that, unless the plan has natural_output. */
CHECKED bool prompt_calibration_sampling(const struct asker *asker, const struct plan *plan,
                                         struct workload *workload, struct error *error);

/* Tries in this order: token ids (completions only, if the server reports ids and accepts them),
 * words of one token each, words by their average. UPSTREAM, with the server's message, if it does
 * not answer or does not stream. `sampling`: the members of a request if a temperature of 0 is
 * refused; "": none. */
CHECKED bool prompt_calibration_workload(const struct asker *asker, enum bench_api api,
                                         const char *sampling, struct workload *out,
                                         struct error *error);
