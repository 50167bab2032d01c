/* SPDX-License-Identifier: Apache-2.0 */
/* Judges whether the wall clock can be trusted, by comparing it with the machine's uptime and with
 * the last time at which it was trusted. After a jump of more than a day, the clock is not trusted
 * until it jumps back, has run steadily for a day, or somebody confirms it with `opsbrain clock
 * accept`. Meanwhile, ages are computed from the time that the clock shows, or the time that it
 * would show without the jump, whichever is earlier. Times are in milliseconds; `uptime_ms` is
 * clock_uptime_ms(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct timeline {
    int64_t believed_ms;    /* a wall time that was trusted */
    int64_t believed_at_ms; /* the uptime at that time */
    int64_t rival_ms;       /* an untrusted wall time after a jump; 0: the clock is trusted */
    int64_t rival_at_ms;    /* the uptime at which the clock showed rival_ms */
    int64_t rival_ran_ms; /* how long, at rival_at_ms, the clock had run steadily since the jump */
};

/* The part that is stored, so that it survives a restart. */
struct timeline_memory {
    /* The latest wall time; after an untrusted jump, what the clock would show had it not jumped.
     * 0: nothing is stored. */
    int64_t seen_ms;
    /* After an untrusted jump: the latest time that the clock showed. 0: the clock is trusted. */
    int64_t rival_ms;
    int64_t rival_ran_ms; /* how long the clock had run steadily since the jump */
};

struct timeline_verdict {
    int64_t now_ms;   /* the time from which ages are computed */
    int64_t ahead_ms; /* how far the wall clock is ahead of now_ms; 0: it is trusted, or behind */
    int64_t waits_ms; /* how long it must still run steadily to be trusted; 0: it is trusted */
};

/* Starts from what is stored. If nothing is stored (`memory` is zeroed), the clock is trusted. */
void timeline_begin(struct timeline *timeline, const struct timeline_memory *memory,
                    int64_t wall_ms, int64_t uptime_ms);
/* To be called regularly, with the current wall time and uptime. */
struct timeline_verdict timeline_judge(struct timeline *timeline, int64_t wall_ms,
                                       int64_t uptime_ms);
/* Trusts the clock from now on. */
void timeline_accept(struct timeline *timeline, int64_t wall_ms, int64_t uptime_ms);
/* Returns what to store. */
struct timeline_memory timeline_remember(const struct timeline *timeline, int64_t wall_ms,
                                         int64_t uptime_ms);
