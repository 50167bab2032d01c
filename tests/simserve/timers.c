/* SPDX-License-Identifier: Apache-2.0 */
/* The heap stores the due times beside the pointers, so that sifting touches few cache lines. */

#include "tests/simserve/timers.h"

#include <stdlib.h>

#include "base/core/memory.h"

#define ARITY 4

static void put(struct timers *timers, size_t index, struct timer_slot slot)
{
    timers->slots[index] = slot;
    slot.timer->place = index + 1;
}

static void sift_up(struct timers *timers, size_t index, struct timer_slot slot)
{
    while (index > 0) {
        size_t parent = (index - 1) / ARITY;

        if (timers->slots[parent].due_ns <= slot.due_ns)
            break;
        put(timers, index, timers->slots[parent]);
        index = parent;
    }
    put(timers, index, slot);
}

static size_t smallest_child(const struct timers *timers, size_t index)
{
    size_t first = index * ARITY + 1;
    size_t end = first + ARITY < timers->count ? first + ARITY : timers->count;
    size_t smallest = first;

    for (size_t child = first + 1; child < end; child++)
        if (timers->slots[child].due_ns < timers->slots[smallest].due_ns)
            smallest = child;
    return smallest;
}

static void sift_down(struct timers *timers, size_t index, struct timer_slot slot)
{
    while (index * ARITY + 1 < timers->count) {
        size_t child = smallest_child(timers, index);

        if (timers->slots[child].due_ns >= slot.due_ns)
            break;
        put(timers, index, timers->slots[child]);
        index = child;
    }
    put(timers, index, slot);
}

/* Puts `slot` at `index`, and moves it up or down to its place in the heap. */
static void settle(struct timers *timers, size_t index, struct timer_slot slot)
{
    if (index > 0 && timers->slots[(index - 1) / ARITY].due_ns > slot.due_ns)
        sift_up(timers, index, slot);
    else
        sift_down(timers, index, slot);
}

void timers_finish(struct timers *timers)
{
    free(timers->slots);
    *timers = (struct timers){ 0 };
}

void timer_set(struct timers *timers, struct timer *timer, int64_t due_ns)
{
    struct timer_slot slot = { due_ns, timer };

    timer->due_ns = due_ns;
    if (timer->place) {
        settle(timers, timer->place - 1, slot);
        return;
    }
    if (timers->count == timers->capacity) {
        timers->capacity = timers->capacity ? 2 * timers->capacity : 64;
        timers->slots = memory_resize(timers->slots, timers->capacity, sizeof *timers->slots);
    }
    sift_up(timers, timers->count++, slot);
}

void timer_cancel(struct timers *timers, struct timer *timer)
{
    size_t index = timer->place - 1;

    if (!timer->place)
        return;
    timer->place = 0;
    timers->count--;
    if (index < timers->count)
        settle(timers, index, timers->slots[timers->count]);
}

int64_t timers_next_ns(const struct timers *timers)
{
    return timers->count ? timers->slots[0].due_ns : INT64_MAX;
}

/* Loads the timer at the top of the heap, which will probably fire next, and its owner into the
 * CPU's cache. Nearly all timers are the first member of their owner, a sequence, so the owner
 * begins at the timer's address. */
static void prefetch_next(const struct timers *timers)
{
    const char *timer = timers->count > 0 ? (const char *)timers->slots[0].timer : NULL;

    for (size_t line = 0; timer && line < 4; line++)
        __builtin_prefetch(timer + line * 64);
}

void timers_fire_due(struct timers *timers, int64_t now_ns, size_t limit)
{
    while (limit-- > 0 && timers_next_ns(timers) <= now_ns) {
        struct timer *timer = timers->slots[0].timer;

        timer_cancel(timers, timer);
        prefetch_next(timers);
        timer->fire(timer->owner);
    }
}
