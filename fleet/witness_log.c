#include "fleet/witness_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

#define ROWS_LIMIT 2048
#define FIGURES_LIMIT 64

void witness_log_finish(struct witness_log *log)
{
    free(log->rows);
    *log = (struct witness_log){ 0 };
}

static void keep(struct witness_log *log, const struct metrics_snapshot *snapshot)
{
    if (log->rows == NULL) {
        log->rows = memory_zeroed(ROWS_LIMIT, sizeof *log->rows);
        log->every = 1;
    }
    if (++log->skipped < log->every)
        return;
    log->skipped = 0;
    if (log->count == ROWS_LIMIT) { /* half of them go, and half of those to come */
        for (size_t i = 0; i < ROWS_LIMIT / 2; i++)
            log->rows[i] = log->rows[2 * i];
        log->count = ROWS_LIMIT / 2;
        log->every *= 2;
    }
    log->rows[log->count++] = *snapshot;
}

void witness_log_add(struct witness_log *log, const struct metrics_snapshot *snapshot)
{
    if (log->instances.scrapes == 0)
        log->first = *snapshot;
    instances_note(&log->instances, snapshot);
    keep(log, snapshot);
}

bool witness_log_within(const struct witness_log *log, int64_t from_ms, int64_t to_ms,
                        const struct metrics_snapshot **first, const struct metrics_snapshot **last)
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

static void add_row(const struct metrics_snapshot *row, size_t place, json_t *out)
{
    struct scrape_value values[FIGURES_LIMIT];
    size_t count = metrics_values(row, values, FIGURES_LIMIT);

    json_array_append_new(json_object_get(out, "at_ms"), json_integer(row->at_ms));
    for (size_t i = 0; i < count; i++) {
        json_t *column = json_object_get(out, values[i].name);

        if (column == NULL) {
            column = json_array();
            json_object_set_new(out, values[i].name, column);
        }
        while (json_array_size(column) < place)
            json_array_append_new(column, json_null());
        json_array_append_new(column, json_number_or_null(values[i].value));
    }
}

json_t *witness_log_columns(const struct witness_log *log)
{
    json_t *out = json_pack("{s:[]}", "at_ms"), *column;
    const char *name;

    for (size_t i = 0; i < log->count; i++)
        add_row(&log->rows[i], i, out);
    json_object_foreach(out, name, column)
    {
        while (json_array_size(column) < log->count)
            json_array_append_new(column, json_null());
    }
    return out;
}
