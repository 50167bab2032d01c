/* SPDX-License-Identifier: Apache-2.0 */
/* Many deadlines, the next one first: a binary heap of borrowed members. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TIMER_NEVER INT64_MAX

/* A member of the struct that has the deadline. In zeroed memory it is not set. */
struct timer {
    int64_t at_ns;
    size_t place; /* in the heap, from 1; 0: not set */
};

struct timer_heap {
    struct timer **heap; /* from 1 */
    size_t count, capacity;
};

void timer_heap_finish(struct timer_heap *deadlines);
void timer_heap_set(struct timer_heap *deadlines, struct timer *deadline, int64_t at_ns);
void timer_heap_unset(struct timer_heap *deadlines,
                      struct timer *deadline);                  /* does nothing if it is not set
                                                                 */
int64_t timer_heap_next_ns(const struct timer_heap *deadlines); /* TIMER_NEVER when empty */
/* Unsets and returns the first one if it is due at now_ns, else NULL. */
struct timer *timer_heap_take(struct timer_heap *deadlines, int64_t now_ns);
