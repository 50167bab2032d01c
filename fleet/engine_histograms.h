/* SPDX-License-Identifier: Apache-2.0 */
/* What the engines call the histograms behind the figures that we keep. */
#pragma once

/* Names of the families (without _bucket) that may tell how `figure` ("ttft_count", "itl_count",
 * "e2e_count", "queue_count" of engine_metrics.h) was spread, in seconds; ends with NULL. Where a
 * server has several the first counts. */
const char *const *engine_histogram_families(const char *figure);
