/* SPDX-License-Identifier: Apache-2.0 */
#include "base/formats/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/memory.h"

struct column {
    char *heading;
    bool right;
    size_t width;
};

struct table {
    struct column *columns;
    char **cells; /* row by row */
    size_t column_count, cell_count, cell_capacity;
};

struct table *table_create(void)
{
    return memory_zeroed(1, sizeof(struct table));
}

/* The number of characters, nearly all of which are one column wide in a terminal. */
static size_t width_of(const char *string)
{
    size_t width = 0;

    for (; *string != '\0'; string++)
        width += ((unsigned char)*string & 0xc0) != 0x80;
    return width;
}

/* Escapes '|', which would end a cell. Replaces control characters with spaces, because a line
 * break would end the row. */
static char *escape(const char *string)
{
    struct text text = { 0 };

    for (; *string != '\0'; string++) {
        if (*string == '|')
            text_add(&text, "\\|");
        else if ((unsigned char)*string < 0x20)
            text_add_char(&text, ' ');
        else
            text_add_char(&text, *string);
    }
    return text_take(&text);
}

void table_column(struct table *table, const char *heading, bool right)
{
    struct column *column;

    table->columns = memory_resize(table->columns, table->column_count + 1, sizeof *table->columns);
    column = &table->columns[table->column_count++];
    column->heading = escape(heading);
    column->right = right;
    column->width = width_of(column->heading);
    if (column->width < 3) /* some Markdown parsers require three characters below a heading */
        column->width = 3;
}

void table_cell(struct table *table, const char *format, ...)
{
    struct column *column = &table->columns[table->cell_count % table->column_count];
    char *written, *cell;
    va_list args;

    va_start(args, format);
    if (vasprintf(&written, format, args) < 0)
        written = memory_copy_text("");
    va_end(args);
    cell = escape(written);
    free(written);
    if (width_of(cell) > column->width)
        column->width = width_of(cell);
    if (table->cell_count == table->cell_capacity) {
        table->cell_capacity = table->cell_capacity > 0 ? 2 * table->cell_capacity : 64;
        table->cells = memory_resize(table->cells, table->cell_capacity, sizeof *table->cells);
    }
    table->cells[table->cell_count++] = cell;
}

static void add_many(struct text *out, char c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_add_char(out, c);
}

static void render_cell(const struct column *column, const char *cell, struct text *out)
{
    size_t padding = column->width - width_of(cell);

    text_add(out, "| ");
    add_many(out, ' ', column->right ? padding : 0);
    text_add(out, cell);
    add_many(out, ' ', column->right ? 1 : padding + 1);
}

static void render_rule(const struct table *table, struct text *out)
{
    for (size_t i = 0; i < table->column_count; i++) {
        text_add(out, "| ");
        add_many(out, '-', table->columns[i].width - 1);
        text_add(out, table->columns[i].right ? ": " : "- ");
    }
    text_add(out, "|\n");
}

void table_render(const struct table *table, struct text *out)
{
    size_t columns = table->column_count;
    size_t rows = columns > 0 ? (table->cell_count + columns - 1) / columns : 0;

    for (size_t i = 0; i < columns; i++)
        render_cell(&table->columns[i], table->columns[i].heading, out);
    text_add(out, "|\n");
    render_rule(table, out);
    for (size_t i = 0; i < rows * columns; i++) {
        bool last = i % columns == columns - 1;

        render_cell(&table->columns[i % columns], i < table->cell_count ? table->cells[i] : "",
                    out);
        text_add(out, last ? "|\n" : "");
    }
}

void table_destroy(struct table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->column_count; i++)
        free(table->columns[i].heading);
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->columns);
    free(table->cells);
    free(table);
}
