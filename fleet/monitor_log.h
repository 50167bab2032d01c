/* The scrapes of one attempt, in order. Private to fleet/. */
#pragma once

#include <jansson.h>

#include "fleet/replicas.h"

struct witness_log {
    struct metrics_snapshot *rows; /* heap; where there are too many, every n-th */
    size_t count, every, skipped;
    struct metrics_snapshot first;
    struct instances instances; /* by all scrapes there were */
};

void witness_log_finish(struct witness_log *log);
void witness_log_add(struct witness_log *log, const struct metrics_snapshot *snapshot);
/* Within a time (UTC): the first and the last scrape; false where there are not two. */
bool witness_log_within(const struct witness_log *log, int64_t from_ms, int64_t to_ms,
                        const struct metrics_snapshot **first,
                        const struct metrics_snapshot **last);
/* The longest time within it in which no scrape came; 0 where that is under 3 s or not far beyond
 * the usual, and where there are too few to tell. */
double witness_log_gap_s(const struct witness_log *log, int64_t from_ms, int64_t to_ms);
/* As columns, {"at_ms": [...], name: [...]}: null where a scrape does not tell it. New reference.
 */
json_t *witness_log_columns(const struct witness_log *log);
