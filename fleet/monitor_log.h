/* SPDX-License-Identifier: Apache-2.0 */
/* The scrapes of a model server during one attempt to measure a cell, in order. Private to
 * fleet/. */
#pragma once

#include <jansson.h>

#include "fleet/replicas.h"

struct monitor_log {
    struct engine_metrics_snapshot *rows; /* the kept scrapes, on the heap */
    size_t count;
    /* one scrape in this many is kept: 1 at first, and twice as many each time `rows` is full */
    size_t every;
    size_t skipped; /* scrapes since the last one kept */
    struct engine_metrics_snapshot first;
    struct replicas instances; /* what all scrapes have shown, including those not kept */
};

void monitor_log_finish(struct monitor_log *log);
void monitor_log_add(struct monitor_log *log, const struct engine_metrics_snapshot *snapshot);
/* Finds the first and the last of the kept scrapes that were made between two times (UTC, both
 * inclusive). Both are borrowed. Returns false if there are fewer than two such scrapes. */
bool monitor_log_within(const struct monitor_log *log, int64_t from_ms, int64_t to_ms,
                        const struct engine_metrics_snapshot **first,
                        const struct engine_metrics_snapshot **last);
/* Returns the longest time, in seconds, without a kept scrape between two times (UTC). Returns 0 if
 * it is under 3 s or not far above the usual interval, or if there are too few kept scrapes to
 * judge. */
double monitor_log_gap_s(const struct monitor_log *log, int64_t from_ms, int64_t to_ms);
/* Returns the kept scrapes as columns, {"at_ms": [...], name: [...]}, with null where a scrape
 * lacks the value. New reference. */
json_t *monitor_log_columns(const struct monitor_log *log);
