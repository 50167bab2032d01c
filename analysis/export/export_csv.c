/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a table. Our importer knows all of its headings. */
#include <math.h>
#include <string.h>

#include "analysis/export/export_private.h"
#include "base/formats/csv_write.h"

struct column {
    const char *heading;
    size_t offset; /* offset of a double in struct evidence_cell */
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
    COLUMN("cached_share", cached_share),
    COLUMN("avg_input_tokens", input_tokens_mean),
    COLUMN("avg_output_tokens", output_tokens_mean),
    COLUMN("input_tokens_usage", input_tokens_usage),
    COLUMN("output_tokens_usage", output_tokens_usage),
    COLUMN("req_per_s", request_throughput),
    COLUMN("goodput", goodput),
    COLUMN("input_tok_per_s", input_throughput),
    COLUMN("output_tok_per_s", output_throughput),
    COLUMN("total_tok_per_s", total_throughput),
    COLUMN("tokens_per_s", token_throughput),
    COLUMN("per_stream_tok_per_s", stream_throughput),
    COLUMN("concurrency_actual", concurrency_actual),
    COLUMN("max_concurrent_requests", concurrency_max),
    COLUMN("concurrency_expected", concurrency_expected),
    COLUMN("timeout_s", timeout_s),
};

static const struct statistic {
    const char *name;
    size_t offset;
} statistics[] = {
    { "count", offsetof(struct evidence_latency, count) },
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

/* The heading for input lengths in this unit. "context_len" does not state a unit. */
static const char *length_heading(enum length_unit unit)
{
    static const char *const names[LENGTH_UNITS] = { "context_len", "input_len", "input_words" };

    return names[unit];
}

/* Which optional columns a table has: one for each statistic of a latency that at least one cell
 * has, and one for each fact for which is_fact_column is true. */
struct layout {
    const struct evidence *evidence;
    bool has[METRIC_COUNT][COUNT(statistics)];
};

/* Whether the table has a column for the fact. */
static bool is_fact_column(const struct evidence_facts *facts, const struct evidence_field *field)
{
    const char *at = (const char *)facts + field->offset;

    if (at == (const char *)&facts->output_tokens || at == (const char *)&facts->timeout_s)
        return false; /* each row has its own value, in the column max_tokens or timeout_s */
    return field->size > 0 ? at[0] != '\0' : isfinite(number_at(facts, field->offset));
}

static const char *heading_of(const struct evidence_field *fact)
{
    /* our importer would read a column "date" as the time of each row */
    return strcmp(fact->name, "date") == 0 ? "run_date" : fact->name;
}

static void layout_add_cell(struct layout *layout, const struct evidence_cell *cell)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        const struct evidence_latency known = export_latency(&cell->latency[metric]);

        for (size_t i = 0; i < COUNT(statistics); i++)
            layout->has[metric][i] |= isfinite(number_at(&known, statistics[i].offset));
    }
}

static void add_heading(const struct layout *layout, struct text *out)
{
    text_addf(out, "concurrency,%s", length_heading(layout->evidence->input_unit));
    for (size_t i = 0; i < COUNT(columns); i++)
        text_addf(out, ",%s", columns[i].heading);
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        for (size_t i = 0; i < COUNT(statistics); i++)
            if (layout->has[metric][i])
                text_addf(out, ",%s_%s%s", statistics[i].name, metric_name(metric),
                          i == 0 ? "" : "_ms");
    text_add(out, ",status,timestamp,variant,marks,error");
    for (const struct evidence_field *field = evidence_fact_fields; field->name != NULL; field++)
        if (is_fact_column(&layout->evidence->facts, field))
            text_addf(out, ",%s", heading_of(field));
    text_add(out, "\r\n");
}

static void add_text(const char *text, struct text *out)
{
    text_add_char(out, ',');
    csv_write_text(text, out);
}

static void add_latency(const struct layout *layout, enum metric metric,
                        const struct evidence_cell *cell, struct text *out)
{
    const struct evidence_latency known = export_latency(&cell->latency[metric]);

    for (size_t i = 0; i < COUNT(statistics); i++) {
        if (!layout->has[metric][i])
            continue;
        text_add_char(out, ',');
        csv_write_number(number_at(&known, statistics[i].offset), out);
    }
}

static void add_facts(const struct layout *layout, struct text *out)
{
    const struct evidence_facts *facts = &layout->evidence->facts;

    for (const struct evidence_field *field = evidence_fact_fields; field->name != NULL; field++) {
        if (!is_fact_column(facts, field))
            continue;
        if (field->size > 0) {
            add_text((const char *)facts + field->offset, out);
            continue;
        }
        text_add_char(out, ',');
        csv_write_number(number_at(facts, field->offset), out);
    }
}

static const char *status_of(const struct evidence_cell *cell)
{
    if (cell->status[0] != '\0')
        return cell->status;
    return evidence_state_name(cell->state);
}

static void add_cell(const struct layout *layout, const struct evidence_cell *cell,
                     struct text *out)
{
    csv_write_number(cell->concurrency, out);
    text_add_char(out, ',');
    csv_write_number(cell->input_length, out);
    for (size_t i = 0; i < COUNT(columns); i++) {
        text_add_char(out, ',');
        csv_write_number(number_at(cell, columns[i].offset), out);
    }
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++)
        add_latency(layout, metric, cell, out);
    add_text(status_of(cell), out);
    add_text(cell->time, out);
    add_text(cell->variant, out);
    add_text(cell->marks, out);
    add_text(cell->error == NULL ? "" : cell->error, out);
    add_facts(layout, out);
    text_add(out, "\r\n");
}

void export_write_csv(const struct evidence *evidence, size_t first, size_t count, struct text *out)
{
    struct layout layout = { .evidence = evidence };

    for (size_t i = first; i < first + count; i++)
        layout_add_cell(&layout, &evidence->cells[i]);
    add_heading(&layout, out);
    for (size_t i = first; i < first + count; i++)
        add_cell(&layout, &evidence->cells[i], out);
}
