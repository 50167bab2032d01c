/* SPDX-License-Identifier: Apache-2.0 */
/* What an attempt sent, all in all, so that the server's own counters can be held against it. */
#pragma once

#include "base/measure/cross_check.h"

struct request;

struct sent_totals_sums {
    struct sent sent;
    int64_t unsized; /* sends the server may count, whose input it did not tell */
    int64_t longest_input, longest_output; /* that it told, or was asked for, of any request */
};

/* A request ended, in whichever phase. */
void sent_totals_add(struct sent_totals_sums *sums, const struct request *request);
void sent_totals_merge(struct sent_totals_sums *into, const struct sent_totals_sums *from);
/* `input_tokens` were asked for: where nothing was told, a failed request had no more. */
struct sent sent_totals_total(const struct sent_totals_sums *sums, int64_t input_tokens);
