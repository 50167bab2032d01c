/* SPDX-License-Identifier: Apache-2.0 */
#include "client/terminal/line_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/core/memory.h"

#define AXIS 6 /* the columns that a figure and the axis take */
#define DOTS_ACROSS 2
#define DOTS_DOWN 4

/* The dots of each cell, as the low byte of a braille character (U+2800 to U+28FF). */
struct canvas {
    unsigned char *cells;
    size_t columns, rows;
};

size_t line_chart_room(size_t columns)
{
    return columns > AXIS ? DOTS_ACROSS * (columns - AXIS) : 0;
}

const char *line_chart_figure(double value, char out[LINE_CHART_FIGURE_SIZE])
{
    /* "%.3g" would round 999.5 of a unit to 1e+03 */
    static const struct {
        double from, one;
        const char *unit;
    } units[] = {
        { 999.5e9, 1e12, "T" }, { 999.5e6, 1e9, "G" }, { 999.5e3, 1e6, "M" }, { 1e4, 1e3, "k" }
    };

    if (!isfinite(value)) {
        snprintf(out, LINE_CHART_FIGURE_SIZE, "-");
        return out;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (value >= units[i].from) {
            snprintf(out, LINE_CHART_FIGURE_SIZE, "%.3g%s", value / units[i].one, units[i].unit);
            return out;
        }
    snprintf(out, LINE_CHART_FIGURE_SIZE, value >= 999.5 ? "%.0f" : "%.3g", value);
    return out;
}

/* Rounds up to 1, 2 or 5 times a power of ten. */
static double round_up(double value)
{
    double power = pow(10, floor(log10(value)));

    for (size_t i = 0; i < 3; i++) {
        static const double steps[] = { 1, 2, 5 };

        if (value <= steps[i] * power * (1 + 1e-9))
            return steps[i] * power;
    }
    return 10 * power;
}

static double top_of(const double *values, size_t count)
{
    double largest = 0;

    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]) && values[i] > largest)
            largest = values[i];
    return largest > 0 ? round_up(largest) : 1;
}

/* The dots of a braille character are numbered down the left column, then down the right one,
 * except that the lowest two come last. */
static void set_dot(struct canvas *canvas, size_t x, size_t y)
{
    static const unsigned char bits[DOTS_DOWN][DOTS_ACROSS] = {
        { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
    };
    size_t row = canvas->rows - 1 - y / DOTS_DOWN;

    canvas->cells[row * canvas->columns + x / DOTS_ACROSS] |=
        bits[DOTS_DOWN - 1 - y % DOTS_DOWN][x % DOTS_ACROSS];
}

/* Draws the line from the previous point (at the height `before`, drawn already) to this one (at
 * `y`). before -1: there is no previous point. */
static void draw_point(struct canvas *canvas, size_t x, long y, long before)
{
    long from = before < 0 ? y : before < y ? before + 1 : before > y ? before - 1 : y;
    long low = from < y ? from : y, high = from < y ? y : from;

    for (long at = low; at <= high; at++)
        set_dot(canvas, x, (size_t)at);
}

static void draw(struct canvas *canvas, const double *values, size_t count, double top)
{
    size_t room = canvas->columns * DOTS_ACROSS, first = count > room ? count - room : 0;
    double highest = (double)(canvas->rows * DOTS_DOWN - 1);
    long before = -1;

    for (size_t i = first; i < count; i++) {
        double share = values[i] < 0 ? 0 : values[i] / top;
        long y = isfinite(values[i]) ? lround((share > 1 ? 1 : share) * highest) : -1;

        if (y >= 0)
            draw_point(canvas, room - count + i, y, before);
        before = y;
    }
}

static void add_cell(struct text *out, unsigned char dots)
{
    text_add_char(out, (char)0xe2);
    text_add_char(out, (char)(0xa0 | dots >> 6));
    text_add_char(out, (char)(0x80 | (dots & 0x3f)));
}

static void add_row(const struct canvas *canvas, size_t row, double top, struct text *out)
{
    char figure[LINE_CHART_FIGURE_SIZE] = "";

    if (row == 0)
        line_chart_figure(top, figure);
    else if (row + 1 == canvas->rows)
        line_chart_figure(0, figure);
    text_addf(out, "%*.*s│", AXIS - 1, AXIS - 1, figure);
    for (size_t i = 0; i < canvas->columns; i++)
        if (canvas->cells[row * canvas->columns + i] == 0)
            text_add_char(out, ' ');
        else
            add_cell(out, canvas->cells[row * canvas->columns + i]);
}

void line_chart_render(const double *values, size_t count, size_t columns, size_t rows,
                       struct text *lines)
{
    struct canvas canvas = { .columns = line_chart_room(columns) / DOTS_ACROSS, .rows = rows };
    double top = top_of(values, count);

    canvas.cells = memory_zeroed(canvas.columns * rows + 1, 1);
    if (canvas.columns > 0 && rows > 0)
        draw(&canvas, values, count, top);
    for (size_t row = 0; row < rows; row++)
        add_row(&canvas, row, top, &lines[row]);
    free(canvas.cells);
}
