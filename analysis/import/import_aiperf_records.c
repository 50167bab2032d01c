/* SPDX-License-Identifier: Apache-2.0 */
/* Reads aiperf's profile_export.jsonl, which has a line per request. All lines of the measured
 * phase together make one cell. The file does not say how many users were requested, but the number
 * of requests in flight follows from their start and end times. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_aiperf.h"
#include "analysis/import/import_formats.h"
#include "base/core/memory.h"

#define VALUES_MAX ((size_t)1 << 22) /* maximum number of values kept for each metric */

struct values {
    double *data;
    size_t count;   /* of the values in `data` */
    size_t dropped; /* number of values not kept, because there were already VALUES_MAX */
};

struct sample {
    char unit[24];
    double value;
};

/* One line of the file. */
struct record {
    char phase[24], error_type[96], error_message[400];
    double start_ns, end_ns, error_code;
    struct sample ttft, latency, inter_token, input, output, usage_input, usage_output;
};

struct records {
    struct evidence *out;
    struct values metrics[METRIC_COUNT];
    struct values gaps; /* between the chunks of the request being read */
    char gap_unit[24];
    double succeeded, failed, warmup;
    double first_ns;     /* when the first request started */
    double last_ns;      /* when the last request ended */
    double in_flight_ns; /* the time from start to end, summed over the requests */
    double input, output, usage_input, usage_output; /* tokens of all successful requests */
    char error[600];
};

static void add(struct values *values, double value)
{
    if (!isfinite(value))
        return;
    if (values->count == VALUES_MAX) {
        values->dropped++;
        return;
    }
    if ((values->count & (values->count - 1)) == 0)
        values->data = memory_resize(values->data, values->count == 0 ? 1 : values->count * 2,
                                     sizeof *values->data);
    values->data[values->count++] = value;
}

/* ---- One line ---- */

#define SAMPLE(name, member) MEMBER_INSIDE(name, offsetof(struct record, member), sample_members)
static const struct import_member sample_members[] = {
    MEMBER_TEXT_AT("unit", sample, unit),
    MEMBER_NUMBER_AT("value", sample, value, 1),
    { 0 },
};
static const struct import_member metadata[] = {
    MEMBER_TEXT_AT("benchmark_phase", record, phase),
    MEMBER_NUMBER_AT("request_start_ns", record, start_ns, 1),
    MEMBER_NUMBER_AT("request_end_ns", record, end_ns, 1),
    { 0 },
};
static const struct import_member failure[] = {
    MEMBER_NUMBER_AT("code", record, error_code, 1),
    MEMBER_TEXT_AT("type", record, error_type),
    MEMBER_TEXT_AT("message", record, error_message),
    { 0 },
};
static const struct import_member metrics[] = {
    SAMPLE("time_to_first_token", ttft),
    SAMPLE("request_latency", latency),
    SAMPLE("inter_token_latency", inter_token),
    SAMPLE("input_sequence_length", input),
    SAMPLE("output_sequence_length", output),
    SAMPLE("usage_prompt_tokens", usage_input),
    SAMPLE("usage_completion_tokens", usage_output),
    { 0 },
};
static const struct import_member members[] = {
    MEMBER_INSIDE("metadata", 0, metadata),
    MEMBER_INSIDE("metrics", 0, metrics),
    MEMBER_INSIDE("error", 0, failure),
    { 0 },
};

static bool read_gap(struct json_scan *scan, void *context)
{
    struct records *records = context;
    enum json_scan_token token = json_scan_next(scan);

    if (token == JSON_SCAN_NUMBER)
        add(&records->gaps, json_scan_number(scan));
    return import_skip(scan, token);
}

static bool read_gaps(struct json_scan *scan, void *base)
{
    return import_array(scan, read_gap, base);
}

/* Adds the gaps between chunks. They are a list, whereas other metrics have a single value. */
static void add_gaps(const char *document, size_t size, struct records *records)
{
    static const struct import_member latency[] = {
        MEMBER_TEXT_AT("unit", records, gap_unit),
        MEMBER_BY("value", read_gaps),
        { 0 },
    };
    static const struct import_member inside[] = {
        MEMBER_INSIDE("inter_chunk_latency", 0, latency),
        { 0 },
    };
    static const struct import_member top[] = { MEMBER_INSIDE("metrics", 0, inside), { 0 } };
    struct json_scan scan;

    records->gaps.count = 0;
    records->gap_unit[0] = '\0';
    import_scan_init(&scan, document, size);
    import_object(&scan, top, records, NULL);
    for (size_t i = 0; i < records->gaps.count; i++)
        add(&records->metrics[METRIC_ICL],
            records->gaps.data[i] * import_aiperf_ms(records->gap_unit));
}

static double sample_ms(const struct sample *sample)
{
    return sample->value * import_aiperf_ms(sample->unit);
}

static void count_success(struct records *records, const struct record *record)
{
    records->succeeded++;
    records->input += record->input.value;
    records->output += record->output.value;
    records->usage_input += record->usage_input.value;
    records->usage_output += record->usage_output.value;
    add(&records->metrics[METRIC_TTFT], sample_ms(&record->ttft));
    add(&records->metrics[METRIC_E2E], sample_ms(&record->latency));
    add(&records->metrics[METRIC_TPOT], sample_ms(&record->inter_token));
}

