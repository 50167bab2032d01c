/* Has a rate settled? From samples of a counter: two successive windows agree. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct steady {
    struct steady_sample {
        int64_t at_ns, count;
    } * samples;
    size_t count, capacity;
};

void steady_finish(struct steady *steady);
void steady_add(struct steady *steady, int64_t at_ns, int64_t count);
/* Within a tenth of the larger one, over the last window_ns and the window_ns before. False while
 * there are not two windows yet, or nothing moves. */
bool steady_agrees(const struct steady *steady, int64_t window_ns);
