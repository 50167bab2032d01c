/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/export/export_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/import/import.h"
#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"

const struct exporter exporters[] = {
    { "vllm", "vLLM `bench serve` results, in the form of a vLLM sweep's summary.json",
      "application/json", "json", export_write_vllm, false },
    { "aiperf", "aiperf profile exports, one line of JSON per cell", "application/x-ndjson",
      "jsonl", export_write_aiperf, false },
    { "csv", "a table, one line per cell; the column names contain the units", "text/csv", "csv",
      export_write_csv, true },
    { "serving-report", "a serving report, schema version 1.1", "application/json", "json",
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

/* ---- Members of our own, and times ---- */

void export_own_members(json_t *json, const char *format, const struct evidence *evidence,
                        const struct evidence_cell *cell)
{
    export_text(json, "opsbrain_format", format);
    export_text(json, "opsbrain_run", evidence->id);
    export_text(json, "opsbrain_tool", evidence->facts.tool);
    export_text(json, "opsbrain_marks", cell->marks);
    export_text(json, "opsbrain_variant", cell->variant);
    if (evidence->input_unit == LENGTH_TOKENS || isnan(cell->input_length))
        return;
    export_number(json, "opsbrain_context", cell->input_length);
    export_text(json, "opsbrain_context_unit", length_unit_name(evidence->input_unit));
}

/* Whether the time has the form 20260314-190304, which vLLM writes and no other tool reads. */
static bool is_compact(const char *time)
{
    return strlen(time) == 15 && time[8] == '-' && strspn(time, "0123456789-") == 15
           && strchr(time, '-') == time + 8 && strchr(time + 9, '-') == NULL;
}

static bool is_iso(const char *time)
{
    return strlen(time) >= 10 && time[4] == '-' && time[7] == '-'
           && strspn(time, "0123456789-") >= 10
           && strspn(time, "0123456789-T :.+Z") == strlen(time);
}

const char *export_time(const struct evidence *evidence, const struct evidence_cell *cell,
                        char out[EXPORT_TIME_SIZE])
{
    const char *time = cell->time;

    out[0] = '\0';
    if (is_compact(time))
        snprintf(out, EXPORT_TIME_SIZE, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s", time, time + 4, time + 6,
                 time + 9, time + 11, time + 13);
    else if (is_iso(time))
        text_copy(out, EXPORT_TIME_SIZE, time);
    else if (!evidence->imported && time[0] == '\0')
        clock_format_utc(evidence->created_ms, out);
    return out;
}

void export_mark(struct evidence *evidence, const struct findings *findings)
{
    for (size_t f = 0; f < findings->count; f++) {
        const struct finding *finding = &findings->at[f];

        for (size_t i = 0; finding->cell_count == 0 && i < evidence->cell_count; i++)
            evidence_add_warning(&evidence->cells[i], finding->rule->name);
        for (size_t i = 0; i < finding->cell_count; i++)
            evidence_add_warning(&evidence->cells[finding->cells[i]], finding->rule->name);
    }
}

/* ---- What the format cannot hold ---- */

static void note_losses(const struct evidence_field *fields, const char *prefix, const void *before,
                        const void *after, json_t *lost)
{
    for (; fields->name != NULL; fields++) {
        const char *from = (const char *)before + fields->offset;
        const char *to = (const char *)after + fields->offset;
        bool is_lost = fields->size > 0 ? from[0] != '\0' && to[0] == '\0'
                                        : isfinite(*(const double *)(const void *)from)
                                              && !isfinite(*(const double *)(const void *)to);
        TEXT_AUTO name = { 0 };

        if (!is_lost)
            continue;
        text_addf(&name, "%s%s", prefix, fields->name);
        json_object_set_new(lost, text_string(&name), json_true());
    }
}

static void note_cell(const struct evidence_cell *before, const struct evidence_cell *after,
                      json_t *lost)
{
    note_losses(evidence_cell_fields, "", before, after, lost);
    for (enum metric i = 0; i < METRIC_COUNT; i++) {
        TEXT_AUTO prefix = { 0 };

        text_addf(&prefix, "%s.", metric_name(i));
        note_losses(evidence_latency_fields, text_string(&prefix), &before->latency[i],
                    &after->latency[i], lost);
    }
}

json_t *export_losses(const struct exporter *exporter, const struct evidence *evidence,
                      size_t first, size_t count, const struct text *file)
{
    json_auto_t *lost = json_object();
    struct evidence_facts facts = evidence->facts;
    json_t *list = json_array();
    EVIDENCE_AUTO again;
    struct error ignored;
    const char *name;
    json_t *value;
    size_t read = 0;

    if (!import_read(text_string(file), file->length, exporter->format, &again, &ignored))
        return list;
    for (size_t i = first; i < first + count; i++)
        if (export_takes(exporter, &evidence->cells[i]) && read < again.cell_count)
            note_cell(&evidence->cells[i], &again.cells[read++], lost);
    facts.output_tokens = facts.timeout_s = NAN; /* these were compared cell by cell, above */
    note_losses(evidence_fact_fields, "", &facts, &again.facts, lost);
    json_object_foreach(lost, name, value)
        json_array_append_new(list, json_string(name));
    return list;
}
