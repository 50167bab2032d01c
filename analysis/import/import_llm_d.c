/* SPDX-License-Identifier: Apache-2.0 */
/* Reads llm-d's benchmark reports of version 0.2, as JSON. Each is one measurement by a load
 * generator, which the report names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"

/* The statistics of a latency, a length or a rate, in `units`, although the members of `values`
 * have names that end in "_ms". */
struct block {
    char units[24];
    struct evidence_latency values;
};

struct report {
    struct evidence_cell cell;
    struct evidence_facts facts;
    struct block ttft, tpot, e2e, input, output, request_rate, input_rate, output_rate, total_rate;
    double failures;
};

#define STATISTIC(name, member) MEMBER_NUMBER_AT(name, block, values.member, 1)
static const struct import_member statistics[] = {
    MEMBER_TEXT_AT("units", block, units),
    STATISTIC("mean", mean_ms),
    STATISTIC("stddev", deviation_ms),
    STATISTIC("min", min_ms),
    STATISTIC("p50", p50_ms),
    STATISTIC("p90", p90_ms),
    STATISTIC("p95", p95_ms),
    STATISTIC("p99", p99_ms),
    STATISTIC("max", max_ms),
    MEMBER_IGNORE("mode"),
    MEMBER_IGNORE("p0p1"),
    MEMBER_IGNORE("p1"),
    MEMBER_IGNORE("p5"),
    MEMBER_IGNORE("p10"),
    MEMBER_IGNORE("p25"),
    MEMBER_IGNORE("p75"),
    MEMBER_IGNORE("p99p9"),
    { 0 },
};

#define BLOCK(name, member) MEMBER_INSIDE(name, offsetof(struct report, member), statistics)
#define FACT(name, member) MEMBER_TEXT_AT(name, report, facts.member)
#define NUMBER(name, member) MEMBER_NUMBER_AT(name, report, member, 1)

/* ---- What was measured ---- */

static const struct import_member model[] = { FACT("name", model), { 0 } };
static const struct import_member parallelism[] = { NUMBER("tp", facts.tensor_parallel), { 0 } };
static const struct import_member accelerator[] = {
    FACT("model", hardware),
    NUMBER("count", facts.chips),
    MEMBER_INSIDE("parallelism", 0, parallelism),
    { 0 },
};
/* A component is an engine, which has these members, or a router, which does not. */
static const struct import_member engine[] = {
    MEMBER_INSIDE("model", 0, model),
    MEMBER_INSIDE("accelerator", 0, accelerator),
    { 0 },
};
static const struct import_member component[] = {
    MEMBER_INSIDE("standardized", 0, engine),
    { 0 },
};

static bool read_component(struct json_scan *scan, void *base)
{
    return import_object(scan, component, base, NULL);
}

static bool read_stack(struct json_scan *scan, void *base)
{
    return import_array(scan, read_component, base);
}

static const struct import_member input[] = { NUMBER("value", cell.input_length), { 0 } };
static const struct import_member output[] = { NUMBER("value", cell.output_tokens_asked), { 0 } };
static const struct import_member load[] = {
    FACT("tool", tool),
    NUMBER("rate_qps", cell.request_rate_asked),
    NUMBER("concurrency", cell.concurrency),
    MEMBER_INSIDE("input_seq_len", 0, input),
    MEMBER_INSIDE("output_seq_len", 0, output),
    { 0 },
};
static const struct import_member whole_load[] = {
    MEMBER_INSIDE("standardized", 0, load),
    { 0 },
};
static const struct import_member scenario[] = {
    MEMBER_BY("stack", read_stack),
    MEMBER_INSIDE("load", 0, whole_load),
    { 0 },
};

/* ---- Results ---- */

static const struct import_member requests[] = {
    NUMBER("total", cell.attempted),
    NUMBER("failures", failures),
    BLOCK("input_length", input),
    BLOCK("output_length", output),
    { 0 },
};
static const struct import_member throughput[] = {
    BLOCK("request_rate", request_rate),
    BLOCK("input_token_rate", input_rate),
    BLOCK("output_token_rate", output_rate),
    BLOCK("total_token_rate", total_rate),
    { 0 },
};
/* inter_token_latency is not read: its meaning depends on the tool that measured it. */
static const struct import_member latency[] = {
    BLOCK("time_to_first_token", ttft),
    BLOCK("time_per_output_token", tpot),
    BLOCK("request_latency", e2e),
    { 0 },
};
static const struct import_member aggregate[] = {
    MEMBER_INSIDE("requests", 0, requests),
    MEMBER_INSIDE("throughput", 0, throughput),
    MEMBER_INSIDE("latency", 0, latency),
    { 0 },
};
static const struct import_member performance[] = {
    MEMBER_INSIDE("aggregate", 0, aggregate),
    { 0 },
};

