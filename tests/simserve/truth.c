/* SPDX-License-Identifier: Apache-2.0 */
/* A ring of records. It is allocated at once, but takes up physical memory only for the records
 * that were stored. */

#include "tests/simserve/truth.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/stats/histogram.h"
#include "tests/simserve/faults.h"
#include "tests/simserve/truth_ring.h"

static const char *const outcome_names[] = {
    [OUTCOME_OK] = "ok",
    [OUTCOME_REFUSED] = "refused",
    [OUTCOME_RESET] = "reset",
    [OUTCOME_STREAM_ERROR] = "stream_error",
    [OUTCOME_TRUNCATED] = "truncated",
    [OUTCOME_CLIENT_CLOSED] = "client_closed",
};

struct truth *truth_create(size_t requests, size_t chunk_bytes)
{
    struct truth *truth = memory_zeroed(1, sizeof *truth);

    truth->first = truth->first_with_times = 1;
    truth->capacity = requests;
    truth->records = memory_zeroed(requests, sizeof *truth->records);
    truth->chunk_bytes_limit = chunk_bytes;
    truth->lag = histogram_create();
    return truth;
}

static size_t times_bytes(const struct chunk_times *times)
{
    return times->capacity * sizeof *times->offset_us;
}

/* Frees the chunk times of the oldest record that may still have some. */
static void forget_oldest_times(struct truth *truth)
{
    struct truth_record *record = truth_at(truth, truth->first_with_times++);

    truth->chunk_bytes -= times_bytes(&record->times);
    free(record->times.offset_us);
    record->times = (struct chunk_times){ 0 };
}

void truth_clear(struct truth *truth)
{
    while (truth->first_with_times <= truth->last)
        forget_oldest_times(truth);
    truth->first = truth->last + 1;
    histogram_clear(truth->lag);
}

void truth_destroy(struct truth *truth)
{
    if (truth == NULL)
        return;
    truth_clear(truth);
    histogram_destroy(truth->lag);
    free(truth->records);
    free(truth);
}

static void times_add(struct chunk_times *times, int64_t offset_ns)
{
    int64_t offset_us = offset_ns / 1000;

    if (times->count == times->capacity) {
        times->capacity = times->capacity ? 2 * times->capacity : 16;
        times->offset_us =
            memory_resize(times->offset_us, times->capacity, sizeof *times->offset_us);
    }
    times->offset_us[times->count++] = offset_us < UINT32_MAX ? (uint32_t)offset_us : UINT32_MAX;
}

void truth_chunk(struct truth *truth, struct truth_record *record, int64_t planned_ns,
                 int64_t now_ns)
{
    int64_t lag_ns = now_ns > planned_ns ? now_ns - planned_ns : 0;

    if (record->chunks++ == 0) {
        record->planned_first_ns = planned_ns;
        record->first_write_ns = now_ns;
    }
    record->planned_last_ns = planned_ns;
    record->last_write_ns = now_ns;
    times_add(&record->times, now_ns - record->first_write_ns);
    if (lag_ns > record->lag_max_ns)
        record->lag_max_ns = lag_ns;
    histogram_record(truth->lag, (uint64_t)lag_ns);
}

void truth_add_take(struct truth *truth, struct truth_record *record)
{
    record->sequence = truth->last + 1;
    if (record->sequence - truth->first == truth->capacity) {
        if (truth->first_with_times == truth->first)
            forget_oldest_times(truth);
        truth->first++;
    }
    *truth_at(truth, ++truth->last) = *record;
    truth->chunk_bytes += times_bytes(&record->times);
    record->times = (struct chunk_times){ 0 };
    while (truth->chunk_bytes > truth->chunk_bytes_limit)
        forget_oldest_times(truth);
}

static void write_faults(uint64_t mask, struct text *out)
{
    const char *comma = "";

    text_add(out, ",\"faults\":[");
    for (int fault = 0; fault < FAULT_COUNT; fault++) {
        if (!(mask & FAULT_BIT(fault)))
            continue;
        text_addf(out, "%s\"%s\"", comma, fault_kind((enum fault)fault)->name);
        comma = ",";
    }
    text_add_char(out, ']');
}

