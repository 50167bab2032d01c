/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the next of many timers quickly: a binary heap of pointers to timers, which are members of
 * the structs that own them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TIMER_NEVER INT64_MAX

/* A member of the struct that waits for it. A zeroed timer is not set. */
struct timer {
    int64_t at_ns; /* when it is due */
    size_t place;  /* index in the heap; 0: not set */
};

struct timer_heap {
    struct timer **heap; /* heap[1] is due first; heap[0] is not used */
    size_t count, capacity;
};

void timer_heap_finish(struct timer_heap *timers);
/* Sets the timer to at_ns. If it is already set, changes its time. */
void timer_heap_set(struct timer_heap *timers, struct timer *timer, int64_t at_ns);
/* Does nothing if the timer is not set. */
void timer_heap_unset(struct timer_heap *timers, struct timer *timer);
int64_t timer_heap_next_ns(const struct timer_heap *timers); /* TIMER_NEVER when empty */
/* Unsets and returns the first timer if it is due at now_ns, else returns NULL. */
struct timer *timer_heap_pop(struct timer_heap *timers, int64_t now_ns);
