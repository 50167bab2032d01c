/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the steps that cover a range of time, at the levels of detail that the store keeps. */
#pragma once

#include "handlers/metrics/metric_history.h"

#define METRIC_RANGE_MINUTES_MAX 1051200 /* two years */

/* Returns the shortest of a few round steps, in seconds, with which `points` steps cover the range;
 * at most 30 days, even if those do not cover it. */
int64_t metric_range_step_s(int64_t range_ms, int64_t points);
/* Rounds `value` up to a multiple of `to`. */
int64_t metric_range_round_up(int64_t value, int64_t to);
/* Sets request->level to the level that scrape_level_for chooses for from_ms and request->step_ms.
 * Then rounds request->step_ms up to a multiple of that level's step. */
CHECKED bool metric_range_choose_level(struct store *store, int64_t from_ms,
                                       struct metric_history_request *request, struct error *error);
