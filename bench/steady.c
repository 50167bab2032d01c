#include "bench/steady.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

#define AGREEMENT 0.1

void steady_finish(struct steady *steady)
{
    free(steady->samples);
    *steady = (struct steady){ 0 };
}

void steady_add(struct steady *steady, int64_t at_ns, int64_t count)
{
    if (steady->count == steady->capacity) {
        steady->capacity = steady->capacity > 0 ? 2 * steady->capacity : 256;
        steady->samples = memory_resize(steady->samples, steady->capacity, sizeof *steady->samples);
    }
    steady->samples[steady->count++] = (struct steady_sample){ at_ns, count };
}

/* The latest sample at or before at_ns; NULL if there is none. */
static const struct steady_sample *find(const struct steady *steady, int64_t at_ns)
{
    for (size_t i = steady->count; i > 0; i--)
        if (steady->samples[i - 1].at_ns <= at_ns)
            return &steady->samples[i - 1];
    return NULL;
}

static double rate(const struct steady_sample *from, const struct steady_sample *to)
{
    return (double)(to->count - from->count) / (double)(to->at_ns - from->at_ns);
}

bool steady_agrees(const struct steady *steady, int64_t window_ns)
{
    const struct steady_sample *first, *middle, *last;
    double before, after;

    if (steady->count == 0)
        return false;
    last = &steady->samples[steady->count - 1];
    middle = find(steady, last->at_ns - window_ns);
    first = find(steady, last->at_ns - 2 * window_ns);
    if (first == NULL || first == middle || middle == last)
        return false;
    before = rate(first, middle);
    after = rate(middle, last);
    return before > 0 && fabs(before - after) <= AGREEMENT * fmax(before, after);
}
