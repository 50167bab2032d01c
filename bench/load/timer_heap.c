/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/timer_heap.h"

#include <stdlib.h>

#include "base/core/memory.h"

void timer_heap_finish(struct timer_heap *deadlines)
{
    free(deadlines->heap);
    *deadlines = (struct timer_heap){ 0 };
}

static void put(struct timer_heap *deadlines, struct timer *deadline, size_t place)
{
    deadlines->heap[place] = deadline;
    deadline->place = place;
}

/* Finds the place of `deadline`, given that `place` is free, moving towards the root and then the
 * leaves */
static void settle(struct timer_heap *deadlines, struct timer *deadline, size_t place)
{
    struct timer **heap = deadlines->heap;
    size_t child;

    for (; place > 1 && heap[place / 2]->at_ns > deadline->at_ns; place /= 2)
        put(deadlines, heap[place / 2], place);
    for (; (child = 2 * place) <= deadlines->count; place = child) {
        if (child < deadlines->count && heap[child + 1]->at_ns < heap[child]->at_ns)
            child++;
        if (heap[child]->at_ns >= deadline->at_ns)
            break;
        put(deadlines, heap[child], place);
    }
    put(deadlines, deadline, place);
}

static void reserve(struct timer_heap *deadlines)
{
    if (deadlines->count + 1 < deadlines->capacity)
        return;
    deadlines->capacity = deadlines->capacity > 0 ? 2 * deadlines->capacity : 64;
    deadlines->heap = memory_resize(deadlines->heap, deadlines->capacity, sizeof *deadlines->heap);
}

void timer_heap_set(struct timer_heap *deadlines, struct timer *deadline, int64_t at_ns)
{
    size_t place = deadline->place;

    deadline->at_ns = at_ns;
    if (place == 0) {
        reserve(deadlines);
        place = ++deadlines->count;
    }
    settle(deadlines, deadline, place);
}

void timer_heap_unset(struct timer_heap *deadlines, struct timer *deadline)
{
    size_t place = deadline->place;
    struct timer *last;

    if (place == 0)
        return;
    deadline->place = 0;
    last = deadlines->heap[deadlines->count--];
    if (last != deadline)
        settle(deadlines, last, place);
}

int64_t timer_heap_next_ns(const struct timer_heap *deadlines)
{
    return deadlines->count > 0 ? deadlines->heap[1]->at_ns : TIMER_NEVER;
}

struct timer *timer_heap_take(struct timer_heap *deadlines, int64_t now_ns)
{
    struct timer *first;

    if (timer_heap_next_ns(deadlines) > now_ns)
        return NULL;
    first = deadlines->heap[1];
    timer_heap_unset(deadlines, first);
    return first;
}
