/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the wall clock can be trusted. It is compared with the machine's uptime and with the last
 * time it was trusted. After a jump of more than a day, ages are computed on the previous time
 * until the clock has run on steadily for a day, or somebody confirms it. Times are milliseconds;
 * `uptime_ms` is clock_uptime_ms(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct timeline {
    int64_t believed_ms, believed_at_ms; /* wall time that was trusted, and the uptime then */
    int64_t rival_ms, rival_at_ms;       /* where it jumped to, and the uptime then; 0: no jump */
    int64_t rival_ran_ms;                /* how long it had run on since the jump, at rival_at_ms */
};

/* The part that outlives the process. */
struct timeline_memory {
    int64_t seen_ms;  /* 0: nothing is stored, the clock is trusted */
    int64_t rival_ms; /* 0: no jump */
    int64_t rival_ran_ms;
};

struct timeline_verdict {
    int64_t now_ms;   /* the time that ages are computed from */
    int64_t ahead_ms; /* how far the wall clock is ahead; 0: it is trusted, or behind */
    int64_t waits_ms; /* how long it still has to run on to be trusted; 0: it is trusted */
};

void timeline_begin(struct timeline *timeline, const struct timeline_memory *memory,
                    int64_t wall_ms, int64_t uptime_ms);
struct timeline_verdict timeline_judge(struct timeline *timeline, int64_t wall_ms,
                                       int64_t uptime_ms);
/* Somebody confirms that the clock is right. */
void timeline_accept(struct timeline *timeline, int64_t wall_ms, int64_t uptime_ms);
struct timeline_memory timeline_remember(const struct timeline *timeline, int64_t wall_ms,
                                         int64_t uptime_ms);
