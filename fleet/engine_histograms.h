/* SPDX-License-Identifier: Apache-2.0 */
/* The engines' names for the histograms of the figures that we store. */
#pragma once

/* Names of the families (without _bucket) that may give the distribution of `figure` ("ttft_count",
 * "itl_count", "e2e_count", "queue_count" of engine_metrics.h), in seconds; ends with NULL. If a
 * server has several, the first is used. */
const char *const *engine_histogram_families(const char *figure);
