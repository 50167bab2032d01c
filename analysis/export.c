#include "analysis/export_private.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

const struct exporter exporters[] = {
    { "vllm", "vLLM `bench serve` results, a line of JSON per cell", "application/x-ndjson",
      "jsonl", export_write_vllm, false },
    { "aiperf", "aiperf profile exports, a line of JSON per cell", "application/x-ndjson", "jsonl",
      export_write_aiperf, false },
    { "csv", "a table, a line per cell; units are in the names of the columns", "text/csv", "csv",
      export_write_csv, true },
    { "serving-report", "a serving report of schema 1.1", "application/json", "json",
      export_write_serving_report, true },
    { 0 },
};

const struct exporter *exporter_find(const char *format)
{
    for (const struct exporter *exporter = exporters; exporter->format != NULL; exporter++)
        if (strcmp(exporter->format, format) == 0)
            return exporter;
    return NULL;
}

bool export_takes(const struct exporter *exporter, const struct evidence_cell *cell)
{
    return exporter->takes_unmeasured || cell->state == EVIDENCE_MEASURED
           || cell->state == EVIDENCE_UNKNOWN || cell->attempted > 0;
}

void export_number(json_t *object, const char *name, double value)
{
    if (!isfinite(value))
        return;
    json_object_set_new(object, name,
                        value == floor(value) && fabs(value) < 1e15
                            ? json_integer((json_int_t)value)
                            : json_real(value));
}

void export_text(json_t *object, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0')
        json_object_set_new(object, name, json_string(value));
}

const struct evidence_latency *export_sent(const struct evidence_cell *cell, enum metric metric,
                                           enum metric sent)
{
    return &cell->latency[isnan(cell->latency[sent].count) ? metric : sent];
}

struct evidence_latency export_latency(const struct evidence_latency *latency)
{
    struct evidence_latency out = *latency;

    if (latency->p50_at_least)
        out.p50_ms = NAN;
    if (latency->p90_at_least)
        out.p90_ms = NAN;
    if (latency->p95_at_least)
        out.p95_ms = NAN;
    if (latency->p99_at_least)
        out.p99_ms = out.max_ms = NAN;
    return out;
}

void export_line(const json_t *object, struct text *out)
{
    FREE_AUTO char *line = json_write(object);

    text_add(out, line);
    text_add_char(out, '\n');
}
