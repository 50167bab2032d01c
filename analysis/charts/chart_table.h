/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a chart as a table, with all their digits. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"

#define CHART_COLUMNS_MAX 16

struct chart_table {
    const char *names[CHART_COLUMNS_MAX]; /* "ttft_p50_ms"; static */
    size_t columns;
    struct chart_value {
        double number; /* NaN: the value is a string, or not known */
        char *string;  /* heap; NULL: the value is a number, or not known */
    } * values;
    size_t count;    /* the number of values: rows times columns */
    size_t capacity; /* the number of values for which there is room */
};

void chart_table_init(struct chart_table *table, const char *const *names); /* ends with NULL */
void chart_table_finish(struct chart_table *table);
/* Both append the next value of the row, in the order of the columns. */
void chart_table_number(struct chart_table *table, double value);     /* NaN: not known */
void chart_table_text(struct chart_table *table, const char *string); /* "" and NULL: not known */
size_t chart_table_rows(const struct chart_table *table);
const struct chart_value *chart_table_at(const struct chart_table *table, size_t row,
                                         size_t column);

/* Writes CSV with a line of headings. An unknown value is an empty field. */
void chart_table_csv(const struct chart_table *table, struct text *out);
/* [{"users": 4, ...}]: unknown values are omitted. New reference. */
json_t *chart_table_json(const struct chart_table *table);
