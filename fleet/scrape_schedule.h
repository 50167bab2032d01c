/* SPDX-License-Identifier: Apache-2.0 */
/* When each watched deployment is due. Time is passed in; one thread at a time. Private to fleet/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct due {
    int64_t deployment_id, interval_ns, due_ns;
    char name[64]; /* of the deployment */
    bool busy;     /* being scraped */
    bool listed;   /* still to be watched */
};

struct scrape_schedule {
    struct due *rows;
    size_t count;
};

/* Watched from now on: due at once where it is new or its interval changed. */
void scrape_schedule_set(struct scrape_schedule *schedule, int64_t deployment_id, const char *name,
                         int64_t interval_ns, int64_t now_ns);
/* Between these two every row that was not set is forgotten. */
void scrape_schedule_begin(struct scrape_schedule *schedule);
void scrape_schedule_end(struct scrape_schedule *schedule);

/* A copy of one that is due, marked busy, its next time set: a whole number of intervals on, so
 * that nothing drifts and what was missed is not made up for. False when there is none. */
bool scrape_schedule_take(struct scrape_schedule *schedule, int64_t now_ns, struct due *out);
void scrape_schedule_done(struct scrape_schedule *schedule, int64_t deployment_id);
/* When the next one is due; INT64_MAX: none. Busy ones do not count. */
int64_t scrape_schedule_next(const struct scrape_schedule *schedule);
void scrape_schedule_finish(struct scrape_schedule *schedule);
