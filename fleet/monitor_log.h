/* SPDX-License-Identifier: Apache-2.0 */
/* The scrapes of one attempt, in order. Private to fleet/. */
#pragma once

#include <jansson.h>

#include "fleet/replicas.h"

struct monitor_log {
    struct engine_metrics_snapshot *rows; /* heap; where there are too many, every n-th */
    size_t count, every, skipped;
    struct engine_metrics_snapshot first;
    struct replicas instances; /* by all scrapes there were */
};

void monitor_log_finish(struct monitor_log *log);
void monitor_log_add(struct monitor_log *log, const struct engine_metrics_snapshot *snapshot);
/* Within a time (UTC): the first and the last scrape; false where there are not two. */
bool monitor_log_within(const struct monitor_log *log, int64_t from_ms, int64_t to_ms,
                        const struct engine_metrics_snapshot **first,
                        const struct engine_metrics_snapshot **last);
/* The longest time within it in which no scrape came; 0 where that is under 3 s or not far beyond
 * the usual, and where there are too few to tell. */
double monitor_log_gap_s(const struct monitor_log *log, int64_t from_ms, int64_t to_ms);
/* As columns, {"at_ms": [...], name: [...]}: null where a scrape does not tell it. New reference.
 */
json_t *monitor_log_columns(const struct monitor_log *log);
