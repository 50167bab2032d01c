/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the CSV that aiperf and GenAI-Perf write next to their JSON: first a line for each metric
 * that has statistics, then, under a second heading, a line for each metric that has a single
 * value. The CSV does not say which load was requested. The lines about accelerators, at the end,
 * are skipped. */
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_table.h"
#include "base/core/memory.h"
#include "base/json/json.h"

#define LABEL_SIZE 128

/* Each metric's name without the unit, and the end of our names for its statistics: "ttft_ms", for
 * example, is the end of "avg_ttft_ms". */
static const struct import_alias metrics[] = {
    { "Time to First Token", "ttft_ms" },
    { "Time To First Token", "ttft_ms" },
    { "Request Latency", "e2e_ms" },
    { "Inter Token Latency", "tpot_ms" }, /* a mean per request, which is our TPOT */
    { "Inter Chunk Latency", "icl_ms" },
    { "Time to Second Token", "ttst_ms" },
    { "Time To Second Token", "ttst_ms" },
    { "Time to First Output Token", "ttfo_ms" },
    { "Effective Concurrency", "concurrency" },
    { NULL, NULL },
};

/* The other lines: the name without the unit, and our name for the value. Only the first value of
 * such a line is read: the average, or the single value. */
static const struct import_alias values[] = {
    { "Input Sequence Length", "input_tokens_mean" },
    { "Input sequence length", "input_tokens_mean" },
    { "Output Sequence Length", "output_tokens_mean" },
    { "Output sequence length", "output_tokens_mean" },
    { "Output Token Throughput Per User", "tok_per_s_per_user" },
    { "Output Token Throughput per User", "tok_per_s_per_user" },
    { "Request Count", "succeeded" },
    { "Completed Requests", "attempted" }, /* in full: "Completed Requests (Success + Error)" */
    { "Error Request Count", "failed" },
    { "Request Throughput", "requests_per_s" },
    { "Goodput", "goodput" },
    { "Output Token Throughput", "output_tok_per_s" },
    { "Input Token Throughput", "input_tok_per_s" },
    { "Total Token Throughput", "total_tok_per_s" },
    { "Benchmark Duration", "duration_s" },
    { NULL, NULL },
};

/* The meanings of those names made by read_statistics that do not show their meaning themselves.
 * "": the value is ignored. */
static const struct import_alias aliases[] = {
    { "avg_concurrency", "concurrency_actual" },
    { "max_concurrency", "max_concurrent_requests" },
    { "min_concurrency", "" },
    { "p50_concurrency", "" },
    { "p90_concurrency", "" },
    { "p95_concurrency", "" },
    { "p99_concurrency", "" },
    { "std_concurrency", "" },
    { NULL, NULL },
};

static const char *const statistics[] = { "avg", "min", "max", "p50", "p90",
                                          "p95", "p99", "std", NULL };

static const char *find(const struct import_alias *names, const char *label)
{
    while (names->heading != NULL && strcmp(names->heading, label) != 0)
        names++;
    return names->name;
}

static bool is_one_of(const char *const *list, const char *word)
{
    while (*list != NULL && strcmp(*list, word) != 0)
        list++;
    return *list != NULL;
}

/* Removes the unit from "Request Latency (ms)". */
static void remove_unit(char *label)
{
    char *unit = strstr(label, " (");

    if (unit != NULL)
        *unit = '\0';
}

/* ---- Lines ---- */

struct reading {
    struct csv csv;
    char columns[CSV_FIELDS_MAX][16]; /* from the latest heading above the line */
    size_t column_count;
    json_t *row;
};

static void read_heading(struct reading *reading)
{
    reading->column_count = reading->csv.count;
    for (size_t i = 0; i < reading->csv.count; i++)
        csv_copy(&reading->csv.fields[i], reading->columns[i], sizeof reading->columns[i]);
}

static void add_value(struct reading *reading, const char *name, size_t field)
{
    char value[64];

    csv_copy(&reading->csv.fields[field], value, sizeof value);
    if (value[0] != '\0' && json_object_size(reading->row) < CSV_FIELDS_MAX)
        json_object_set_new(reading->row, name, json_string(value));
}

static void read_statistics(struct reading *reading, const char *metric)
{
    for (size_t i = 1; i < reading->csv.count && i < reading->column_count; i++) {
        TEXT_AUTO name = { 0 };

        if (!is_one_of(statistics, reading->columns[i]))
            continue;
        text_addf(&name, "%s_%s", reading->columns[i], metric);
        add_value(reading, text_string(&name), i);
    }
}

static void read_metric(struct reading *reading)
{
    char label[LABEL_SIZE], name[LABEL_SIZE];
    const char *metric, *value;

    csv_copy(&reading->csv.fields[0], label, sizeof label);
    text_copy(name, sizeof name, label);
    remove_unit(name);
    metric = find(metrics, name);
    value = find(values, name);
    if (reading->csv.count < 2)
        return;
    if (metric != NULL && reading->column_count > 2)
        read_statistics(reading, metric);
    else
        add_value(reading, value != NULL ? value : label, 1);
}

static bool begins_with(const struct reading *reading, const char *word)
{
    char first[16];

    return strcmp(csv_copy(&reading->csv.fields[0], first, sizeof first), word) == 0;
}

static CHECKED bool read_lines(struct reading *reading, struct error *error)
{
    bool more = true, past_metrics = false;

    while (csv_next(&reading->csv, &more, error) && more) {
        /* from here on, the lines are about the accelerators */
        past_metrics = past_metrics || begins_with(reading, "Endpoint");
        if (begins_with(reading, "Metric"))
            read_heading(reading);
        else if (!past_metrics)
            read_metric(reading);
    }
    return !more;
}

/* ---- The file ---- */

bool import_sniff_aiperf_csv(const char *bytes, size_t length)
{
    static const char begin[] = "Metric,avg,min,max,";
    static const char latency[] = "\nRequest Latency (ms),";

    return length > sizeof begin && memcmp(bytes, begin, sizeof begin - 1) == 0
           && memmem(bytes, length, latency, sizeof latency - 1) != NULL;
}

bool import_read_aiperf_csv(const struct import_file *file, struct evidence *out,
                            struct error *error)
{
    FREE_AUTO struct reading *reading = memory_zeroed(1, sizeof *reading);
    json_auto_t *row = json_object();
    FREE_AUTO char *text = NULL;
    struct import_file made = { .columns = file->columns };

    reading->row = row;
    csv_init(&reading->csv, file->bytes, file->length);
    if (!read_lines(reading, error))
        return false;
    text = json_write(row);
    made.bytes = text;
    made.length = strlen(text);
    if (!import_table_read_rows(&made, aliases, "name", out, error))
        return false;
    out->input_unit = LENGTH_TOKENS;
    evidence_remark(out, "the CSV has neither the load nor the lengths that were requested: "
                         "the JSON next to it has both");
    return true;
}