static void count_failure(struct records *records, const struct record *record)
{
    records->failed++;
    if (records->error[0] == '\0')
        snprintf(records->error, sizeof records->error, "%s%s%s", record->error_type,
                 record->error_type[0] != '\0' ? ": " : "", record->error_message);
}

static void count_time(struct records *records, const struct record *record)
{
    records->first_ns = fmin(records->first_ns, record->start_ns);
    records->last_ns = fmax(records->last_ns, record->end_ns);
    records->in_flight_ns += record->end_ns - record->start_ns;
}

static CHECKED bool read_record(void *context, const char *document, size_t size, int64_t line,
                                struct error *error)
{
    struct records *records = context;
    struct record record = { .start_ns = NAN, .end_ns = NAN, .error_code = NAN };
    struct json_scan scan;

    (void)line;
    (void)error;
    record.ttft.value = record.latency.value = record.inter_token.value = NAN;
    record.input.value = record.output.value = NAN;
    record.usage_input.value = record.usage_output.value = NAN;
    import_scan_init(&scan, document, size);
    import_object(&scan, members, &record, NULL);
    if (strcmp(record.phase, "warmup") == 0) {
        records->warmup++;
        return true;
    }
    count_time(records, &record);
    if (record.error_type[0] != '\0' || record.error_message[0] != '\0' || record.error_code > 0) {
        count_failure(records, &record);
        return true;
    }
    count_success(records, &record);
    add_gaps(document, size, records);
    return true;
}

/* ---- All lines ---- */

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Interpolates between the ranks, as numpy and aiperf do. */
static double quantile(const struct values *sorted, double q)
{
    double rank = q * (double)(sorted->count - 1);
    size_t below = (size_t)rank, above = below + 1 < sorted->count ? below + 1 : below;

    return sorted->data[below]
           + (rank - (double)below) * (sorted->data[above] - sorted->data[below]);
}

static void summarize(struct values *values, struct evidence_latency *out)
{
    double sum = 0, squares = 0;

    if (values->count == 0)
        return;
    qsort(values->data, values->count, sizeof *values->data, compare);
    for (size_t i = 0; i < values->count; i++)
        sum += values->data[i];
    out->count = (double)values->count;
    out->mean_ms = sum / out->count;
    for (size_t i = 0; i < values->count; i++)
        squares += (values->data[i] - out->mean_ms) * (values->data[i] - out->mean_ms);
    out->deviation_ms = sqrt(squares / out->count);
    out->min_ms = values->data[0];
    out->p50_ms = quantile(values, 0.50);
    out->p90_ms = quantile(values, 0.90);
    out->p95_ms = quantile(values, 0.95);
    out->p99_ms = quantile(values, 0.99);
    out->max_ms = values->data[values->count - 1];
}

static void fill(struct records *records, struct evidence_cell *cell)
{
    double duration_s = (records->last_ns - records->first_ns) / 1e9;

    cell->succeeded = records->succeeded;
    cell->failed = records->failed;
    if (duration_s > 0) {
        cell->duration_s = duration_s;
        cell->request_throughput = records->succeeded / duration_s;
        cell->output_throughput = records->output / duration_s;
        cell->total_throughput = (records->input + records->output) / duration_s;
        cell->concurrency_actual = records->in_flight_ns / 1e9 / duration_s;
    }
    cell->input_tokens = records->input;
    cell->output_tokens = records->output;
    cell->input_tokens_mean = records->input / records->succeeded;
    cell->output_tokens_mean = records->output / records->succeeded;
    cell->input_tokens_usage = records->usage_input / records->succeeded;
    cell->output_tokens_usage = records->usage_output / records->succeeded;
    if (records->error[0] != '\0')
        cell->error = memory_copy_text(records->error);
    for (enum metric i = 0; i < METRIC_COUNT; i++)
        summarize(&records->metrics[i], &cell->latency[i]);
}

static CHECKED bool finish(struct records *records, struct error *error)
{
    struct evidence_cell *cell;

    if (records->succeeded + records->failed == 0)
        return error_set(
            error, ERROR_INVALID,
            "the file has no requests from the measured phase, only %.0f from the warm-up",
            records->warmup);
    if (!import_cell(records->out, &cell, error))
        return false;
    fill(records, cell);
    import_complete_cell(cell);
    evidence_remark(
        records->out,
        "all %.0f requests were combined into one cell; this format does not say how many users "
        "were requested, so the number in flight was computed from the requests' times",
        records->succeeded + records->failed);
    if (records->warmup > 0)
        evidence_remark(records->out, "warm-up requests skipped: %.0f", records->warmup);
    for (enum metric i = 0; i < METRIC_COUNT; i++)
        if (records->metrics[i].dropped > 0)
            evidence_remark(
                records->out,
                "%s was computed from the first %zu values; further values ignored: %zu",
                metric_name(i), VALUES_MAX, records->metrics[i].dropped);
    return true;
}

bool import_read_aiperf_records(const struct import_file *file, struct evidence *out,
                                struct error *error)
{
    struct records records = { .out = out, .first_ns = NAN, .last_ns = NAN };
    bool done;

    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "aiperf");
    done = import_documents(file->bytes, file->length, read_record, &records, error)
           && finish(&records, error);
    for (int i = 0; i < METRIC_COUNT; i++)
        free(records.metrics[i].data);
    free(records.gaps.data);
    return done;
}
