/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "client/terminal/display_width.h"

#define GAP 2 /* spaces between two columns of the table */
/* If a table is too wide, its columns of words are made narrower and wrapped. A column's minimum
 * width is that of its longest word, but at least WORD_COLUMN_MIN and at most LONGEST_WORD_MAX (an
 * id has 30 characters). Only on a narrow terminal can a column become narrower than that. */
#define WORD_COLUMN_MIN 12
#define LONGEST_WORD_MAX 34

struct column {
    size_t natural; /* the width of the widest cell, unwrapped */
    size_t width;   /* the width chosen for the terminal */
    size_t least;   /* for numbers, the width if the heading is wrapped; for words, the width of
                       the longest word */
    bool right;     /* a column of numbers, aligned to the right */
};

struct grid {
    struct column *columns;
    char **cells; /* row by row, the headings first */
    size_t column_count, cell_count, cell_capacity;
};

/* A block of columns: the table's first column, and the columns [from, to). */
struct block {
    size_t from, to;
};

struct grid *grid_create(void)
{
    return memory_zeroed(1, sizeof(struct grid));
}

void grid_destroy(struct grid *grid)
{
    if (grid == NULL)
        return;
    for (size_t i = 0; i < grid->cell_count; i++)
        free(grid->cells[i]);
    free(grid->cells);
    free(grid->columns);
    free(grid);
}

size_t grid_columns(const struct grid *grid)
{
    return grid->column_count;
}

static void add(struct grid *grid, struct column *column, const char *text, size_t length)
{
    size_t width = display_width(text, length);
    struct text copy = { 0 };

    text_add_bytes(&copy, text, length);
    text_add(&copy, ""); /* so that text_take returns a string even for an empty cell */
    if (width > column->natural)
        column->natural = width;
    if (grid->cell_count == grid->cell_capacity) {
        grid->cell_capacity = grid->cell_capacity > 0 ? 2 * grid->cell_capacity : 64;
        grid->cells = memory_resize(grid->cells, grid->cell_capacity, sizeof *grid->cells);
    }
    grid->cells[grid->cell_count++] = text_take(&copy);
}

static size_t longest_word(const char *text, size_t length)
{
    size_t longest = 0;

    for (size_t at = 0; at < length;) {
        const char *space = memchr(text + at, ' ', length - at);
        size_t word = space != NULL ? (size_t)(space - text) - at : length - at;
        size_t width = display_width(text + at, word);

        longest = width > longest ? width : longest;
        at += word + 1;
    }
    return longest;
}

void grid_column(struct grid *grid, const char *heading, size_t length, bool right)
{
    grid->columns = memory_resize(grid->columns, grid->column_count + 1, sizeof *grid->columns);
    grid->columns[grid->column_count] =
        (struct column){ .least = longest_word(heading, length), .right = right };
    add(grid, &grid->columns[grid->column_count++], heading, length);
}

void grid_cell(struct grid *grid, const char *text, size_t length)
{
    struct column *column = &grid->columns[grid->cell_count % grid->column_count];
    size_t width = column->right ? display_width(text, length) : longest_word(text, length);

    column->least = width > column->least ? width : column->least;
    add(grid, column, text, length);
}

void grid_cellf(struct grid *grid, const char *format, ...)
{
    FREE_AUTO char *written = NULL;
    va_list args;

    va_start(args, format);
    if (vasprintf(&written, format, args) < 0)
        written = memory_copy_text("");
    va_end(args);
    grid_cell(grid, written, strlen(written));
}

/* ---- Widths ---- */

static size_t total_width(const struct grid *grid)
{
    size_t total = 0;

    for (size_t i = 0; i < grid->column_count; i++)
        total += grid->columns[i].width + (i > 0 ? GAP : 0);
    return total;
}

static size_t narrowest(const struct column *column)
{
    size_t least = column->least < LONGEST_WORD_MAX ? column->least : LONGEST_WORD_MAX;

    return least > WORD_COLUMN_MIN ? least : WORD_COLUMN_MIN;
}

static struct column *widest_shrinkable(const struct grid *grid)
{
    struct column *widest = NULL;

    for (size_t i = 0; i < grid->column_count; i++) {
        struct column *column = &grid->columns[i];

        if (!column->right && column->width > narrowest(column)
            && (widest == NULL || column->width > widest->width))
            widest = column;
    }
    return widest;
}

/* Wraps the headings above numbers between words, but not the numbers. */
static void break_headings(const struct grid *grid)
{
    for (size_t i = 0; i < grid->column_count; i++) {
        struct column *column = &grid->columns[i];

        if (column->right && column->least < column->width)
            column->width = column->least;
    }
}

/* Limits the first of several columns to half of the available width, and each other column to what
 * is left beside the first. */
static void cap_widths(const struct grid *grid, size_t available)
{
    struct column *first = &grid->columns[0];

    if (grid->column_count > 1 && first->width > available / 2)
        first->width = available / 2;
    for (size_t i = 1; i < grid->column_count; i++)
        if (grid->columns[i].width > available - GAP - first->width)
            grid->columns[i].width = available - GAP - first->width;
}

