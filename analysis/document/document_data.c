/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the figures as JSON: each run with its facts, the names of its columns, and a row for each
 * cell. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/document/document_parts.h"
#include "base/formats/csv_write.h"
#include "base/json/json.h"

#define COLUMNS_MAX 128
#define NAME_SIZE 48

struct data_column {
    char name[NAME_SIZE]; /* "ttft.p50_ms" */
    size_t offset, size;  /* in struct evidence_cell; size as in struct evidence_field */
};

struct data_sheet {
    struct data_column columns[COLUMNS_MAX];
    size_t count;
};

static const void *member(const struct evidence_cell *cell, size_t offset)
{
    return (const char *)cell + offset;
}

static bool is_known(const struct evidence_cell *cell, size_t offset, size_t size)
{
    if (size > 0)
        return *(const char *)member(cell, offset) != '\0';
    return isfinite(*(const double *)member(cell, offset));
}

/* Adds the field as a column if at least one cell has it. */
static void add_column(struct data_sheet *sheet, const struct evidence *run, const char *group,
                       const struct evidence_field *field, size_t base)
{
    struct data_column *column = &sheet->columns[sheet->count];
    bool known = false;

    for (size_t i = 0; i < run->cell_count && !known; i++)
        known = is_known(&run->cells[i], base + field->offset, field->size);
    if (!known || sheet->count == COLUMNS_MAX)
        return;
    snprintf(column->name, sizeof column->name, "%s%s%s", group, group[0] != '\0' ? "." : "",
             field->name);
    column->offset = base + field->offset;
    column->size = field->size;
    sheet->count++;
}

static void find_columns(struct data_sheet *sheet, const struct evidence *run)
{
    for (const struct evidence_field *f = evidence_cell_fields; f->name != NULL; f++)
        add_column(sheet, run, "", f, 0);
    for (enum metric metric = METRIC_TTFT; metric < METRIC_COUNT; metric++)
        for (const struct evidence_field *f = evidence_latency_fields; f->name != NULL; f++)
            add_column(sheet, run, metric_name(metric), f,
                       offsetof(struct evidence_cell, latency)
                           + metric * sizeof(struct evidence_latency));
}

static void add_value(const struct evidence_cell *cell, const struct data_column *column,
                      struct text *out)
{
    const char *string = member(cell, column->offset);

    if (!is_known(cell, column->offset, column->size))
        text_add(out, "null");
    else if (column->size > 0)
        json_add_string(out, string, strlen(string));
    else
        csv_write_number(*(const double *)member(cell, column->offset), out);
}

static void add_row(const struct evidence_cell *cell, const struct data_sheet *sheet,
                    struct text *out)
{
    text_addf(out, "[%lld,\"%s\"", (long long)cell->position, evidence_state_name(cell->state));
    for (size_t i = 0; i < sheet->count; i++) {
        text_add_char(out, ',');
        add_value(cell, &sheet->columns[i], out);
    }
    text_add_char(out, ']');
}

static void add_columns(const struct data_sheet *sheet, struct text *out)
{
    text_add(out, "\"columns\":[\"position\",\"state\"");
    for (size_t i = 0; i < sheet->count; i++)
        text_addf(out, ",\"%s\"", sheet->columns[i].name);
    text_add(out, "],");
}

static void add_facts(const struct evidence *run, struct text *out)
{
    json_auto_t *facts = evidence_facts_json(&run->facts);

    text_add(out, "\"facts\":");
    json_add(out, facts);
    text_add_char(out, ',');
}

/* The bytes by which the text after `from` grows when `<`, `>` and `&` are escaped in a script
 * element. */
static size_t growth(const struct text *data, size_t from)
{
    size_t more = 0;

    for (size_t i = from; i < data->length; i++)
        if (data->data[i] == '<' || data->data[i] == '>' || data->data[i] == '&')
            more += strlen("\\u003c") - 1;
    return more;
}

/* Cells that do not fit are omitted: "cells_missing" counts them. */
static void add_run(const struct evidence *run, size_t limit, struct text *out)
{
    struct data_sheet sheet = { .count = 0 };
    size_t i = 0;

    find_columns(&sheet, run);
    text_add(out, "{\"id\":");
    json_add_string(out, run->id, strlen(run->id));
    text_add_char(out, ',');
    if (out->length < limit)
        add_facts(run, out);
    add_columns(&sheet, out);
    text_add(out, "\"cells\":[");
    for (; i < run->cell_count && out->length < limit; i++) {
        size_t from = out->length, more;

        text_add(out, i > 0 ? ",\n" : "\n");
        add_row(&run->cells[i], &sheet, out);
        more = growth(out, from);
        limit -= more < limit ? more : limit;
    }
    text_addf(out, "],\"cells_missing\":%zu}", run->cell_count - i);
}

void document_write_data(const struct document *document, size_t limit, struct html *html)
{
    size_t room = limit > html->out->length ? limit - html->out->length : 0;
    TEXT_AUTO data = { 0 };

    text_add(&data, "{\"runs\":[");
    for (size_t p = 0; p < document->part_count; p++)
        for (size_t r = 0; r < document->parts[p].runs.count; r++) {
            text_add(&data, data.data[data.length - 1] == '}' ? ",\n" : "");
            add_run(&document->parts[p].runs.runs[r], room, &data);
        }
    text_add(&data, "]}");
    html_json(html, "data", text_string(&data));
}
