/* SPDX-License-Identifier: Apache-2.0 */
/* The time as of which ages are computed when rows are deleted by age (base/core/timeline.h). What
 * is known about the clock is stored, so that a restart does not lose it. */
#pragma once

#include "base/core/timeline.h"
#include "store/ledger/change.h"

/* Returns the time as of which ages are computed, given the wall clock's time and the machine's
 * uptime. Thread safe. Logs when the wall clock is too far ahead to be believed, and when it no
 * longer is. */
struct timeline_verdict plausible_time(struct store *store, int64_t wall_ms, int64_t uptime_ms);
/* The same, with the current time and uptime. */
struct timeline_verdict plausible_time_now(struct store *store);
/* From now until its next jump, the wall clock is believed. *before: the verdict before that. */
CHECKED bool plausible_time_accept(struct store *store, int64_t wall_ms, int64_t uptime_ms,
                                   struct change *change, struct timeline_verdict *before,
                                   struct error *error);
