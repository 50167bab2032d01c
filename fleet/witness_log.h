/* The scrapes of one attempt, in order. Private to fleet/. */
#pragma once

#include <jansson.h>

#include "fleet/metrics.h"

struct witness_log {
    struct metrics_snapshot *rows; /* heap; where there are too many, every n-th */
    size_t count, every, skipped;
    struct metrics_snapshot first, latest;
    int64_t scrapes;       /* all there were */
    double newest_start_s; /* of the processes that answered */
    int falls;             /* counters fell, or another process answered: */
    int newer;             /* of those, one that says that it started later */
    bool returned;         /* one that started earlier */
};

void witness_log_finish(struct witness_log *log);
void witness_log_add(struct witness_log *log, const struct metrics_snapshot *snapshot);
/* Several processes answer in turns: what is counted is of some of the requests. */
bool witness_log_is_several(const struct witness_log *log);
/* One process answered, then another. */
bool witness_log_has_restarted(const struct witness_log *log);

/* Within a time (UTC): the first and the last scrape; false where there are not two. */
bool witness_log_within(const struct witness_log *log, int64_t from_ms, int64_t to_ms,
                        const struct metrics_snapshot **first,
                        const struct metrics_snapshot **last);
/* As columns, {"at_ms": [...], name: [...]}: null where a scrape does not tell it. New reference.
 */
json_t *witness_log_columns(const struct witness_log *log);
