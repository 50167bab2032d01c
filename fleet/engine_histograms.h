/* SPDX-License-Identifier: Apache-2.0 */
/* The engines' names for the histograms of the figures that we store. */
#pragma once

/* Returns the names, without _bucket, under which the engines have the histogram (in seconds) whose
 * count is `figure`; the list ends with NULL, and the caller uses the first name that the server
 * has. `figure` is "ttft_count", "itl_count", "e2e_count" or "queue_count" (engine_metrics.h); for
 * any other figure the list is empty. */
const char *const *engine_histogram_families(const char *figure);
