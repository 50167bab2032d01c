/* A table; its headings are among those that our importer knows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/export_private.h"

struct column {
    const char *heading;
    size_t offset; /* of a double in struct evidence_cell */
};
#define COLUMN(heading, member)                                                                    \
    {                                                                                              \
        heading, offsetof(struct evidence_cell, member)                                            \
    }

static const struct column columns[] = {
    COLUMN("max_tokens", output_tokens_asked),
    COLUMN("request_rate", request_rate_asked),
    COLUMN("num_requests", requests_asked),
    COLUMN("attempted", attempted),
    COLUMN("succeeded", succeeded),
    COLUMN("failed", failed),
    COLUMN("success_rate", success_rate),
    COLUMN("duration_s", duration_s),
    COLUMN("total_input_tokens", input_tokens),
    COLUMN("total_output_tokens", output_tokens),
    COLUMN("cached_tokens", cached_tokens),
    COLUMN("avg_input_tokens", input_tokens_mean),
    COLUMN("avg_output_tokens", output_tokens_mean),
    COLUMN("req_per_s", request_throughput),
    COLUMN("goodput", goodput),
    COLUMN("input_tok_per_s", input_throughput),
    COLUMN("output_tok_per_s", output_throughput),
    COLUMN("total_tok_per_s", total_throughput),
    COLUMN("tokens_per_s", token_throughput),
    COLUMN("per_stream_tok_per_s", stream_throughput),
    COLUMN("concurrency_actual", concurrency_actual),
    COLUMN("max_concurrent_requests", concurrency_max),
    COLUMN("timeout_s", timeout_s),
};

static const struct statistic {
    const char *name;
    size_t offset;
} statistics[] = {
    { "mean", offsetof(struct evidence_latency, mean_ms) },
    { "std", offsetof(struct evidence_latency, deviation_ms) },
    { "min", offsetof(struct evidence_latency, min_ms) },
    { "median", offsetof(struct evidence_latency, p50_ms) },
    { "p90", offsetof(struct evidence_latency, p90_ms) },
    { "p95", offsetof(struct evidence_latency, p95_ms) },
    { "p99", offsetof(struct evidence_latency, p99_ms) },
    { "max", offsetof(struct evidence_latency, max_ms) },
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static double number_at(const void *base, size_t offset)
{
    return *(const double *)(const void *)((const char *)base + offset);
}

/* Without a lie about the unit of what the file did not say. */
static const char *length_heading(enum length_unit unit)
{
    static const char *const names[LENGTH_UNITS] = { "context_len", "input_len", "input_words" };

    return names[unit];
}

static void add_heading(const struct evidence *evidence, struct text *out)
{
    text_addf(out, "concurrency,%s", length_heading(evidence->input_unit));
    for (size_t i = 0; i < COUNT(columns); i++)
        text_addf(out, ",%s", columns[i].heading);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        for (size_t i = 0; i < COUNT(statistics); i++)
            text_addf(out, ",%s_%s_ms", statistics[i].name, metric_name(metric));
    text_add(out, ",status,timestamp,variant,error\r\n");
}

/* The shortest form that reads back as the same number. */
static void add_number(double value, struct text *out)
{
    char written[40];

    if (!isfinite(value))
        return;
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(written, sizeof written, "%.*g", digits, value);
        if (strtod(written, NULL) == value)
            break;
    }
    text_add(out, written);
}

/* A spreadsheet takes text that begins like this for a formula, and it may be a server's. */
static bool is_formula(const char *text)
{
    return text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
}

static void add_text(const char *text, struct text *out)
{
    text_add(out, is_formula(text) ? ",\"'" : ",\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            text_add_char(out, '"');
        text_add_char(out, *text);
    }
    text_add_char(out, '"');
}

static void add_latency(const struct evidence_latency *latency, struct text *out)
{
    const struct evidence_latency known = export_latency(latency);

    for (size_t i = 0; i < COUNT(statistics); i++) {
        text_add_char(out, ',');
        add_number(number_at(&known, statistics[i].offset), out);
    }
}

static const char *status_of(const struct evidence_cell *cell)
{
    if (cell->status[0] != '\0')
        return cell->status;
    return evidence_state_name(cell->state);
}

static void add_cell(const struct evidence_cell *cell, struct text *out)
{
    add_number(cell->concurrency, out);
    text_add_char(out, ',');
    add_number(cell->input_length, out);
    for (size_t i = 0; i < COUNT(columns); i++) {
        text_add_char(out, ',');
        add_number(number_at(cell, columns[i].offset), out);
    }
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        add_latency(&cell->latency[metric], out);
    add_text(status_of(cell), out);
    add_text(cell->time, out);
    add_text(cell->variant, out);
    add_text(cell->error == NULL ? "" : cell->error, out);
    text_add(out, "\r\n");
}

void export_write_csv(const struct evidence *evidence, size_t first, size_t count, struct text *out)
{
    add_heading(evidence, out);
    for (size_t i = first; i < first + count; i++)
        add_cell(&evidence->cells[i], out);
}
