/* SPDX-License-Identifier: Apache-2.0 */
/* Finds token ids that are safe to use in prompts: those into which the server's own tokenizer
 * turns plain words, never special ones. */
#pragma once

#include "bench/workload/probe_request.h"

/* Fills in the workload's pieces and source. False (NOT_FOUND) if the server has no tokenize API.
 */
CHECKED bool tokenize_words(const struct asker *asker, struct workload *workload,
                            struct error *error);
