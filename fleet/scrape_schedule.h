/* SPDX-License-Identifier: Apache-2.0 */
/* When each watched deployment is due. The caller passes the time; one thread at a time. Private to
 * fleet/ */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct due {
    int64_t deployment_id, interval_ns, due_ns;
    char name[64]; /* of the deployment */
    bool busy;     /* being scraped */
    bool listed;   /* is still to be watched */
};

struct scrape_schedule {
    struct due *rows;
    size_t count;
};

/* Adds a deployment, or keeps it: due at once if it is new or its interval changed. */
void scrape_schedule_set(struct scrape_schedule *schedule, int64_t deployment_id, const char *name,
                         int64_t interval_ns, int64_t now_ns);
/* Between these two calls every row that was not set is removed. */
void scrape_schedule_begin(struct scrape_schedule *schedule);
void scrape_schedule_end(struct scrape_schedule *schedule);

/* Copies a row that is due, marks it busy, and advances its next time by a whole number of
 * intervals: no drift, and missed scrapes are not made up for. False if none is due. */
bool scrape_schedule_take(struct scrape_schedule *schedule, int64_t now_ns, struct due *out);
void scrape_schedule_done(struct scrape_schedule *schedule, int64_t deployment_id);
/* When the next one is due; INT64_MAX: none. Busy rows are ignored. */
int64_t scrape_schedule_next(const struct scrape_schedule *schedule);
void scrape_schedule_finish(struct scrape_schedule *schedule);
