/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the requests and tokens of an attempt, for comparison with the server's own counters. */
#pragma once

#include "base/measure/cross_check.h"

struct request;

struct sent_totals_sums {
    struct sent sent;
    int64_t unsized;        /* of sent.more_requests: those whose input the server did not report */
    int64_t longest_input;  /* of any request, in tokens, as reported; 0: none reported */
    int64_t longest_output; /* of any request, in tokens, as reported or requested */
};

/* Adds a request that has ended, whatever its phase. */
void sent_totals_add(struct sent_totals_sums *sums, const struct request *request);
void sent_totals_merge(struct sent_totals_sums *into, const struct sent_totals_sums *from);
/* Returns the totals. `input_tokens` is the requested length of a prompt, from which the input of
 * failed requests is estimated if the server never reported the length of a prompt. */
struct sent sent_totals_total(const struct sent_totals_sums *sums, int64_t input_tokens);
