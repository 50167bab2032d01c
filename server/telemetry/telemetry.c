/* SPDX-License-Identifier: Apache-2.0 */
#include "server/telemetry/telemetry.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/memory.h"
#include "base/formats/promtext.h"

#define STATUS_CLASSES 6 /* 1 to 5 count 1xx to 5xx; 0 counts invalid statuses */

static const double bounds_s[] = { 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1,
                                   0.3,    1,      3,     10,    30,   60 };
#define BOUNDS (sizeof bounds_s / sizeof *bounds_s)

struct telemetry_row {
    struct telemetry_row *next;
    char *labels;
    atomic_uint_fast64_t statuses[STATUS_CLASSES];
    atomic_uint_fast64_t buckets[BOUNDS + 1]; /* not cumulative, unlike the output */
    atomic_uint_fast64_t total_ns;
    atomic_uint_fast64_t tool_errors;
};

struct telemetry {
    struct telemetry_row *first, **end;
};

struct telemetry *telemetry_create(void)
{
    struct telemetry *telemetry = memory_zeroed(1, sizeof *telemetry);

    telemetry->end = &telemetry->first;
    return telemetry;
}

void telemetry_destroy(struct telemetry *telemetry)
{
    if (telemetry == NULL)
        return;
    while (telemetry->first != NULL) {
        struct telemetry_row *row = telemetry->first;

        telemetry->first = row->next;
        free(row->labels);
        free(row);
    }
    free(telemetry);
}

struct telemetry_row *telemetry_add_row(struct telemetry *telemetry, const char *method,
                                        const char *tool)
{
    struct telemetry_row *row = memory_zeroed(1, sizeof *row);
    struct text labels = { 0 };

    text_addf(&labels, "method=\"%s\"", method);
    if (tool != NULL)
        text_addf(&labels, ",tool=\"%s\"", tool);
    row->labels = text_take(&labels);
    *telemetry->end = row;
    telemetry->end = &row->next;
    return row;
}

static void count(atomic_uint_fast64_t *counter, uint64_t amount)
{
    atomic_fetch_add_explicit(counter, amount, memory_order_relaxed);
}

static uint64_t value_of(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static size_t bucket_of(int64_t duration_ns)
{
    double seconds = (double)duration_ns / 1e9;
    size_t bucket = 0;

    while (bucket < BOUNDS && seconds > bounds_s[bucket])
        bucket++;
    return bucket;
}

void telemetry_record(struct telemetry_row *row, unsigned http_status, int64_t duration_ns)
{
    unsigned class = http_status / 100;

    count(&row->statuses[class < STATUS_CLASSES ? class : 0], 1);
    if (duration_ns < 0)
        return;
    count(&row->buckets[bucket_of(duration_ns)], 1);
    count(&row->total_ns, (uint64_t)duration_ns);
}

void telemetry_record_tool_error(struct telemetry_row *row)
{
    count(&row->tool_errors, 1);
}

static uint64_t requests(const struct telemetry_row *row)
{
    uint64_t total = 0;

    for (size_t i = 0; i < STATUS_CLASSES; i++)
        total += value_of(&row->statuses[i]);
    return total;
}

static void write_statuses(const struct telemetry_row *row, struct text *out)
{
    for (size_t i = 0; i < STATUS_CLASSES; i++) {
        uint64_t value = value_of(&row->statuses[i]);
        char labels[256];

        if (value == 0)
            continue;
        snprintf(labels, sizeof labels, "%s,status=\"%zuxx\"", row->labels, i);
        promtext_value(out, "opsbrain_requests_total", labels, (double)value);
    }
}

static void write_latencies(const struct telemetry_row *row, struct text *out)
{
    uint64_t below = 0;
    char labels[256];

    for (size_t i = 0; i < BOUNDS; i++) {
        below += value_of(&row->buckets[i]);
        snprintf(labels, sizeof labels, "%s,le=\"%g\"", row->labels, bounds_s[i]);
        promtext_value(out, "opsbrain_request_seconds_bucket", labels, (double)below);
    }
    below += value_of(&row->buckets[BOUNDS]);
    snprintf(labels, sizeof labels, "%s,le=\"+Inf\"", row->labels);
    promtext_value(out, "opsbrain_request_seconds_bucket", labels, (double)below);
    promtext_value(out, "opsbrain_request_seconds_sum", row->labels,
                   (double)value_of(&row->total_ns) / 1e9);
    promtext_value(out, "opsbrain_request_seconds_count", row->labels, (double)below);
}

void telemetry_write(const struct telemetry *telemetry, struct text *out)
{
    const struct telemetry_row *row;

    promtext_family(out, "opsbrain_requests_total", PROMTEXT_COUNTER,
                    "Requests by method, tool and class of HTTP status; 4xx includes requests "
                    "whose client disconnected.");
    for (row = telemetry->first; row != NULL; row = row->next)
        write_statuses(row, out);
    promtext_family(out, "opsbrain_request_seconds", PROMTEXT_HISTOGRAM,
                    "Time from a request's headers to the end of its answer, except for long-lived "
                    "streams.");
    for (row = telemetry->first; row != NULL; row = row->next)
        if (requests(row) > 0)
            write_latencies(row, out);
    promtext_family(out, "opsbrain_tool_errors_total", PROMTEXT_COUNTER,
                    "Calls that a tool answered with an error.");
    for (row = telemetry->first; row != NULL; row = row->next)
        if (value_of(&row->tool_errors) > 0)
            promtext_value(out, "opsbrain_tool_errors_total", row->labels,
                           (double)value_of(&row->tool_errors));
}
