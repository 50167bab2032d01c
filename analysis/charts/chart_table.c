/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/csv_write.h"

void chart_table_init(struct chart_table *table, const char *const *names)
{
    *table = (struct chart_table){ 0 };
    while (names[table->columns] != NULL && table->columns < CHART_COLUMNS_MAX) {
        table->names[table->columns] = names[table->columns];
        table->columns++;
    }
}

void chart_table_finish(struct chart_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->values[i].string);
    free(table->values);
    *table = (struct chart_table){ 0 };
}

static void add(struct chart_table *table, double number, char *string)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity > 0 ? 2 * table->capacity : 256;
        table->values = memory_resize(table->values, table->capacity, sizeof *table->values);
    }
    table->values[table->count++] = (struct chart_value){ number, string };
}

void chart_table_number(struct chart_table *table, double value)
{
    add(table, value, NULL);
}

void chart_table_text(struct chart_table *table, const char *string)
{
    add(table, NAN, string != NULL && string[0] != '\0' ? memory_copy_text(string) : NULL);
}

size_t chart_table_rows(const struct chart_table *table)
{
    return table->columns > 0 ? table->count / table->columns : 0;
}

const struct chart_value *chart_table_at(const struct chart_table *table, size_t row, size_t column)
{
    return &table->values[row * table->columns + column];
}

void chart_table_csv(const struct chart_table *table, struct text *out)
{
    for (size_t i = 0; i < table->columns; i++)
        text_addf(out, "%s%s", i > 0 ? "," : "", table->names[i]);
    for (size_t i = 0; i < table->count; i++) {
        text_add(out, i % table->columns > 0 ? "," : "\r\n");
        if (table->values[i].string != NULL)
            csv_write_text(table->values[i].string, out);
        else
            csv_write_number(table->values[i].number, out);
    }
    text_add(out, "\r\n");
}

json_t *chart_table_json(const struct chart_table *table)
{
    json_t *rows = json_array(), *row = NULL;

    for (size_t i = 0; i < table->count; i++) {
        const struct chart_value *value = &table->values[i];

        if (i % table->columns == 0)
            json_array_append_new(rows, row = json_object());
        if (value->string != NULL)
            json_object_set_new(row, table->names[i % table->columns], json_string(value->string));
        else if (isfinite(value->number))
            json_object_set_new(row, table->names[i % table->columns], json_real(value->number));
    }
    return rows;
}
