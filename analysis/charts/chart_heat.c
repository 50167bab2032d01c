/* SPDX-License-Identifier: Apache-2.0 */
/* The heat map, which shows where a server saturates: loads by contexts or output lengths, evenly
 * spaced. */
#include <math.h>
#include <string.h>

#include "analysis/charts/chart_heat.h"

#define FIGURES_COLUMNS_MAX 30 /* with more columns or rows, cells are too small for figures */
#define FIGURES_ROWS_MAX 40
#define CELL_WIDTH_MIN 42
#define CELL_HEIGHT_MIN 20
#define DENSE_CELL_MIN 6
#define TICK_GAP 3               /* between the names of columns */
#define TICK_HEIGHT 14           /* of a row's name */
#define GAP 1.5                  /* between cells */
#define CORNER 7                 /* size of a warning's mark */
#define FAILED_SHARE_SHOWN 0.005 /* smaller shares are not drawn */

/* ---- Layout ---- */

static double tick_width(const char *name)
{
    return font_measure(name, text_kind_size(TEXT_TICK), FONT_REGULAR);
}

static double widest_row_name(const struct chart_grid *grid)
{
    char name[SCALE_NUMBER_SIZE];
    double widest = 0;

    for (size_t i = 0; i < grid->row_count; i++)
        widest = fmax(widest, tick_width(chart_row_name(grid->rows[i], name)));
    return widest;
}

static double widest_load(const struct chart_grid *grid)
{
    char name[SCALE_NUMBER_SIZE];
    double widest = 0;

    for (size_t i = 0; i < grid->load_count; i++)
        widest = fmax(widest, tick_width(scale_exact(grid->loads[i], name)));
    return widest;
}

static double clamped(double value, double low, double high)
{
    return fmin(high, fmax(low, value));
}

/* Cells fill the plot; the picture grows if they would be too small to read. In a dense map the
 * upper left corners of the cells have integer coordinates, which make a smaller file and a sharper
 * picture. */
static void lay_out(struct chart_heat *heat, double top)
{
    const struct chart_grid *grid = heat->grid;
    double columns = (double)grid->load_count, rows = (double)grid->row_count;

    heat->is_dense = grid->load_count > FIGURES_COLUMNS_MAX || grid->row_count > FIGURES_ROWS_MAX;
    heat->left = CHART_MARGIN + 26 + widest_row_name(grid);
    heat->top = top + 28;
    heat->cell_width = fmax((CHART_WIDTH - CHART_MARGIN - heat->left) / columns,
                            heat->is_dense ? DENSE_CELL_MIN : CELL_WIDTH_MIN);
    heat->cell_height = fmax((CHART_HEIGHT - CHART_HEAT_LEGEND_HEIGHT - heat->top) / rows,
                             heat->is_dense ? DENSE_CELL_MIN : CELL_HEIGHT_MIN);
    heat->chart->drawing.width =
        fmax(CHART_WIDTH, heat->left + columns * heat->cell_width + CHART_MARGIN);
    if (heat->is_dense) {
        heat->left = ceil(heat->left);
        heat->cell_width = floor(heat->cell_width);
        heat->cell_height = floor(heat->cell_height);
    }
    heat->chart->drawing.height =
        fmax(CHART_HEIGHT, heat->top + rows * heat->cell_height + CHART_HEAT_LEGEND_HEIGHT);
}

struct box chart_heat_box(const struct chart_heat *heat, size_t row, size_t load)
{
    double gap = heat->is_dense ? CHART_HEAT_DENSE_GAP : GAP;

    return (struct box){ heat->left + (double)load * heat->cell_width,
                         heat->top + (double)row * heat->cell_height, heat->cell_width - gap,
                         heat->cell_height - gap };
}

struct box chart_heat_inset(struct box box, double by)
{
    return (struct box){ box.x + by, box.y + by, box.width - 2 * by, box.height - 2 * by };
}

/* If not all names fit, only every n-th is written. */
static void draw_axes(const struct chart_heat *heat)
{
    struct drawing *drawing = &heat->chart->drawing;
    const struct chart_grid *grid = heat->grid;
    double height = (double)grid->row_count * heat->cell_height;
    size_t column_step = (size_t)ceil((widest_load(grid) + TICK_GAP) / heat->cell_width);
    size_t row_step = (size_t)ceil(TICK_HEIGHT / heat->cell_height);
    char name[SCALE_NUMBER_SIZE];

    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = heat->left,
                                           .y = heat->top - 22,
                                           .string = chart_load_heading(grid),
                                           .paint = PAINT_MUTED });
    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = CHART_MARGIN + 8,
                                           .y = heat->top + height / 2,
                                           .string = chart_row_heading(grid),
                                           .paint = PAINT_MUTED,
                                           .anchor = ANCHOR_MIDDLE,
                                           .upwards = true });
    for (size_t i = 0; i < grid->load_count; i += column_step)
        drawing_text_if_free(drawing, &(struct label){ .kind = TEXT_TICK,
                                                       .x = chart_heat_box(heat, 0, i).x
                                                            + chart_heat_box(heat, 0, i).width / 2,
                                                       .y = heat->top - 7,
                                                       .string = scale_exact(grid->loads[i], name),
                                                       .paint = PAINT_INK,
                                                       .anchor = ANCHOR_MIDDLE });
    for (size_t i = 0; i < grid->row_count; i += row_step)
        drawing_text_if_free(
            drawing,
            &(struct label){ .kind = TEXT_TICK,
                             .x = heat->left - 8,
                             .y = chart_heat_box(heat, i, 0).y + heat->cell_height / 2 + 3.5,
                             .string = chart_row_name(grid->rows[i], name),
                             .paint = PAINT_INK,
                             .anchor = ANCHOR_END });
}

