/* SPDX-License-Identifier: Apache-2.0 */
/* The time from which ages are computed when old rows are deleted (base/core/timeline.h). What is
 * known about the clock is stored, so that it survives a restart. */
#pragma once

#include "base/core/timeline.h"
#include "store/ledger/change.h"

/* Returns the time from which ages are computed, given the wall clock's time and the machine's
 * uptime. Logs when the wall clock is too far ahead to be trusted, and when it is trusted again.
 * Thread safe. */
struct timeline_verdict plausible_time(struct store *store, int64_t wall_ms, int64_t uptime_ms);
/* The same, with the current time and uptime. */
struct timeline_verdict plausible_time_now(struct store *store);
/* Trusts the wall clock until it jumps again. *before: the verdict before this call. */
CHECKED bool plausible_time_accept(struct store *store, int64_t wall_ms, int64_t uptime_ms,
                                   struct change *change, struct timeline_verdict *before,
                                   struct error *error);
