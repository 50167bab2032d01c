/* SPDX-License-Identifier: Apache-2.0 */
/* Computes a cell's measurement from what was counted. */
#pragma once

#include "bench/load/tally.h"

/* Fills everything but the window's start, warm-up and drain times, the cold TTFT and the CPU. */
void cell_summary_fill(const struct tally *tally, double window_s, int64_t input_tokens,
                       struct measurement *out);
/* Fills the measurement of a cell that had no window: it only has the failures of probe and
 * warm-up. */
void cell_summary_fill_early(const struct tally *tally, int64_t input_tokens,
                             struct measurement *out);
/* Returns the class with the most failures in the window, else before it; FAILURE_NONE if nothing
 * failed. */
enum failure cell_summary_main_failure(const struct tally *tally);
