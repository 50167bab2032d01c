/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report/matrix.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/report/point_warnings.h"
#include "base/core/memory.h"
#include "base/formats/table.h"
#include "base/json/json.h"

/* ---- Markdown ---- */

/* The texts of the table's cells, written before it is known how many columns fit side by side. */
struct sheet {
    size_t rows, columns;
    char **cells; /* row by row */
};

static bool has_short_answers(const struct grid_point *point)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->cells[i] != NULL && point->cells[i]->state == CELL_MEASURED
            && point->cells[i]->measurement.output_tokens_mean < DECODE_TOKENS)
            return true;
    return false;
}

void matrix_add_figure(const struct grid_point *point, enum quantity_id quantity, struct text *out)
{
    const struct repetition_stats figure = repetition_stats_of(point, quantity);

    if (figure.count > 0) {
        repetition_stats_write(&figure, out);
        text_add(out, point_warning_is_marked(point) ? "!" : "");
    } else if (quantities[quantity].of_decoding && has_short_answers(point)) {
        text_add(out, "short");
    } else {
        text_add(out, grid_point_word(point));
    }
}

static void sheet_init(struct sheet *sheet, const struct cell_grid *grid, size_t output,
                       enum quantity_id quantity)
{
    *sheet = (struct sheet){ grid->contexts.count, grid->loads.count, NULL };
    sheet->cells = memory_zeroed(sheet->rows * sheet->columns + 1, sizeof *sheet->cells);
    for (size_t row = 0; row < sheet->rows; row++)
        for (size_t column = 0; column < sheet->columns; column++) {
            const struct grid_point point = cell_grid_point(grid, output, row, column);
            struct text cell = { 0 };

            matrix_add_figure(&point, quantity, &cell);
            sheet->cells[row * sheet->columns + column] = text_take(&cell);
        }
}

static void sheet_finish(struct sheet *sheet)
{
    for (size_t i = 0; i < sheet->rows * sheet->columns; i++)
        free(sheet->cells[i]);
    free(sheet->cells);
}

static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static size_t number_width(double number)
{
    char written[24];

    return (size_t)snprintf(written, sizeof written, "%.6g", number);
}

static size_t column_width(const struct sheet *sheet, size_t column, double heading)
{
    size_t width = number_width(heading);

    for (size_t row = 0; row < sheet->rows; row++) {
        size_t cell = width_of(sheet->cells[row * sheet->columns + column]);

        width = cell > width ? cell : width;
    }
    return width > 3 ? width : 3;
}

/* The number of columns, from `first` on, that fit into one table; at least one. */
static size_t columns_that_fit(const struct sheet *sheet, const struct cell_grid *grid,
                               size_t first)
{
    static const size_t frame = sizeof "|  " - 1, first_column = sizeof "context \\ requests/s" - 1;
    size_t used = first_column + frame + 1, fit = 0;

    while (first + fit < sheet->columns) {
        used += frame + column_width(sheet, first + fit, grid->loads.values[first + fit]);
        if (used > TABLE_WIDTH && fit > 0)
            break;
        fit++;
    }
    return fit;
}

static void write_block(const struct sheet *sheet, const struct cell_grid *grid, size_t first,
                        size_t count, struct text *out)
{
    struct table *table = table_create();
    char heading[24];

    table_column(table, grid->is_rate ? "context \\ requests/s" : "context \\ users", true);
    for (size_t i = 0; i < count; i++) {
        snprintf(heading, sizeof heading, "%.6g", grid->loads.values[first + i]);
        table_column(table, heading, true);
    }
    for (size_t row = 0; row < sheet->rows; row++) {
        table_cell(table, "%lld", (long long)grid->contexts.values[row]);
        for (size_t i = 0; i < count; i++)
            table_cell(table, "%s", sheet->cells[row * sheet->columns + first + i]);
    }
    table_render(table, out);
    table_destroy(table);
    text_add_char(out, '\n');
}

void matrix_write(const struct cell_grid *grid, size_t output, enum quantity_id quantity,
                  struct text *out)
{
    struct sheet sheet;

    sheet_init(&sheet, grid, output, quantity);
    text_addf(out, "### %s\n\n", quantities[quantity].title);
    for (size_t first = 0, count; first < sheet.columns; first += count) {
        count = columns_that_fit(&sheet, grid, first);
        write_block(&sheet, grid, first, count, out);
    }
    sheet_finish(&sheet);
}

/* ---- JSON ---- */

static json_t *member_matrix(const struct cell_grid *grid, size_t output, enum quantity_id quantity,
                             size_t offset)
{
    json_t *rows = json_array();

    for (size_t row = 0; row < grid->contexts.count; row++) {
        json_t *line = json_array();

        for (size_t load = 0; load < grid->loads.count; load++) {
            const struct grid_point point = cell_grid_point(grid, output, row, load);
            const struct repetition_stats figure = repetition_stats_of(&point, quantity);
            double value;

            memcpy(&value, (const char *)&figure + offset, sizeof value);
            json_array_append_new(line, json_number_or_null(value));
        }
        json_array_append_new(rows, line);
    }
    return rows;
}

static json_t *censored_points(const struct cell_grid *grid, size_t output,
                               enum quantity_id quantity)
{
    json_t *list = json_array();

    for (size_t row = 0; row < grid->contexts.count; row++)
        for (size_t load = 0; load < grid->loads.count; load++) {
            const struct grid_point point = cell_grid_point(grid, output, row, load);

            if (repetition_stats_of(&point, quantity).at_least)
                json_array_append_new(list,
                                      json_pack("[I, o]", (json_int_t)point.context_tokens,
                                                cell_grid_load_json(point.load, point.is_rate)));
        }
    return list;
}

json_t *matrix_to_json(const struct cell_grid *grid, size_t output, enum quantity_id quantity)
{
    static const struct {
        const char *name;
        size_t offset;
    } spread[] = { { "min", offsetof(struct repetition_stats, low) },
                   { "max", offsetof(struct repetition_stats, high) },
                   { "ci95_half_width", offsetof(struct repetition_stats, half_width) } };
    json_t *out = json_pack("{s:s, s:s}", "name", quantities[quantity].name, "title",
                            quantities[quantity].title);

    json_object_set_new(
        out, "mean",
        member_matrix(grid, output, quantity, offsetof(struct repetition_stats, mean)));
    for (size_t i = 0; i < 3 && grid->repetitions.count > 1; i++)
        json_object_set_new(out, spread[i].name,
                            member_matrix(grid, output, quantity, spread[i].offset));
    if (quantities[quantity].censored_offset > 0)
        json_object_set_new(out, "at_least", censored_points(grid, output, quantity));
    return out;
}

json_t *matrix_states(const struct cell_grid *grid, size_t output)
{
    json_t *rows = json_array();

    for (size_t row = 0; row < grid->contexts.count; row++) {
        json_t *line = json_array();

        for (size_t load = 0; load < grid->loads.count; load++) {
            const struct grid_point point = cell_grid_point(grid, output, row, load);

            json_array_append_new(line, json_string(cell_state_name(grid_point_state(&point))));
        }
        json_array_append_new(rows, line);
    }
    return rows;
}
