/* A cell while it is measured. Private to bench/cell.c and bench/cell_result.c. */
#pragma once

#include "bench/cell.h"
#include "bench/shard.h"

#define SHARDS_LIMIT 16

struct cell {
    const struct cell_order *order;
    struct load load;
    struct prompts *prompts;
    struct reach reach;
    struct shard *shards[SHARDS_LIMIT];
    size_t shard_count;
    int64_t begun_ns, drain_ns, ended_ns;
    int64_t window_start_ms;
    int64_t cpu_ns[SHARDS_LIMIT]; /* at the window's start, then within it, */
    int64_t cpu_clock_ns;         /* and over which time */
    struct tally total;
};

/* What was measured, with the state and the reason. Takes the histograms out of the cell's total.
 */
void cell_result_fill(struct cell *cell, struct cell_result *out);
/* Of a server that this machine cannot reach with so many users: nothing was sent. */
void cell_result_fill_unsent(const struct error *why, struct cell_result *out);
