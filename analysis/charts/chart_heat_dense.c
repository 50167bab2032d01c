/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the cells of a heat map that has too many cells to show their figures. Neighbours in a row
 * that look the same share one stroke or outline, and only symbols are drawn cell by cell, so that
 * 10,000 cells make a file about as large as 156 cells with figures do. */
#include <math.h>
#include <stdint.h>

#include "analysis/charts/chart_heat.h"
#include "base/core/memory.h"

#define MARK_SIZE 3 /* of a warning's mark */
#define DOT_SIZE 1.6

/* What a cell looks like: a step of the ramp, or one of these. LOOK_OTHER: not attempted, not
 * feasible, or measured without this figure. */
enum look { LOOK_FAILED = PALETTE_STEPS, LOOK_INFERRED, LOOK_OTHER, LOOK_ABSENT };

struct dense {
    const struct chart_heat *heat;
    struct drawing *drawing;
    uint8_t *looks;    /* of each cell; heap */
    struct spot *ends; /* of the strokes to draw; heap: room for one stroke per cell */
    size_t count;      /* of the ends */
};

static uint8_t look_of(const struct chart_heat *heat, const struct chart_point *point)
{
    double value = chart_point_figure(point, heat->quantity->offset).mean;

    if (isfinite(value))
        return (uint8_t)chart_heat_step(heat, value);
    return point->state == CHART_FAILED     ? LOOK_FAILED
           : point->state == CHART_INFERRED ? LOOK_INFERRED
           : point->state == CHART_ABSENT   ? LOOK_ABSENT
                                            : LOOK_OTHER;
}

static void stroke_add(struct dense *dense, struct spot from, struct spot to)
{
    dense->ends[dense->count++] = from;
    dense->ends[dense->count++] = to;
}

static void strokes_draw(struct dense *dense, enum paint paint, double width)
{
    drawing_segments(dense->drawing, dense->ends, dense->count, CHART_STROKE(paint, width));
    dense->count = 0;
}

/* ---- Runs of cells that look the same ---- */

static void add_bar(struct dense *dense, struct box box)
{
    double y = box.y + box.height / 2;

    stroke_add(dense, (struct spot){ box.x, y }, (struct spot){ box.x + box.width, y });
}

static void draw_inferred(struct dense *dense, struct box box)
{
    drawing_rect(dense->drawing, chart_heat_inset(box, 0.5), 1,
                 (struct style){ PAINT_NONE, PAINT_MUTED, .width = 0.8, .dashed = true });
}

static void draw_outline(struct dense *dense, struct box box)
{
    drawing_rect(dense->drawing, chart_heat_inset(box, 0.5), 1, CHART_STROKE(PAINT_MUTED, 0.8));
}

/* Calls `draw` with the box of each run of neighbours in a row that have this look. */
static void each_run(struct dense *dense, int look,
                     void (*draw)(struct dense *dense, struct box box))
{
    size_t columns = dense->heat->grid->load_count;

    for (size_t row = 0; row < dense->heat->grid->row_count; row++)
        for (size_t first = 0, last; first < columns; first = last) {
            struct box box = chart_heat_box(dense->heat, row, first);

            for (last = first + 1;
                 last < columns
                 && dense->looks[row * columns + last] == dense->looks[row * columns + first];)
                last++;
            box.width += (double)(last - first - 1) * dense->heat->cell_width;
            if (dense->looks[row * columns + first] == look)
                draw(dense, box);
        }
}

/* ---- Symbols in single cells ---- */

static void add_diagonal(struct dense *dense, struct box box)
{
    stroke_add(dense, (struct spot){ box.x, box.y + box.height },
               (struct spot){ box.x + box.width, box.y });
}

static void add_dot(struct dense *dense, struct box box)
{
    double x = box.x + box.width / 2, y = box.y + box.height / 2;

    stroke_add(dense, (struct spot){ x - DOT_SIZE / 2, y }, (struct spot){ x + DOT_SIZE / 2, y });
}

static void add_mark(struct dense *dense, struct box box)
{
    double right = box.x + box.width, y = box.y + MARK_SIZE / 2.0;

    stroke_add(dense, (struct spot){ right - MARK_SIZE, y }, (struct spot){ right, y });
}

static void each_cell(struct dense *dense, int look,
                      void (*add)(struct dense *dense, struct box box))
{
    size_t columns = dense->heat->grid->load_count;

    for (size_t i = 0; i < columns * dense->heat->grid->row_count; i++)
        if (dense->looks[i] == look)
            add(dense, chart_heat_box(dense->heat, i / columns, i % columns));
}

static void add_marks(struct dense *dense)
{
    const struct chart_grid *grid = dense->heat->grid;

    for (size_t i = 0; i < grid->load_count * grid->row_count; i++)
        if (grid->points[i].is_marked)
            add_mark(dense,
                     chart_heat_box(dense->heat, i / grid->load_count, i % grid->load_count));
}

/* ---- All cells ---- */

/* Adds the gaps between columns. They are drawn over the bars, because a bar can span several
 * columns. */
static void add_gaps(struct dense *dense)
{
    const struct chart_heat *heat = dense->heat;
    double below = heat->top + (double)heat->grid->row_count * heat->cell_height;

    for (size_t load = 1; load < heat->grid->load_count; load++) {
        double x = chart_heat_box(heat, 0, load).x - CHART_HEAT_DENSE_GAP / 2;

        stroke_add(dense, (struct spot){ x, heat->top }, (struct spot){ x, below });
    }
}

static void draw(struct dense *dense)
{
    double bar = chart_heat_box(dense->heat, 0, 0).height;

    for (int step = 0; step < PALETTE_STEPS; step++) {
        each_run(dense, step, add_bar);
        strokes_draw(dense, PAINT_STEP + (enum paint)step, bar);
    }
    each_run(dense, LOOK_FAILED, add_bar);
    strokes_draw(dense, PAINT_FAIL_PALE, bar);
    add_gaps(dense);
    strokes_draw(dense, PAINT_PAPER, CHART_HEAT_DENSE_GAP);
    each_cell(dense, LOOK_FAILED, add_diagonal);
    strokes_draw(dense, PAINT_FAIL, 0.6);
    each_cell(dense, LOOK_ABSENT, add_dot);
    strokes_draw(dense, PAINT_MUTED, DOT_SIZE);
    each_run(dense, LOOK_INFERRED, draw_inferred);
    each_run(dense, LOOK_OTHER, draw_outline);
    add_marks(dense);
    strokes_draw(dense, PAINT_MARK, MARK_SIZE);
}

void chart_heat_dense(const struct chart_heat *heat)
{
    size_t cells = heat->grid->load_count * heat->grid->row_count;
    FREE_AUTO uint8_t *looks = memory_zeroed(cells, sizeof *looks);
    FREE_AUTO struct spot *ends = memory_zeroed(2 * cells + 2, sizeof *ends);
    struct dense dense = { heat, &heat->chart->drawing, looks, ends, 0 };

    for (size_t i = 0; i < cells; i++)
        looks[i] = look_of(heat, &heat->grid->points[i]);
    draw(&dense);
}
