/* SPDX-License-Identifier: Apache-2.0 */
/* Computes a cell's measurement from what was counted. */
#pragma once

#include "bench/load/tally.h"

/* Fills in the window's counts, rates, lags and latencies. cell_finish.c adds the rest, for example
 * the times of warm-up and drain, the precision, the evenness and the cold TTFT. */
void cell_summary_fill(const struct tally *tally, double window_s, int64_t input_tokens,
                       struct measurement *out);
/* Fills in the measurement of a cell that had no window: the failures of the probe and of the
 * warm-up, the requested lengths, and the connections. */
void cell_summary_fill_early(const struct tally *tally, int64_t input_tokens,
                             struct measurement *out);
/* Returns the class with the most failures in the window or, if nothing failed in it, before the
 * window; FAILURE_NONE if nothing failed in either. */
enum failure cell_summary_main_failure(const struct tally *tally);