static void write_gaps(const struct chunk_times *times, struct histogram *gaps, struct text *out)
{
    histogram_clear(gaps);
    for (uint32_t i = 1; i < times->count; i++)
        histogram_record(gaps, times->offset_us[i] - times->offset_us[i - 1]);
    if (histogram_count(gaps) > 0)
        text_addf(out, ",\"gap_p50_us\":%llu,\"gap_p99_us\":%llu,\"gap_max_us\":%llu",
                  (unsigned long long)histogram_quantile(gaps, 0.5, NULL),
                  (unsigned long long)histogram_quantile(gaps, 0.99, NULL),
                  (unsigned long long)histogram_max(gaps));
}

static void write_chunks(const struct chunk_times *times, struct text *out)
{
    text_add(out, ",\"chunk_us\":[");
    for (uint32_t i = 0; i < times->count; i++)
        text_addf(out, "%s%u", i ? "," : "", times->offset_us[i]);
    text_add_char(out, ']');
}

/* Begins a record's JSON object, which truth_write_lines completes. */
static void begin_record(const struct truth_record *record, struct text *out)
{
    double queue_ms =
        record->admitted_ns ? (double)(record->admitted_ns - record->read_ns) / 1e6 : 0;

    text_addf(out, "{\"sequence\":%llu,\"request_id\":", (unsigned long long)record->sequence);
    json_add_string(out, record->request_id, strlen(record->request_id));
    text_addf(out, ",\"endpoint\":\"%s\",\"stream\":%s,\"outcome\":\"%s\",\"status\":%d",
              record->chat ? "chat" : "completions", record->stream ? "true" : "false",
              outcome_names[record->outcome], record->status);
    text_addf(out, ",\"read_ns\":%lld,\"admitted_ns\":%lld", (long long)record->read_ns,
              (long long)record->admitted_ns);
    text_addf(out, ",\"planned_first_ns\":%lld,\"first_write_ns\":%lld",
              (long long)record->planned_first_ns, (long long)record->first_write_ns);
    text_addf(out, ",\"planned_last_ns\":%lld,\"last_write_ns\":%lld,\"end_ns\":%lld",
              (long long)record->planned_last_ns, (long long)record->last_write_ns,
              (long long)record->end_ns);
    text_addf(out, ",\"prompt_tokens\":%lld,\"cached_tokens\":%lld,\"output_tokens\":%lld",
              (long long)record->prompt_tokens, (long long)record->cached_tokens,
              (long long)record->output_tokens);
    text_addf(out, ",\"chunks\":%lld,\"running\":%lld,\"queue_ms\":%.6f,\"lag_max_us\":%.3f",
              (long long)record->chunks, (long long)record->running_at_admission, queue_ms,
              (double)record->lag_max_ns / 1e3);
}

void truth_write_lines(const struct truth *truth, uint64_t since, size_t limit, bool with_chunks,
                       struct text *out)
{
    struct histogram *gaps = histogram_create();
    uint64_t number = since + 1 > truth->first ? since + 1 : truth->first;

    for (; number <= truth->last && limit > 0; number++, limit--) {
        const struct truth_record *record = truth_at(truth, number);

        begin_record(record, out);
        write_faults(record->faults, out);
        write_gaps(&record->times, gaps, out);
        if (with_chunks)
            write_chunks(&record->times, out);
        text_add(out, "}\n");
    }
    histogram_destroy(gaps);
}

void truth_write_lag(const struct truth *truth, struct text *out)
{
    text_addf(out, "{\"count\":%llu,\"p50_us\":%.3f,\"p99_us\":%.3f,\"max_us\":%.3f}",
              (unsigned long long)histogram_count(truth->lag),
              (double)histogram_quantile(truth->lag, 0.5, NULL) / 1e3,
              (double)histogram_quantile(truth->lag, 0.99, NULL) / 1e3,
              (double)histogram_max(truth->lag) / 1e3);
}
