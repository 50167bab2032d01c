/* SPDX-License-Identifier: Apache-2.0 */
/* From what was counted to the measurement of a cell. */
#pragma once

#include "bench/load/tally.h"

/* Fills everything but the window's start, warm-up and drain times, the cold TTFT and the CPU. */
void cell_summary_fill(const struct tally *tally, double window_s, int64_t input_tokens,
                       struct measurement *out);
/* The same where there was no window: only what failed before it. */
void cell_summary_fill_early(const struct tally *tally, int64_t input_tokens,
                             struct measurement *out);
/* The class of which there were most (in the window; else in the warm-up); FAILURE_NONE if none. */
enum failure cell_summary_main_failure(const struct tally *tally);
