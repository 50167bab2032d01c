/* SPDX-License-Identifier: Apache-2.0 */
/* When each watched deployment is to be scraped next. The caller passes the monotonic time, and
 * lets only one thread at a time use a schedule. Private to fleet/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedule_row {
    int64_t deployment_id, interval_ns, due_ns;
    char name[64]; /* of the deployment */
    bool busy;     /* being scraped now */
    bool listed;   /* passed to scrape_schedule_set since scrape_schedule_begin */
    bool removed;  /* removed while busy, so scrape_schedule_done must delete the row */
};

struct scrape_schedule {
    struct schedule_row *rows;
    size_t count;
};

/* Adds a deployment or updates it. It is due immediately if it is new or its interval changed.
 * `interval_ns` must be above 0. */
void scrape_schedule_set(struct scrape_schedule *schedule, int64_t deployment_id, const char *name,
                         int64_t interval_ns, int64_t now_ns);
/* scrape_schedule_end removes every deployment that was not passed to scrape_schedule_set since
 * scrape_schedule_begin. */
void scrape_schedule_begin(struct scrape_schedule *schedule);
void scrape_schedule_end(struct scrape_schedule *schedule);

/* Copies to *out a row that is due and not busy, marks the row as busy, and advances its due time
 * by a multiple of its interval, so that the times do not drift and missed scrapes are not made up
 * for. Returns false if there is no such row. */
bool scrape_schedule_next_due(struct scrape_schedule *schedule, int64_t now_ns,
                              struct schedule_row *out);
/* Marks a deployment as no longer busy. Deletes its row if it was removed meanwhile. */
void scrape_schedule_done(struct scrape_schedule *schedule, int64_t deployment_id);
/* Returns the time at which the next row is due; INT64_MAX: there is none. Ignores busy rows. */
int64_t scrape_schedule_next_ns(const struct scrape_schedule *schedule);
void scrape_schedule_finish(struct scrape_schedule *schedule);
