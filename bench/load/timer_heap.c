/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/timer_heap.h"

#include <stdlib.h>

#include "base/core/memory.h"

void timer_heap_finish(struct timer_heap *timers)
{
    free(timers->heap);
    *timers = (struct timer_heap){ 0 };
}

static void put(struct timer_heap *timers, struct timer *timer, size_t place)
{
    timers->heap[place] = timer;
    timer->place = place;
}

/* Puts `timer` into the heap, whose slot `place` is free. Moves the free slot towards the root
 * or towards the leaves, until the timer can go there. */
static void sift(struct timer_heap *timers, struct timer *timer, size_t place)
{
    struct timer **heap = timers->heap;
    size_t child;

    for (; place > 1 && heap[place / 2]->at_ns > timer->at_ns; place /= 2)
        put(timers, heap[place / 2], place);
    for (; (child = 2 * place) <= timers->count; place = child) {
        if (child < timers->count && heap[child + 1]->at_ns < heap[child]->at_ns)
            child++;
        if (heap[child]->at_ns >= timer->at_ns)
            break;
        put(timers, heap[child], place);
    }
    put(timers, timer, place);
}

static void reserve(struct timer_heap *timers)
{
    if (timers->count + 1 < timers->capacity)
        return;
    timers->capacity = timers->capacity > 0 ? 2 * timers->capacity : 64;
    timers->heap = memory_resize(timers->heap, timers->capacity, sizeof *timers->heap);
}

void timer_heap_set(struct timer_heap *timers, struct timer *timer, int64_t at_ns)
{
    size_t place = timer->place;

    timer->at_ns = at_ns;
    if (place == 0) {
        reserve(timers);
        place = ++timers->count;
    }
    sift(timers, timer, place);
}

void timer_heap_unset(struct timer_heap *timers, struct timer *timer)
{
    size_t place = timer->place;
    struct timer *last;

    if (place == 0)
        return;
    timer->place = 0;
    last = timers->heap[timers->count--];
    if (last != timer)
        sift(timers, last, place);
}

int64_t timer_heap_next_ns(const struct timer_heap *timers)
{
    return timers->count > 0 ? timers->heap[1]->at_ns : TIMER_NEVER;
}

struct timer *timer_heap_pop(struct timer_heap *timers, int64_t now_ns)
{
    struct timer *first;

    if (timer_heap_next_ns(timers) > now_ns)
        return NULL;
    first = timers->heap[1];
    timer_heap_unset(timers, first);
    return first;
}
