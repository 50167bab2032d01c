/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/timeline.h"

#include <stdlib.h>

#define HOUR_MS (60 * 60 * 1000LL)
#define DAY_MS (24 * HOUR_MS)
#define JUMP_MS DAY_MS   /* after a larger jump, the clock is not trusted */
#define STEADY_MS DAY_MS /* how long the clock must run steadily to be trusted again */
#define ANCHOR_MS DAY_MS /* jumps of less than JUMP_MS are added up over this time */
/* An untrusted clock must run steadily for STEADY_MS. A jump larger than RIVAL_MS restarts this
 * wait; but if the clock jumped while the program was not running, only a jump larger than JUMP_MS
 * does. */
#define RIVAL_MS HOUR_MS

static bool is_near(int64_t a, int64_t b, int64_t limit_ms)
{
    return llabs(a - b) <= limit_ms;
}

static int64_t expected(const struct timeline *timeline, int64_t uptime_ms)
{
    return timeline->believed_ms + uptime_ms - timeline->believed_at_ms;
}

void timeline_accept(struct timeline *timeline, int64_t wall_ms, int64_t uptime_ms)
{
    *timeline = (struct timeline){ .believed_ms = wall_ms, .believed_at_ms = uptime_ms };
}

/* It is not known how long the process or the machine was down, so a difference of up to a day does
 * not count as a jump. */
void timeline_begin(struct timeline *timeline, const struct timeline_memory *memory,
                    int64_t wall_ms, int64_t uptime_ms)
{
    bool jumped = memory->seen_ms != 0 && !is_near(wall_ms, memory->seen_ms, JUMP_MS);

    timeline_accept(timeline, jumped ? memory->seen_ms : wall_ms, uptime_ms);
    if (!jumped || memory->rival_ms == 0 || !is_near(wall_ms, memory->rival_ms, JUMP_MS))
        return;
    timeline->rival_ms = wall_ms;
    timeline->rival_at_ms = uptime_ms;
    timeline->rival_ran_ms = memory->rival_ran_ms;
}

static int64_t rival_ran(const struct timeline *timeline, int64_t uptime_ms)
{
    return timeline->rival_ran_ms + uptime_ms - timeline->rival_at_ms;
}

/* Called while the clock shows an unexpected time. Remembers this time, unless the clock has merely
 * run steadily since a jump that is already remembered. */
static void follow_rival(struct timeline *timeline, int64_t wall_ms, int64_t uptime_ms)
{
    int64_t ran_to_ms = timeline->rival_ms + uptime_ms - timeline->rival_at_ms;

    if (timeline->rival_ms != 0 && is_near(wall_ms, ran_to_ms, RIVAL_MS))
        return;
    timeline->rival_ms = wall_ms;
    timeline->rival_at_ms = uptime_ms;
    timeline->rival_ran_ms = 0;
}

struct timeline_verdict timeline_judge(struct timeline *timeline, int64_t wall_ms,
                                       int64_t uptime_ms)
{
    int64_t expected_ms = expected(timeline, uptime_ms), ran_ms;

    if (is_near(wall_ms, expected_ms, JUMP_MS)) {
        timeline->rival_ms = 0;
        if (uptime_ms - timeline->believed_at_ms >= ANCHOR_MS)
            timeline_accept(timeline, wall_ms, uptime_ms);
        return (struct timeline_verdict){ .now_ms = wall_ms };
    }
    follow_rival(timeline, wall_ms, uptime_ms);
    ran_ms = rival_ran(timeline, uptime_ms);
    if (ran_ms >= STEADY_MS) {
        timeline_accept(timeline, wall_ms, uptime_ms);
        return (struct timeline_verdict){ .now_ms = wall_ms };
    }
    return (struct timeline_verdict){
        .now_ms = wall_ms < expected_ms ? wall_ms : expected_ms,
        .ahead_ms = wall_ms > expected_ms ? wall_ms - expected_ms : 0,
        .waits_ms = STEADY_MS - ran_ms,
    };
}

struct timeline_memory timeline_remember(const struct timeline *timeline, int64_t wall_ms,
                                         int64_t uptime_ms)
{
    if (timeline->rival_ms == 0)
        return (struct timeline_memory){ .seen_ms = wall_ms };
    return (struct timeline_memory){ .seen_ms = expected(timeline, uptime_ms),
                                     .rival_ms = wall_ms,
                                     .rival_ran_ms = rival_ran(timeline, uptime_ms) };
}