/* Reads an ISO 8601 duration that has only seconds, as llm-d writes it: "PT49.97S". */
static bool read_duration(struct json_scan *scan, void *base)
{
    struct report *report = base;
    enum json_scan_token token = json_scan_next(scan);
    char text[40], *end;
    double seconds;

    if (token != JSON_SCAN_STRING || !json_scan_copy(scan, text, sizeof text)
        || strncmp(text, "PT", 2) != 0)
        return import_skip(scan, token);
    seconds = strtod(text + 2, &end);
    if (strcmp(end, "S") == 0 && seconds > 0 && isfinite(seconds))
        report->cell.duration_s = seconds;
    return true;
}

static const struct import_member times[] = {
    MEMBER_TEXT_AT("start", report, cell.time),
    MEMBER_BY("duration", read_duration),
    { 0 },
};
static const struct import_member run[] = { MEMBER_INSIDE("time", 0, times), { 0 } };

static void set_unknown(struct report *report)
{
    struct block *const blocks[] = { &report->ttft,       &report->tpot,
                                     &report->e2e,        &report->input,
                                     &report->output,     &report->request_rate,
                                     &report->input_rate, &report->output_rate,
                                     &report->total_rate };

    *report = (struct report){ .failures = NAN };
    evidence_cell_read(NULL, &report->cell);
    evidence_facts_read(NULL, &report->facts);
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        blocks[i]->values = report->cell.latency[METRIC_E2E];
}

/* Converts seconds ("s", "s/token" and so on) to milliseconds; any other unit counts as
 * milliseconds. */
static struct evidence_latency in_ms(const struct block *block)
{
    struct evidence_latency out = block->values;
    double scale = block->units[0] == 's' ? 1000 : 1;

    for (const struct evidence_field *field = evidence_latency_fields; field->name != NULL; field++)
        *(double *)(void *)((char *)&out + field->offset) *= scale;
    return out;
}

static void complete_cell(struct report *report)
{
    struct evidence_cell *cell = &report->cell;

    cell->latency[METRIC_TTFT] = in_ms(&report->ttft);
    cell->latency[METRIC_TPOT] = in_ms(&report->tpot);
    cell->latency[METRIC_E2E] = in_ms(&report->e2e);
    cell->input_tokens_mean = report->input.values.mean_ms;
    cell->output_tokens_mean = report->output.values.mean_ms;
    cell->request_throughput = report->request_rate.values.mean_ms;
    cell->input_throughput = report->input_rate.values.mean_ms;
    cell->output_throughput = report->output_rate.values.mean_ms;
    cell->total_throughput = report->total_rate.values.mean_ms;
    cell->failed = report->failures;
    cell->succeeded = cell->attempted - report->failures;
    import_complete_cell(cell);
}

static CHECKED bool read_report(void *context, const char *document, size_t size, int64_t line,
                                struct error *error)
{
    static const struct import_member performances[] = {
        MEMBER_INSIDE("request_performance", 0, performance),
        { 0 },
    };
    static const struct import_member top[] = {
        MEMBER_INSIDE("run", 0, run),
        MEMBER_INSIDE("scenario", 0, scenario),
        MEMBER_INSIDE("results", 0, performances),
        MEMBER_IGNORE("version"),
        { 0 },
    };
    struct evidence *out = context;
    struct evidence_cell *cell;
    struct json_scan scan;
    struct report report;

    if (!import_cell(out, &cell, error))
        return false;
    set_unknown(&report);
    report.cell.position = cell->position;
    report.cell.row = line;
    report.cell.original = json_object();
    import_scan_init(&scan, document, size);
    import_object(&scan, top, &report, report.cell.original);
    complete_cell(&report);
    *cell = report.cell;
    if (out->cell_count == 1)
        out->facts = report.facts;
    return true;
}

bool import_sniff_llm_d(const char *bytes, size_t length)
{
    static const char *const keys[] = { "version", "run", "results", NULL };
    static const char *const performance_key[] = { "request_performance", NULL };
    const char *results;
    size_t size;

    return import_has_keys(bytes, length, keys)
           && import_find_member(bytes, length, "results", &results, &size)
           && import_has_keys(results, size, performance_key);
}

bool import_read_llm_d(const struct import_file *file, struct evidence *out, struct error *error)
{
    out->input_unit = LENGTH_TOKENS;
    return import_documents(file->bytes, file->length, read_report, out, error);
}
