/* SPDX-License-Identifier: Apache-2.0 */
/* Reads serving reports of schema 1.0 and 1.1: a sweep with its model, hardware, price and
 * software. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_vllm.h"
#include "base/core/memory.h"

struct report_cell {
    struct evidence_cell cell;
    struct import_own own;
    struct import_vllm_result raw; /* vLLM's result, for figures that the cell lacks */
    char error[600];
};

#define CELL(name, member) MEMBER_NUMBER_AT(name, report_cell, cell.member, 1)
#define LATENCY(name, metric)                                                                      \
    MEMBER_INSIDE(name, offsetof(struct report_cell, cell.latency[metric]), latency_ms_members)

static const struct import_member cell_members[] = {
    CELL("concurrency", concurrency),
    CELL("input_len", input_length),
    CELL("output_len", output_tokens_asked),
    CELL("num_prompts", requests_asked),
    CELL("completed", succeeded),
    CELL("failed", failed),
    CELL("duration_s", duration_s),
    CELL("request_rate_rps", request_throughput),
    CELL("output_tok_per_s", output_throughput),
    CELL("total_tok_per_s", total_throughput),
    CELL("per_stream_tok_per_s", stream_throughput),
    LATENCY("ttft_ms", METRIC_TTFT),
    LATENCY("tpot_ms", METRIC_TPOT),
    LATENCY("itl_ms", METRIC_ICL),
    LATENCY("e2el_ms", METRIC_E2E),
    MEMBER_TEXT_AT("status", report_cell, cell.status),
    MEMBER_TEXT_AT("error", report_cell, error),
    OWN_MEMBERS(report_cell),
    MEMBER_INSIDE("raw", offsetof(struct report_cell, raw), import_vllm_members),
    { 0 },
};

/* Reads the next value, an object. Even after a failure, the caller must pass *out to
 * report_cell_finish, or to report_cell_add_take, which finishes it. */
static bool report_cell_read(struct json_scan *scan, struct report_cell *out)
{
    *out = (struct report_cell){ 0 };
    evidence_cell_read(NULL, &out->cell);
    import_own_init(&out->own);
    import_vllm_result_init(&out->raw);
    out->cell.original = json_object();
    return import_object(scan, cell_members, out, out->cell.original);
}

static void report_cell_finish(struct report_cell *cell)
{
    json_decref(cell->cell.original);
    free(cell->raw.cell.error);
}

/* Copies the numbers that are known only in `from`. */
static void fill_unknown(const struct evidence_field *fields, const void *from, void *into)
{
    for (; fields->name != NULL; fields++) {
        const double *known = (const double *)(const void *)((const char *)from + fields->offset);
        double *at = (double *)(void *)((char *)into + fields->offset);

        if (fields->size == 0 && isnan(*at))
            *at = *known;
    }
}

/* Adds the cell to the evidence, completed with the figures that only vLLM's result has. Finishes
 * *from, even after a failure. INVALID: there are too many cells. */
static CHECKED bool report_cell_add_take(struct report_cell *from, struct evidence *out,
                                         struct error *error)
{
    struct evidence_cell *cell;
    int64_t position;

    if (!import_cell(out, &cell, error)) {
        report_cell_finish(from);
        return false;
    }
    position = cell->position;
    *cell = from->cell;
    cell->position = position;
    cell->row = position + 1;
    fill_unknown(evidence_cell_fields, &from->raw.cell, cell);
    for (int i = 0; i < METRIC_COUNT; i++)
        fill_unknown(evidence_latency_fields, &from->raw.cell.latency[i], &cell->latency[i]);
    text_copy(cell->time, sizeof cell->time, from->raw.cell.time);
    if (from->error[0] != '\0')
        cell->error = memory_copy_text(from->error);
    else if (from->raw.cell.error != NULL)
        cell->error = memory_copy_text(from->raw.cell.error);
    import_own_apply(&from->own, cell, out);
    cell->original = json_incref(from->cell.original);
    report_cell_finish(from);
    import_complete_cell(cell);
    return true;
}

/* ---- The report ---- */

struct report {
    struct evidence *out;
    struct error *error;
    bool refused;
    struct evidence_facts facts;
    double input_length, output_tokens, requests; /* the workload's, for cells that state none */
    char currency[16];
    double price_per_chip_hour;
};

static bool read_sweep_cell(struct json_scan *scan, void *context)
{
    struct report *report = context;
    struct report_cell cell;

    if (!report_cell_read(scan, &cell)) {
        report_cell_finish(&cell);
        return false;
    }
    report->refused = !report_cell_add_take(&cell, report->out, report->error);
    return !report->refused;
}

