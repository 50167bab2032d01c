/* SPDX-License-Identifier: Apache-2.0 */
/* Is the wall clock to be believed? It is held against the time that the machine has been running
 * and against when it was believed last: where it jumps by more than a day, what goes by ages goes
 * on by the time of before, until the clock has run on like that for a day or somebody says that it
 * is right. Times are milliseconds; `uptime_ms` is clock_uptime_ms(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct timeline {
    int64_t believed_ms, believed_at_ms; /* wall time that was believed, and the uptime then */
    int64_t rival_ms, rival_at_ms;       /* where it jumped to, and the uptime then; 0: nowhere */
    int64_t rival_ran_ms;                /* how long it had run on from there before rival_at_ms */
};

/* What outlives the process. */
struct timeline_memory {
    int64_t seen_ms;  /* 0: nothing is remembered, the clock is believed */
    int64_t rival_ms; /* 0: there is none */
    int64_t rival_ran_ms;
};

struct timeline_verdict {
    int64_t now_ms;   /* what ages are counted to */
    int64_t ahead_ms; /* so much further the wall clock is; 0: it is believed, or behind */
    int64_t waits_ms; /* so long it has to run on to be believed; 0: it is */
};

void timeline_begin(struct timeline *timeline, const struct timeline_memory *memory,
                    int64_t wall_ms, int64_t uptime_ms);
struct timeline_verdict timeline_judge(struct timeline *timeline, int64_t wall_ms,
                                       int64_t uptime_ms);
/* Somebody says that the clock is right. */
void timeline_accept(struct timeline *timeline, int64_t wall_ms, int64_t uptime_ms);
struct timeline_memory timeline_remember(const struct timeline *timeline, int64_t wall_ms,
                                         int64_t uptime_ms);
