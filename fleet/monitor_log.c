/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/monitor_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"

#define ROWS_LIMIT 2048
#define FIGURES_LIMIT 64
#define GAP_LEAST_SCRAPES 4
#define GAP_LEAST_MS 3000
#define GAP_FACTOR 5 /* a gap lasts longer than this many times the median interval */

void monitor_log_finish(struct monitor_log *log)
{
    free(log->rows);
    *log = (struct monitor_log){ 0 };
}

static void keep(struct monitor_log *log, const struct engine_metrics_snapshot *snapshot)
{
    if (log->rows == NULL) {
        log->rows = memory_zeroed(ROWS_LIMIT, sizeof *log->rows);
        log->every = 1;
    }
    if (++log->skipped < log->every)
        return;
    log->skipped = 0;
    if (log->count == ROWS_LIMIT) {
        /* drop every second row, and keep half as many scrapes from now on */
        for (size_t i = 0; i < ROWS_LIMIT / 2; i++)
            log->rows[i] = log->rows[2 * i];
        log->count = ROWS_LIMIT / 2;
        log->every *= 2;
    }
    log->rows[log->count++] = *snapshot;
}

void monitor_log_add(struct monitor_log *log, const struct engine_metrics_snapshot *snapshot)
{
    if (log->instances.scrapes == 0)
        log->first = *snapshot;
    replicas_note(&log->instances, snapshot);
    keep(log, snapshot);
}

bool monitor_log_within(const struct monitor_log *log, int64_t from_ms, int64_t to_ms,
                        const struct engine_metrics_snapshot **first,
                        const struct engine_metrics_snapshot **last)
{
    *first = *last = NULL;
    for (size_t i = 0; i < log->count; i++) {
        if (log->rows[i].at_ms < from_ms || log->rows[i].at_ms > to_ms)
            continue;
        *first = *first == NULL ? &log->rows[i] : *first;
        *last = &log->rows[i];
    }
    return *first != *last;
}

static int compare_gaps(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

    return (one > other) - (one < other);
}

double monitor_log_gap_s(const struct monitor_log *log, int64_t from_ms, int64_t to_ms)
{
    int64_t gaps_ms[ROWS_LIMIT + 1], before_ms = from_ms, longest_ms, usual_ms;
    size_t count = 0;

    for (size_t i = 0; i < log->count; i++) {
        if (log->rows[i].at_ms < from_ms || log->rows[i].at_ms > to_ms)
            continue;
        gaps_ms[count++] = log->rows[i].at_ms - before_ms;
        before_ms = log->rows[i].at_ms;
    }
    if (count < GAP_LEAST_SCRAPES)
        return 0;
    gaps_ms[count++] = to_ms - before_ms;
    qsort(gaps_ms, count, sizeof *gaps_ms, compare_gaps);
    longest_ms = gaps_ms[count - 1];
    usual_ms = gaps_ms[count / 2];
    return longest_ms >= GAP_LEAST_MS && longest_ms > GAP_FACTOR * usual_ms
               ? (double)longest_ms / 1000
               : 0;
}

static void add_row(const struct engine_metrics_snapshot *row, size_t index, json_t *out)
{
    struct scrape_value values[FIGURES_LIMIT];
    size_t count = engine_metrics_values(row, values, FIGURES_LIMIT);

    json_array_append_new(json_object_get(out, "at_ms"), json_integer(row->at_ms));
    for (size_t i = 0; i < count; i++) {
        json_t *column = json_object_get(out, values[i].name);

        if (column == NULL) {
            column = json_array();
            json_object_set_new(out, values[i].name, column);
        }
        while (json_array_size(column) < index)
            json_array_append_new(column, json_null());
        json_array_append_new(column, json_number_or_null(values[i].value));
    }
}

json_t *monitor_log_columns(const struct monitor_log *log)
{
    json_t *out = json_pack("{s:[]}", "at_ms"), *column;
    const char *name;

    for (size_t i = 0; i < log->count; i++)
        add_row(&log->rows[i], i, out);
    json_object_foreach(out, name, column) {
        while (json_array_size(column) < log->count)
            json_array_append_new(column, json_null());
    }
    return out;
}