static bool read_sweep(struct json_scan *scan, void *base)
{
    return import_array(scan, read_sweep_cell, base);
}

static bool read_argument(struct json_scan *scan, void *context)
{
    char *flags = ((struct report *)context)->facts.flags, argument[512];
    size_t length = strlen(flags), size = sizeof((struct evidence_facts *)0)->flags;
    enum json_scan_token token = json_scan_next(scan);

    if (token == JSON_SCAN_STRING && json_scan_copy(scan, argument, sizeof argument)
        && length + strlen(argument) + 2 < size)
        snprintf(flags + length, size - length, "%s%s", length > 0 ? " " : "", argument);
    return import_skip(scan, token);
}

static bool read_arguments(struct json_scan *scan, void *base)
{
    return import_array(scan, read_argument, base);
}

#define FACT(name, member) MEMBER_TEXT_AT(name, report, facts.member)
#define NUMBER(name, member) MEMBER_NUMBER_AT(name, report, member, 1)
static const struct import_member run[] = { FACT("date", date), { 0 } };
static const struct import_member host[] = {
    FACT("cloud", provider),
    FACT("zone", region),
    FACT("region", region),
    { 0 },
};
static const struct import_member pricing[] = {
    MEMBER_TEXT_AT("currency", report, currency),
    NUMBER("rate_per_chip_hour", price_per_chip_hour),
    { 0 },
};
static const struct import_member hardware[] = {
    FACT("accelerator", hardware),
    NUMBER("chips", facts.chips),
    NUMBER("hbm_gb_per_chip", facts.memory_gb_per_chip),
    MEMBER_INSIDE("host", 0, host),
    MEMBER_INSIDE("pricing", 0, pricing),
    { 0 },
};
static const struct import_member model[] = {
    FACT("id", model),
    FACT("revision", model_revision),
    FACT("weights_dtype", weights_type),
    FACT("quantization", quantization),
    FACT("kv_cache_dtype", cache_type),
    NUMBER("max_model_len", facts.context_limit_tokens),
    { 0 },
};
static const struct import_member software[] = {
    FACT("engine", engine),
    FACT("version", engine_version),
    NUMBER("tensor_parallel_size", facts.tensor_parallel),
    MEMBER_BY("serve_args", read_arguments),
    { 0 },
};
static const struct import_member workload[] = {
    FACT("tool", tool),
    FACT("dataset", dataset),
    NUMBER("input_len", input_length),
    NUMBER("output_len", output_tokens),
    NUMBER("num_prompts", requests),
    NUMBER("runs_per_point", facts.repetitions),
    { 0 },
};
static const struct import_member throughput[] = {
    MEMBER_INSIDE("workload", 0, workload),
    MEMBER_BY("sweep", read_sweep),
    { 0 },
};
static const struct import_member members[] = {
    MEMBER_INSIDE("run", 0, run),
    MEMBER_INSIDE("hardware", 0, hardware),
    MEMBER_INSIDE("model", 0, model),
    MEMBER_INSIDE("software", 0, software),
    MEMBER_INSIDE("throughput", 0, throughput),
    { 0 },
};

static void complete_cells(const struct report *report)
{
    for (size_t i = 0; i < report->out->cell_count; i++) {
        struct evidence_cell *cell = &report->out->cells[i];

        if (isnan(cell->input_length))
            cell->input_length = report->input_length;
        if (isnan(cell->output_tokens_asked))
            cell->output_tokens_asked = report->output_tokens;
        if (isnan(cell->requests_asked) && cell->state == EVIDENCE_MEASURED)
            cell->requests_asked = report->requests;
    }
}

static void complete_report(struct report *report)
{
    complete_cells(report);
    report->out->facts = report->facts;
    if (strcmp(report->currency, "USD") == 0)
        report->out->facts.price_usd_per_chip_hour = report->price_per_chip_hour;
    else if (!isnan(report->price_per_chip_hour))
        evidence_remark(report->out, "the price was not read: its currency is \"%s\", not \"USD\"",
                        report->currency);
}

bool import_read_serving_report(const struct import_file *file, struct evidence *out,
                                struct error *error)
{
    struct report report = { .out = out, .error = error, .price_per_chip_hour = NAN };
    struct json_scan scan;

    evidence_facts_read(NULL, &report.facts);
    report.input_length = report.output_tokens = report.requests = NAN;
    out->input_unit = LENGTH_TOKENS;
    import_scan_init(&scan, file->bytes, file->length);
    if (!import_object(&scan, members, &report, NULL) || json_scan_next(&scan) != JSON_SCAN_DONE)
        return report.refused ? false : json_scan_fail(&scan, error);
    complete_report(&report);
    return true;
}
