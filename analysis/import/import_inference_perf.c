/* SPDX-License-Identifier: Apache-2.0 */
/* Reads inference-perf's stage_N_lifecycle_metrics.json files, each of which makes one cell. A
 * summary_lifecycle_metrics.json is skipped if it states no load. Times are in seconds. Since
 * version 0.7, the tool counts `output_len` and the token rates with its own tokenizer;
 * `output_tokens` is what the server reported. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"
#include "base/core/memory.h"

struct total {
    double total, cached; /* tokens */
};

struct lifecycle {
    struct evidence_cell cell;
    double requested_rate, requested_concurrency;
    struct evidence_latency input, output;
    struct evidence_latency usage_output; /* output tokens as the server reported them */
    struct total input_total, output_total, usage_output_total;
    char label[160], message[400]; /* the first label and message of failures; "": none */
};

#define LATENCY(name, metric)                                                                      \
    MEMBER_INSIDE(name, offsetof(struct lifecycle, cell.latency[metric]), latency_s_members)
#define NUMBER(name, member) MEMBER_NUMBER_AT(name, lifecycle, member, 1)

/* A message is a string or, since version 0.7, {"message": "...", "session_ids": [...]}. */
static bool read_message(struct json_scan *scan, void *context)
{
    static const struct import_member inside[] = {
        MEMBER_TEXT_AT("message", lifecycle, message),
        { 0 },
    };
    struct lifecycle *lifecycle = context, ignored;
    struct json_scan again = *scan;
    enum json_scan_token token = json_scan_next(scan);

    if (token == JSON_SCAN_OBJECT) {
        *scan = again;
        return import_object(scan, inside, lifecycle->message[0] == '\0' ? lifecycle : &ignored,
                             NULL);
    }
    if (token == JSON_SCAN_STRING && lifecycle->message[0] == '\0')
        json_scan_copy(scan, lifecycle->message, sizeof lifecycle->message);
    return import_skip(scan, token);
}

static bool read_messages(struct json_scan *scan, void *base)
{
    return import_array(scan, read_message, base);
}

/* Reads {"504 - Gateway Timeout": {"count": 3, "messages": [...]}, ...}, and stores the first label
 * and the first message. */
static bool read_labels(struct json_scan *scan, void *base)
{
    static const struct import_member kind[] = { MEMBER_BY("messages", read_messages), { 0 } };
    struct lifecycle *lifecycle = base;
    enum json_scan_token token = json_scan_next(scan);

    if (token != JSON_SCAN_OBJECT)
        return import_skip(scan, token);
    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        if (lifecycle->label[0] == '\0')
            json_scan_copy(scan, lifecycle->label, sizeof lifecycle->label);
        if (!import_object(scan, kind, lifecycle, NULL))
            return false;
    }
    return token == JSON_SCAN_OBJECT_END;
}

/* Reads totals and statistics, which are members of the same object. */
static bool read_lengths(struct json_scan *scan, struct evidence_latency *means,
                         struct total *total)
{
    static const struct import_member totals[] = {
        MEMBER_NUMBER_AT("total", total, total, 1),
        MEMBER_NUMBER_AT("cached", total, cached, 1),
        { 0 },
    };
    struct total sum = { NAN, NAN };
    struct json_scan again = *scan;
    bool done = import_object(&again, totals, &sum, NULL)
                && import_object(scan, latency_ms_members, means, NULL);

    *total = sum;
    return done;
}

static bool read_input(struct json_scan *scan, void *base)
{
    struct lifecycle *lifecycle = base;

    return read_lengths(scan, &lifecycle->input, &lifecycle->input_total);
}

static bool read_output(struct json_scan *scan, void *base)
{
    struct lifecycle *lifecycle = base;

    return read_lengths(scan, &lifecycle->output, &lifecycle->output_total);
}

static bool read_usage(struct json_scan *scan, void *base)
{
    struct lifecycle *lifecycle = base;

    return read_lengths(scan, &lifecycle->usage_output, &lifecycle->usage_output_total);
}

