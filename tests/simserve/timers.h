/* SPDX-License-Identifier: Apache-2.0 */
/* A 4-ary heap of timers. All times are nanoseconds of the monotonic clock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in its owner, which sets `fire` and `owner`, and sets the other members to zero. */
struct timer {
    void (*fire)(void *owner);
    void *owner;
    int64_t due_ns;
    size_t place; /* 1 + index in the heap; 0 = not set */
};

struct timers {
    struct timer_slot {
        int64_t due_ns;
        struct timer *timer;
    } * slots;
    size_t count;
    size_t capacity;
};

void timers_finish(struct timers *timers);
/* Sets or moves the timer. */
void timer_set(struct timers *timers, struct timer *timer, int64_t due_ns);
void timer_cancel(struct timers *timers, struct timer *timer);
/* Returns when the next timer is due, or INT64_MAX if there is none. */
int64_t timers_next_ns(const struct timers *timers);
/* Fires at most `limit` timers that are due at now_ns, the earliest first. `fire` is allowed to set
 * its timer again. */
void timers_fire_due(struct timers *timers, int64_t now_ns, size_t limit);