/* ---- Cells ---- */

int chart_heat_step(const struct chart_heat *heat, double value)
{
    const struct scale_range *range = &heat->range;
    double share = range->is_log ? log(value / range->low) / log(range->high / range->low)
                                 : (value - range->low) / (range->high - range->low);

    if (!scale_range_takes(range, value))
        return 0;
    return isfinite(share) ? (int)clamped(floor(share * PALETTE_STEPS), 0, PALETTE_STEPS - 1)
                           : PALETTE_STEPS / 2;
}

static void draw_word(const struct chart_heat *heat, struct box box, const char *word,
                      enum paint paint)
{
    drawing_text(&heat->chart->drawing, &(struct label){ .kind = TEXT_WORD,
                                                         .x = box.x + box.width / 2,
                                                         .y = box.y + box.height / 2 + 3.5,
                                                         .string = word,
                                                         .paint = paint,
                                                         .anchor = ANCHOR_MIDDLE,
                                                         .size = box.width < 48 ? 9 : 10 });
}

static void draw_failed(const struct chart_heat *heat, struct box box, const char *word)
{
    struct drawing *drawing = &heat->chart->drawing;
    double width = font_measure(word, text_kind_size(TEXT_WORD), FONT_SEMIBOLD) + 6;
    const struct box ground = { box.x + (box.width - width) / 2, box.y + box.height / 2 - 7, width,
                                14 };

    drawing_rect(drawing, box, 2, CHART_FILL(PAINT_FAIL_PALE));
    chart_heat_hatch(drawing, box);
    drawing_rect(drawing, ground, 2, CHART_FILL(PAINT_FAIL_PALE));
    draw_word(heat, box, word, PAINT_FAIL);
}

/* If there are few cells, they are large, and so are their figures. */
static double figure_size(const struct chart_heat *heat)
{
    double least = fmin(heat->cell_width, heat->cell_height);

    return least > 150 ? 24 : heat->cell_height > 60 ? 13 : text_kind_size(TEXT_FIGURE);
}

static void draw_measured(struct chart_heat *heat, const struct chart_point *point, struct box box,
                          double value)
{
    struct drawing *drawing = &heat->chart->drawing;
    int step = chart_heat_step(heat, value);
    double size = figure_size(heat);
    char number[SCALE_NUMBER_SIZE];
    bool has_share = point->failed_share >= FAILED_SHARE_SHOWN;

    drawing_rect(drawing, box, 2, CHART_FILL(PAINT_STEP + (enum paint)step));
    if (has_share)
        chart_heat_failed_share(drawing, box, point->failed_share);
    heat->has_failed_share |= has_share;
    drawing_text(drawing,
                 &(struct label){ .kind = TEXT_FIGURE,
                                  .x = box.x + box.width / 2,
                                  .y = box.y + box.height / 2 + size / 3 - (has_share ? 1.5 : 0),
                                  .string = scale_number(value, number),
                                  .paint = PAINT_ON_STEP + (enum paint)step,
                                  .anchor = ANCHOR_MIDDLE,
                                  .size = size });
}

static void draw_unmeasured(struct chart_heat *heat, const struct chart_point *point,
                            struct box box)
{
    struct drawing *drawing = &heat->chart->drawing;
    const struct box inner = { box.x + 0.5, box.y + 0.5, box.width - 1, box.height - 1 };

    if (point->state == CHART_FAILED)
        draw_failed(heat, box, chart_point_word(point));
    else if (point->state == CHART_ABSENT)
        drawing_circle(drawing, (struct spot){ box.x + box.width / 2, box.y + box.height / 2 },
                       CHART_HEAT_DOT, CHART_FILL(PAINT_MUTED));
    else {
        drawing_rect(drawing, inner, 2,
                     (struct style){ PAINT_NONE, PAINT_MUTED, .width = 1,
                                     .dashed = point->state == CHART_INFERRED });
        draw_word(heat, box, chart_point_word(point), PAINT_MUTED);
    }
}