static const struct import_member load[] = {
    NUMBER("count", cell.attempted),
    NUMBER("requested_rate", requested_rate),
    MEMBER_IGNORE("achieved_rate"), /* the rate at which requests were sent */
    MEMBER_IGNORE("send_duration"),
    MEMBER_IGNORE("schedule_delay"),
    NUMBER("concurrency", requested_concurrency),
    NUMBER("concurrency_level", requested_concurrency),
    { 0 },
};
static const struct import_member latencies[] = {
    LATENCY("request_latency", METRIC_E2E),
    LATENCY("time_to_first_token", METRIC_TTFT),
    LATENCY("time_per_output_token", METRIC_TPOT),
    LATENCY("inter_token_latency", METRIC_ICL),
    { 0 },
};
static const struct import_member throughput[] = {
    NUMBER("requests_per_sec", cell.request_throughput),
    NUMBER("input_tokens_per_sec", cell.input_throughput),
    NUMBER("output_tokens_per_sec", cell.output_throughput),
    NUMBER("total_tokens_per_sec", cell.total_throughput),
    { 0 },
};
static const struct import_member goodput[] = {
    NUMBER("request_goodput", cell.goodput),
    { 0 },
};
static const struct import_member successes[] = {
    NUMBER("count", cell.succeeded),
    MEMBER_INSIDE("latency", 0, latencies),
    MEMBER_INSIDE("throughput", 0, throughput),
    MEMBER_BY("prompt_tokens", read_input),
    MEMBER_BY("prompt_len", read_input),
    MEMBER_BY("output_tokens", read_usage),
    MEMBER_BY("output_len", read_output),
    MEMBER_INSIDE("goodput_metrics", 0, goodput),
    { 0 },
};
static const struct import_member failures[] = {
    NUMBER("count", cell.failed),
    MEMBER_BY("by_label", read_labels),
    { 0 },
};
static const struct import_member members[] = {
    NUMBER("benchmark_time_seconds", cell.duration_s),
    MEMBER_INSIDE("load_summary", 0, load),
    MEMBER_INSIDE("successes", 0, successes),
    MEMBER_INSIDE("failures", 0, failures),
    { 0 },
};

static void fill_output(const struct lifecycle *from, struct evidence_cell *cell)
{
    bool is_counted = !isnan(from->output.mean_ms);

    cell->output_tokens_mean = is_counted ? from->output.mean_ms : from->usage_output.mean_ms;
    cell->output_tokens = is_counted ? from->output_total.total : from->usage_output_total.total;
    if (is_counted)
        cell->output_tokens_usage = from->usage_output.mean_ms;
}

static void fill(struct lifecycle *from)
{
    struct evidence_cell *cell = &from->cell;
    char error[600];

    cell->request_rate_asked = from->requested_rate;
    cell->concurrency = from->requested_concurrency;
    cell->input_tokens_mean = from->input.mean_ms;
    cell->input_tokens = from->input_total.total;
    cell->cached_tokens = from->input_total.cached;
    fill_output(from, cell);
    if (from->label[0] == '\0' && from->message[0] == '\0')
        return;
    snprintf(error, sizeof error, "%s: %s", from->label, from->message);
    cell->error = memory_copy_text(error);
}

struct reading {
    struct evidence *out;
    size_t summaries; /* number of documents without a load: they add up several stages */
};

static void set_unknown(struct lifecycle *lifecycle)
{
    const struct total unknown = { NAN, NAN };

    *lifecycle = (struct lifecycle){ .requested_rate = NAN, .requested_concurrency = NAN };
    evidence_cell_read(NULL, &lifecycle->cell);
    lifecycle->cell.original = json_object();
    lifecycle->input = lifecycle->output = lifecycle->usage_output =
        lifecycle->cell.latency[METRIC_TTFT];
    lifecycle->input_total = lifecycle->output_total = lifecycle->usage_output_total = unknown;
}

static CHECKED bool read_lifecycle(void *context, const char *document, size_t size, int64_t line,
                                   struct error *error)
{
    struct reading *reading = context;
    struct lifecycle lifecycle;
    struct evidence_cell *cell;
    struct json_scan scan;

    set_unknown(&lifecycle);
    import_scan_init(&scan, document, size);
    import_object(&scan, members, &lifecycle, lifecycle.cell.original);
    if (isnan(lifecycle.requested_rate) && isnan(lifecycle.requested_concurrency)) {
        reading->summaries++;
        json_decref(lifecycle.cell.original);
        return true;
    }
    if (!import_cell(reading->out, &cell, error)) {
        json_decref(lifecycle.cell.original);
        return false;
    }
    lifecycle.cell.position = cell->position;
    lifecycle.cell.row = line;
    fill(&lifecycle);
    *cell = lifecycle.cell;
    import_complete_cell(cell);
    return true;
}

bool import_read_inference_perf(const struct import_file *file, struct evidence *out,
                                struct error *error)
{
    struct reading reading = { .out = out };

    out->input_unit = LENGTH_TOKENS;
    text_copy(out->facts.tool, sizeof out->facts.tool, "inference-perf");
    if (!import_documents(file->bytes, file->length, read_lifecycle, &reading, error))
        return false;
    if (out->cell_count == 0)
        return error_set(error, ERROR_INVALID,
                         "the file states no load: it could be inference-perf's summary, which "
                         "adds up all stages. Import the stage_N_lifecycle_metrics.json files "
                         "instead; one file can contain several of them, one after another");
    if (reading.summaries > 0)
        evidence_remark(out,
                        "summaries skipped, because each adds up stages with different loads: %zu",
                        reading.summaries);
    return true;
}