static void choose_widths(const struct grid *grid, size_t available)
{
    struct column *widest;

    for (size_t i = 0; i < grid->column_count; i++)
        grid->columns[i].width =
            grid->columns[i].natural < available ? grid->columns[i].natural : available;
    if (total_width(grid) > available)
        break_headings(grid);
    while (total_width(grid) > available && (widest = widest_shrinkable(grid)) != NULL)
        widest->width--;
    cap_widths(grid, available);
}

/* Chooses the columns from `from` on that fit beside the first: at least one, if any are left. */
static struct block choose_block(const struct grid *grid, size_t from, size_t available)
{
    size_t used = grid->columns[0].width, to = from;

    while (to < grid->column_count
           && (to == from || used + GAP + grid->columns[to].width <= available))
        used += GAP + grid->columns[to++].width;
    return (struct block){ from, to };
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Gives the remaining width to the block's columns of words, the rightmost one first, each up to
 * its natural width. The table's first column keeps its width. */
static void widen_block(const struct grid *grid, const struct block *block, size_t available)
{
    size_t used = grid->columns[0].width, room;

    for (size_t i = block->from; i < block->to; i++)
        used += GAP + grid->columns[i].width;
    room = available > used ? available - used : 0;
    for (size_t i = block->to; i-- > block->from;) {
        struct column *column = &grid->columns[i];
        size_t more = smaller(room, column->natural - smaller(column->natural, column->width));

        column->width += column->right ? 0 : more;
        room -= column->right ? 0 : more;
    }
}

/* ---- Lines ---- */

static void add_spaces(struct text *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_add_char(out, ' ');
}

/* The length in bytes of the next line of a cell, which is wrapped between words if possible. */
static size_t line_length(const char *text, size_t width)
{
    size_t length = strlen(text), fits = display_width_fit(text, length, width), at = fits;

    if (fits == length)
        return fits;
    while (at > 0 && text[at] != ' ')
        at--;
    return at > 0 ? at : fits > 0 ? fits : text_utf8_sequence(text, length);
}

static void add_cell_line(const struct column *column, const char **rest, bool is_last_column,
                          struct text *out)
{
    size_t length = line_length(*rest, column->width);
    size_t width = display_width(*rest, length);
    size_t padding = column->width > width ? column->width - width : 0;

    add_spaces(out, column->right ? padding : 0);
    text_add_bytes(out, *rest, length);
    *rest += length;
    *rest += **rest == ' ';
    add_spaces(out, column->right || is_last_column ? 0 : padding);
}

/* Removes trailing spaces and ends the line. */
static void end_line(struct text *out, size_t begin)
{
    while (out->length > begin && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
    text_add_char(out, '\n');
}

static bool has_rest(const char *const *rests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rests[i][0] != '\0')
            return true;
    return false;
}

/* Converts the index of a column in the block to its index in the grid. Both are counted from 0. */
static size_t column_of(const struct block *block, size_t i)
{
    return i == 0 ? 0 : block->from + i - 1;
}

static void render_row(const struct grid *grid, const struct block *block, size_t row,
                       struct text *out)
{
    size_t count = block->to - block->from + 1;
    FREE_AUTO const char **rests = memory_zeroed(count, sizeof *rests);

    for (size_t i = 0; i < count; i++) {
        size_t at = row * grid->column_count + column_of(block, i);

        rests[i] = at < grid->cell_count ? grid->cells[at] : "";
    }
    do {
        size_t begin = out->length;

        for (size_t i = 0; i < count; i++) {
            add_spaces(out, i > 0 ? GAP : 0);
            add_cell_line(&grid->columns[column_of(block, i)], &rests[i], i + 1 == count, out);
        }
        end_line(out, begin);
    } while (has_rest(rests, count));
}

static void render_rule(const struct grid *grid, const struct block *block, struct text *out)
{
    size_t count = block->to - block->from + 1;

    for (size_t i = 0; i < count; i++) {
        add_spaces(out, i > 0 ? GAP : 0);
        for (size_t j = 0; j < grid->columns[column_of(block, i)].width; j++)
            text_add(out, "─");
    }
    text_add_char(out, '\n');
}

static void render_block(const struct grid *grid, const struct block *block,
                         const struct terminal *terminal, struct text *out)
{
    size_t rows = (grid->cell_count + grid->column_count - 1) / grid->column_count;

    text_add(out, terminal_style(terminal, STYLE_BOLD));
    render_row(grid, block, 0, out);
    text_add(out, terminal_style(terminal, STYLE_PLAIN));
    text_add(out, terminal_style(terminal, STYLE_DIM));
    render_rule(grid, block, out);
    text_add(out, terminal_style(terminal, STYLE_PLAIN));
    for (size_t row = 1; row < rows; row++)
        render_row(grid, block, row, out);
}

void grid_render(const struct grid *grid, const struct terminal *terminal, struct text *out)
{
    struct block block = { 1, 1 };

    if (grid->column_count == 0)
        return;
    choose_widths(grid, terminal->columns);
    do {
        block = choose_block(grid, block.to, terminal->columns);
        widen_block(grid, &block, terminal->columns);
        if (block.from > 1)
            text_add_char(out, '\n');
        render_block(grid, &block, terminal, out);
    } while (block.to < grid->column_count);
}