/* Writes "64 users, context 1024: 22.7 requests/s". */
static void write_words(const struct chart_heat *heat, const struct chart_point *point,
                        double value, struct text *out)
{
    char number[SCALE_NUMBER_SIZE];
    TEXT_AUTO marks = { 0 };

    chart_write_place(heat->grid, point->load, point->row, out);
    text_add(out, ": ");
    if (isfinite(value))
        text_addf(out, "%s %s", scale_number(value, number), heat->quantity->unit);
    else
        text_add(out, chart_state_name(point->state));
    chart_point_add_reason(point, out);
    chart_point_marks(heat->grid, point, &marks);
    if (point->is_marked)
        text_addf(out, "; %s", text_string(&marks));
}

static void draw_cell(struct chart_heat *heat, size_t row, size_t load)
{
    const struct chart_point *point = chart_grid_at(heat->grid, row, load);
    double value = chart_point_figure(point, heat->quantity->offset).mean;
    size_t index = row * heat->grid->load_count + load;
    struct box box = chart_heat_box(heat, row, load);
    TEXT_AUTO words = { 0 };

    write_words(heat, point, value, &words);
    drawing_group(&heat->chart->drawing, "cell", (int64_t)index, text_string(&words));
    if (isfinite(value))
        draw_measured(heat, point, box, value);
    else
        draw_unmeasured(heat, point, box);
    if (point->is_marked)
        chart_heat_corner(&heat->chart->drawing, box, CORNER);
    drawing_group_end(&heat->chart->drawing);
}

static void draw_cells(struct chart_heat *heat)
{
    for (size_t row = 0; row < heat->grid->row_count; row++)
        for (size_t load = 0; load < heat->grid->load_count; load++)
            draw_cell(heat, row, load);
}

static void draw_saturation(struct chart_heat *heat)
{
    for (size_t row = 0; row < heat->grid->row_count; row++) {
        size_t load = chart_grid_saturation(heat->grid, row);
        struct box box = chart_heat_box(heat, row, load);

        if (load == heat->grid->load_count)
            continue;
        heat->has_saturation = true;
        /* inset, except in a dense map, so that the outlines of neighbours do not overlap */
        box = chart_heat_inset(box, heat->is_dense ? 0 : 0.8);
        drawing_rect(&heat->chart->drawing, box, 2,
                     CHART_STROKE(chart_series_paint(1), heat->is_dense ? 1 : 2.2));
    }
}

/* ---- The chart ---- */

static void fill_table(const struct chart_heat *heat)
{
    const char *const names[] = { chart_load_column(heat->grid),
                                  chart_row_column(heat->grid),
                                  heat->quantity->name,
                                  "low",
                                  "high",
                                  "repetitions",
                                  "samples",
                                  "failed_share",
                                  "state",
                                  "word",
                                  "reason",
                                  "marks",
                                  NULL };
    struct chart_table *table = &heat->chart->table;

    chart_table_init(table, names);
    for (size_t i = 0; i < heat->grid->load_count * heat->grid->row_count; i++) {
        const struct chart_point *point = &heat->grid->points[i];
        struct chart_figure figure = chart_point_figure(point, heat->quantity->offset);
        TEXT_AUTO marks = { 0 };

        chart_table_number(table, point->load);
        chart_table_number(table, point->row);
        chart_table_number(table, figure.mean);
        chart_table_number(table, figure.low);
        chart_table_number(table, figure.high);
        chart_table_number(table, (double)figure.count);
        chart_table_number(table, point->samples);
        chart_table_number(table, point->failed_share);
        chart_table_text(table, chart_state_name(point->state));
        chart_table_text(table, isfinite(figure.mean) ? "" : chart_point_word(point));
        chart_table_text(table, chart_point_reason(point));
        chart_point_marks(heat->grid, point, &marks);
        chart_table_text(table, text_string(&marks));
    }
}

void chart_heat(const struct chart_runs *runs, const struct chart_quantity *quantity,
                struct chart *out)
{
    CHART_GRID_AUTO grid;
    struct chart_heat heat = { .chart = out, .grid = &grid, .quantity = quantity };
    TEXT_AUTO name = { 0 };
    TEXT_AUTO shown = { 0 };
    double top;

    chart_grid_init(&grid, runs);
    heat.range.is_log = quantity->is_latency;
    for (size_t i = 0; i < grid.load_count * grid.row_count; i++) {
        double value = chart_point_figure(&grid.points[i], quantity->offset).mean;

        scale_range_add(&heat.range, value);
        heat.has_unknown |= grid.points[i].state == CHART_MEASURED && !isfinite(value);
    }
    chart_name(runs, &name);
    text_addf(&shown, ": %s by %s and %s", quantity->title, grid.is_rate ? "rate" : "users",
              grid.by_output ? "output length" : "context");
    chart_start(out, CHART_WIDTH, CHART_HEIGHT, text_string(&name), text_string(&shown));
    top = chart_head(out, &grid, "");
    fill_table(&heat);
    if (grid.entry_count == 0) {
        chart_empty(out, top, "No cell has a load");
        return;
    }
    lay_out(&heat, top);
    draw_axes(&heat);
    if (heat.is_dense)
        chart_heat_dense(&heat);
    else
        draw_cells(&heat);
    draw_saturation(&heat);
    chart_heat_legend(&heat, heat.top + (double)grid.row_count * heat.cell_height + 24);
}
