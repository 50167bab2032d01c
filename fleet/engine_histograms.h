/* SPDX-License-Identifier: Apache-2.0 */
/* The engines' names for the histograms whose figures we store. */
#pragma once

/* Returns the engines' names for the histogram (in seconds) whose count is `figure`, without the
 * suffix _bucket. The list ends with NULL; the caller uses the first name that the server reports.
 * `figure` is "ttft_count", "itl_count", "e2e_count" or "queue_count" (engine_metrics.h); for
 * any other figure the list is empty. */
const char *const *engine_histogram_families(const char *figure);
