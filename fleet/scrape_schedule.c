/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/scrape_schedule.h"

#include <stdlib.h>

#include "base/core/memory.h"
#include "base/core/text.h"

static struct schedule_row *find(const struct scrape_schedule *schedule, int64_t deployment_id)
{
    for (size_t i = 0; i < schedule->count; i++)
        if (schedule->rows[i].deployment_id == deployment_id)
            return &schedule->rows[i];
    return NULL;
}

void scrape_schedule_set(struct scrape_schedule *schedule, int64_t deployment_id, const char *name,
                         int64_t interval_ns, int64_t now_ns)
{
    struct schedule_row *row = find(schedule, deployment_id);

    if (row == NULL) {
        schedule->rows = memory_resize(schedule->rows, schedule->count + 1, sizeof *schedule->rows);
        row = &schedule->rows[schedule->count++];
        *row = (struct schedule_row){ .deployment_id = deployment_id };
    }
    if (row->interval_ns != interval_ns)
        row->due_ns = now_ns;
    row->interval_ns = interval_ns;
    text_copy(row->name, sizeof row->name, name);
    row->listed = true;
    row->removed = false;
}

void scrape_schedule_begin(struct scrape_schedule *schedule)
{
    for (size_t i = 0; i < schedule->count; i++)
        schedule->rows[i].listed = false;
}

void scrape_schedule_end(struct scrape_schedule *schedule)
{
    size_t kept = 0;

    for (size_t i = 0; i < schedule->count; i++) {
        struct schedule_row *row = &schedule->rows[i];

        row->removed = !row->listed;
        if (row->listed || row->busy)
            schedule->rows[kept++] = *row;
    }
    schedule->count = kept;
}

bool scrape_schedule_next_due(struct scrape_schedule *schedule, int64_t now_ns,
                              struct schedule_row *out)
{
    for (size_t i = 0; i < schedule->count; i++) {
        struct schedule_row *row = &schedule->rows[i];

        if (row->busy || row->due_ns > now_ns)
            continue;
        row->busy = true;
        row->due_ns += ((now_ns - row->due_ns) / row->interval_ns + 1) * row->interval_ns;
        *out = *row;
        return true;
    }
    return false;
}

void scrape_schedule_done(struct scrape_schedule *schedule, int64_t deployment_id)
{
    struct schedule_row *row = find(schedule, deployment_id);

    if (row == NULL)
        return;
    row->busy = false;
    if (row->removed)
        *row = schedule->rows[--schedule->count];
}

int64_t scrape_schedule_next_ns(const struct scrape_schedule *schedule)
{
    int64_t next = INT64_MAX;

    for (size_t i = 0; i < schedule->count; i++)
        if (!schedule->rows[i].busy && schedule->rows[i].due_ns < next)
            next = schedule->rows[i].due_ns;
    return next;
}

void scrape_schedule_finish(struct scrape_schedule *schedule)
{
    free(schedule->rows);
    *schedule = (struct scrape_schedule){ 0 };
}
