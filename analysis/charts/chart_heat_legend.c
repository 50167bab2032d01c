/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the legend, which explains the colours and symbols of the heat map. Also draws the symbols
 * that the legend shares with the cells of chart_heat.c. */
#include "analysis/charts/chart_heat.h"
#include "base/core/memory.h"

#include <math.h>

#define HATCH 6 /* distance between the lines of a hatch */
#define STEP_WIDTH 26

/* ---- Symbols ---- */

void chart_heat_hatch(struct drawing *drawing, struct box box)
{
    size_t most = 2 * (size_t)((box.width + box.height) / HATCH) + 2, count = 0;
    FREE_AUTO struct spot *ends = memory_zeroed(most, sizeof *ends);

    for (double at = HATCH; at < box.width + box.height; at += HATCH) {
        double down = fmin(at, box.height), right = fmin(at, box.width);

        ends[count++] = (struct spot){ box.x + at - down, box.y + down };
        ends[count++] = (struct spot){ box.x + right, box.y + at - right };
    }
    drawing_segments(drawing, ends, count, CHART_STROKE(PAINT_FAIL, 0.6));
}

void chart_heat_corner(struct drawing *drawing, struct box box, double size)
{
    const struct spot corners[] = { { box.x + box.width - size, box.y },
                                    { box.x + box.width, box.y },
                                    { box.x + box.width, box.y + size } };

    drawing_path(drawing, corners, 3, true,
                 (struct style){ PAINT_MARK, PAINT_PAPER, .width = 0.8 });
}

void chart_heat_failed_share(struct drawing *drawing, struct box box, double share)
{
    const struct box bar = { box.x + 2.5, box.y + box.height - 5, box.width - 5, 3.5 };
    double failed = fmax(2, bar.width * share);

    drawing_rect(drawing, bar, 0, CHART_FILL(PAINT_PAPER));
    drawing_rect(drawing, (struct box){ bar.x + bar.width - failed, bar.y, failed, bar.height }, 0,
                 CHART_FILL(PAINT_FAIL));
}

/* ---- Legend ---- */

static void draw_ramp(const struct chart_heat *heat, double y)
{
    struct drawing *drawing = &heat->chart->drawing;
    const double width = STEP_WIDTH, x = CHART_MARGIN;
    char number[SCALE_NUMBER_SIZE];
    int steps;

    if (!heat->range.known)
        return;
    steps = heat->range.low < heat->range.high ? PALETTE_STEPS : 1;
    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = x,
                                           .y = y,
                                           .string = heat->quantity->title,
                                           .paint = PAINT_MUTED });
    for (int i = 0; i < steps; i++)
        drawing_rect(drawing, (struct box){ x + i * width, y + 7, width, 11 }, 0,
                     CHART_FILL(PAINT_STEP + (enum paint)(steps > 1 ? i : PALETTE_STEPS / 2)));
    drawing_text(drawing, &(struct label){ .kind = TEXT_FIGURE,
                                           .x = x,
                                           .y = y + 31,
                                           .string = scale_number(heat->range.low, number),
                                           .paint = PAINT_MUTED });
    if (steps > 1)
        drawing_text_if_free(drawing,
                             &(struct label){ .kind = TEXT_FIGURE,
                                              .x = x + PALETTE_STEPS * width,
                                              .y = y + 31,
                                              .string = scale_number(heat->range.high, number),
                                              .paint = PAINT_MUTED,
                                              .anchor = ANCHOR_END });
}

static void swatch_saturation(struct drawing *drawing, struct box box)
{
    drawing_rect(drawing, box, 2, CHART_STROKE(chart_series_paint(1), 2.2));
}

static void swatch_marked(struct drawing *drawing, struct box box)
{
    drawing_rect(drawing, box, 2, CHART_FILL(PAINT_STEP + 2));
    chart_heat_corner(drawing, box, 7);
}

static void swatch_share(struct drawing *drawing, struct box box)
{
    drawing_rect(drawing, box, 2, CHART_FILL(PAINT_STEP + 2));
    chart_heat_failed_share(drawing, box, 0.4);
}

static void swatch_failed(struct drawing *drawing, struct box box)
{
    drawing_rect(drawing, box, 2, CHART_FILL(PAINT_FAIL_PALE));
    chart_heat_hatch(drawing, box);
}

static void swatch_outline(struct drawing *drawing, struct box box)
{
    drawing_rect(drawing, box, 2, CHART_STROKE(PAINT_MUTED, 1));
}

static void swatch_inferred(struct drawing *drawing, struct box box)
{
    drawing_rect(drawing, box, 2,
                 (struct style){ PAINT_NONE, PAINT_MUTED, .width = 1, .dashed = true });
}

static void swatch_unknown(struct drawing *drawing, struct box box)
{
    swatch_outline(drawing, box);
    drawing_text(drawing, &(struct label){ .kind = TEXT_WORD,
                                           .x = box.x + box.width / 2,
                                           .y = box.y + box.height / 2 + 3.5,
                                           .string = "?",
                                           .paint = PAINT_MUTED,
                                           .anchor = ANCHOR_MIDDLE });
}

static void swatch_absent(struct drawing *drawing, struct box box)
{
    drawing_circle(drawing, (struct spot){ box.x + box.width / 2, box.y + box.height / 2 },
                   CHART_HEAT_DOT, CHART_FILL(PAINT_MUTED));
}

/* Explains only the symbols that are in the picture. */
static void draw_symbols(const struct chart_heat *heat, double y)
{
    const struct chart_grid *grid = heat->grid;
    const struct {
        bool is_there;
        const char *words;
        void (*draw)(struct drawing *drawing, struct box box);
    } items[] = {
        { heat->has_saturation, "saturated from here on", swatch_saturation },
        { chart_grid_marked(grid) > 0, "marked: see warnings", swatch_marked },
        { heat->has_failed_share, "share of failed requests", swatch_share },
        { chart_grid_count(grid, CHART_FAILED) > 0, "failed", swatch_failed },
        { chart_grid_count(grid, CHART_INFERRED) > 0, "inferred, not measured", swatch_inferred },
        { chart_grid_count(grid, CHART_INFEASIBLE) + chart_grid_count(grid, CHART_SKIPPED) > 0,
          "not attempted", swatch_outline },
        { heat->has_unknown, "measured, without this figure", swatch_unknown },
        { chart_grid_count(grid, CHART_ABSENT) > 0, "not measured", swatch_absent },
    };
    const double right = CHART_WIDTH - CHART_MARGIN;
    const double left = CHART_MARGIN + (heat->range.known ? STEP_WIDTH * PALETTE_STEPS + 40 : 0);
    double x = left;

    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        double width = 36 + font_measure(items[i].words, text_kind_size(TEXT_NOTE), FONT_REGULAR);

        if (!items[i].is_there)
            continue;
        if (x > left && x + width > right) {
            x = left;
            y += 22;
        }
        items[i].draw(&heat->chart->drawing, (struct box){ x, y - 6, 26, 14 });
        drawing_text(&heat->chart->drawing, &(struct label){ .kind = TEXT_NOTE,
                                                             .x = x + 32,
                                                             .y = y + 5,
                                                             .string = items[i].words,
                                                             .paint = PAINT_INK });
        x += width + 14;
    }
}

void chart_heat_legend(const struct chart_heat *heat, double y)
{
    draw_ramp(heat, y);
    draw_symbols(heat, y + 2);
}
