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
    bool is_flag;         /* a bool, instead of a number or a text */
};

struct data_sheet {
    struct data_column columns[COLUMNS_MAX];
    size_t count;
};

static const void *member(const struct evidence_cell *cell, const struct data_column *column)
{
    return (const char *)cell + column->offset;
}

static bool is_known(const struct evidence_cell *cell, const struct data_column *column)
{
    if (column->is_flag)
        return *(const bool *)member(cell, column);
    if (column->size > 0)
        return *(const char *)member(cell, column) != '\0';
    return isfinite(*(const double *)member(cell, column));
}

/* Adds the column if at least one cell has a value in it. Its name is "group.name", or "name" if
 * `group` is "". */
static void add_column(struct data_sheet *sheet, const struct evidence *run, const char *group,
                       const char *name, struct data_column column)
{
    bool known = false;

    for (size_t i = 0; i < run->cell_count && !known; i++)
        known = is_known(&run->cells[i], &column);
    if (!known || sheet->count == COLUMNS_MAX)
        return;
    snprintf(column.name, sizeof column.name, "%s%s%s", group, group[0] != '\0' ? "." : "", name);
    sheet->columns[sheet->count++] = column;
}

static void find_columns(struct data_sheet *sheet, const struct evidence *run)
{
    for (const struct evidence_field *f = evidence_cell_fields; f->name != NULL; f++)
        add_column(sheet, run, "", f->name,
                   (struct data_column){ .offset = f->offset, .size = f->size });
    for (enum metric metric = METRIC_TTFT; metric < METRIC_COUNT; metric++) {
        size_t base =
            offsetof(struct evidence_cell, latency) + metric * sizeof(struct evidence_latency);

        for (const struct evidence_field *f = evidence_latency_fields; f->name != NULL; f++)
            add_column(sheet, run, metric_name(metric), f->name,
                       (struct data_column){ .offset = base + f->offset, .size = f->size });
        for (const struct evidence_flag *f = evidence_latency_flags; f->name != NULL; f++)
            add_column(sheet, run, metric_name(metric), f->name,
                       (struct data_column){ .offset = base + f->offset, .is_flag = true });
    }
}

static void add_value(const struct evidence_cell *cell, const struct data_column *column,
                      struct text *out)
{
    const char *string = member(cell, column);

    if (column->is_flag)
        text_add(out, is_known(cell, column) ? "true" : "false");
    else if (!is_known(cell, column))
        text_add(out, "null");
    else if (column->size > 0)
        json_add_string(out, string, strlen(string));
    else
        csv_write_number(*(const double *)member(cell, column), out);
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

/* Subtracts from *room, down to 0, the number of bytes by which the data grow from index `from` on
 * when `<`, `>` and `&` are escaped in a script element. */
static void take_growth(const struct text *data, size_t from, size_t *room)
{
    size_t more = 0;

    for (size_t i = from; i < data->length; i++)
        if (data->data[i] == '<' || data->data[i] == '>' || data->data[i] == '&')
            more += strlen("\\u003c") - 1;
    *room -= more < *room ? more : *room;
}

/* Facts, columns and cells that do not fit are omitted; "cells_missing" is the number of omitted
 * cells. */
static void add_run(const struct evidence *run, size_t *room, struct text *out)
{
    struct data_sheet sheet = { .count = 0 };
    size_t from = out->length, i = 0;

    text_add(out, "{\"id\":");
    json_add_string(out, run->id, strlen(run->id));
    text_add_char(out, ',');
    if (out->length < *room) {
        find_columns(&sheet, run);
        add_facts(run, out);
    }
    add_columns(&sheet, out);
    text_add(out, "\"cells\":[");
    take_growth(out, from, room);
    for (; i < run->cell_count && out->length < *room; i++) {
        from = out->length;
        text_add(out, i > 0 ? ",\n" : "\n");
        add_row(&run->cells[i], &sheet, out);
        take_growth(out, from, room);
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
            add_run(&document->parts[p].runs.runs[r], &room, &data);
        }
    text_add(&data, "]}");
    html_json(html, "data", text_string(&data));
}
