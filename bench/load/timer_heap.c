#include "bench/load/timer_heap.h"

#include <stdlib.h>

#include "base/core/memory.h"

void deadlines_finish(struct deadlines *deadlines)
{
    free(deadlines->heap);
    *deadlines = (struct deadlines){ 0 };
}

static void put(struct deadlines *deadlines, struct deadline *deadline, size_t place)
{
    deadlines->heap[place] = deadline;
    deadline->place = place;
}

/* Finds the place of `deadline`, for which `place` is free, towards the root and then the leaves.
 */
static void settle(struct deadlines *deadlines, struct deadline *deadline, size_t place)
{
    struct deadline **heap = deadlines->heap;
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

static void reserve(struct deadlines *deadlines)
{
    if (deadlines->count + 1 < deadlines->capacity)
        return;
    deadlines->capacity = deadlines->capacity > 0 ? 2 * deadlines->capacity : 64;
    deadlines->heap = memory_resize(deadlines->heap, deadlines->capacity, sizeof *deadlines->heap);
}

void deadlines_set(struct deadlines *deadlines, struct deadline *deadline, int64_t at_ns)
{
    size_t place = deadline->place;

    deadline->at_ns = at_ns;
    if (place == 0) {
        reserve(deadlines);
        place = ++deadlines->count;
    }
    settle(deadlines, deadline, place);
}

void deadlines_unset(struct deadlines *deadlines, struct deadline *deadline)
{
    size_t place = deadline->place;
    struct deadline *last;

    if (place == 0)
        return;
    deadline->place = 0;
    last = deadlines->heap[deadlines->count--];
    if (last != deadline)
        settle(deadlines, last, place);
}

int64_t deadlines_next_ns(const struct deadlines *deadlines)
{
    return deadlines->count > 0 ? deadlines->heap[1]->at_ns : DEADLINE_NEVER;
}

struct deadline *deadlines_take(struct deadlines *deadlines, int64_t now_ns)
{
    struct deadline *first;

    if (deadlines_next_ns(deadlines) > now_ns)
        return NULL;
    first = deadlines->heap[1];
    deadlines_unset(deadlines, first);
    return first;
}
