/* SPDX-License-Identifier: Apache-2.0 */
/* Finds token ids that are safe to use in prompts: the server's own tokenizer makes them from plain
 * words, so that none is special. */
#pragma once

#include "bench/workload/probe_request.h"

/* Fills in the workload's pieces and source. NOT_FOUND if no tokenize API of the server returns
 * enough ids, CANCELLED if stopped. */
CHECKED bool tokenize_words(const struct asker *asker, struct workload *workload,
                            struct error *error);
