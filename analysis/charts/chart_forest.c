/* SPDX-License-Identifier: Apache-2.0 */
/* Is B faster? Draws the ratio for each compared cell and the overall ratio, with their intervals.
 * If more than ROWS_MAX cells are compared, draws those that differ most clearly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/charts/chart_frame.h"
#include "base/core/memory.h"

#define ROWS_MAX 60
#define ROW_HEIGHT 19
#define ROW_HEIGHT_MAX 30
#define NAMES_RIGHT 170 /* where the rows' names end */
#define FIGURES_WIDTH 150
#define REFUSED_MAX 6

struct forest {
    struct chart *chart;
    const struct chart_comparison *input;
    size_t *shown; /* indices of cells, in the order of the rows; heap */
    size_t shown_count;
    struct scale x;
    double row_height;
};

/* ---- Which rows ---- */

/* The cell's corrected p-value; if it is not known, 2, which is greater than every p-value. */
static double p_of(const struct forest *forest, size_t i)
{
    double p = forest->input->comparison->cells[i].estimate.p_corrected;

    return isnan(p) ? 2 : p;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* The ROWS_MAX-th lowest p-value of the compared cells; INFINITY: at most ROWS_MAX cells are
 * compared. */
static double worst_shown(const struct forest *forest)
{
    const struct comparison *comparison = forest->input->comparison;
    FREE_AUTO double *all = memory_zeroed(comparison->cell_count + 1, sizeof *all);
    size_t count = 0;

    for (size_t i = 0; i < comparison->cell_count; i++)
        if (comparison->cells[i].why == CELL_COMPARED)
            all[count++] = p_of(forest, i);
    qsort(all, count, sizeof *all, by_value);
    return count > ROWS_MAX ? all[ROWS_MAX - 1] : INFINITY;
}

static void choose_rows(struct forest *forest)
{
    const struct comparison *comparison = forest->input->comparison;
    double worst = worst_shown(forest);

    forest->shown = memory_zeroed(comparison->cell_count + 1, sizeof *forest->shown);
    for (size_t i = 0; i < comparison->cell_count && forest->shown_count < ROWS_MAX; i++)
        if (comparison->cells[i].why == CELL_COMPARED && p_of(forest, i) <= worst)
            forest->shown[forest->shown_count++] = i;
}

/* ---- Rows ---- */

static bool excludes_one(const struct estimate *estimate)
{
    return estimate->low > 1 || estimate->high < 1;
}

static bool outputs_differ(const struct comparison *comparison)
{
    for (size_t i = 1; i < comparison->cell_count; i++)
        if (comparison->cells[i].output_tokens != comparison->cells[0].output_tokens)
            return true;
    return false;
}

/* Writes "64 users, context 1024"; if output lengths differ, "64 users, 1024 + 128 tokens". */
static void write_cell_name(const struct forest *forest, const struct compared_cell *cell,
                            struct text *out)
{
    bool has_input = isfinite(cell->input_length);
    bool has_output = outputs_differ(forest->input->comparison) && isfinite(cell->output_tokens);
    char number[SCALE_NUMBER_SIZE];

    if (cell->request_rate > 0)
        text_addf(out, "%s requests/s", scale_exact(cell->request_rate, number));
    else
        text_addf(out, "%s user%s", scale_exact(cell->users, number), cell->users == 1 ? "" : "s");
    if (has_input)
        text_addf(out, ", %s%s", has_output ? "" : "context ",
                  scale_exact(cell->input_length, number));
    if (has_output)
        text_addf(out, "%s%s%s", has_input ? " + " : ", output ",
                  scale_exact(cell->output_tokens, number), has_input ? " tokens" : "");
}

/* Writes "1.48 [1.30, 1.68]"; "1.48" if there is no interval. */
static void write_figures(const struct estimate *estimate, struct text *out)
{
    char number[SCALE_NUMBER_SIZE];

    text_add(out, scale_number(estimate->ratio, number));
    if (!isfinite(estimate->low + estimate->high))
        return;
    text_addf(out, " [%s, ", scale_number(estimate->low, number));
    text_addf(out, "%s]", scale_number(estimate->high, number));
}

static void draw_texts(const struct forest *forest, double y, const char *name,
                       const struct estimate *estimate, enum text_kind kind)
{
    struct drawing *drawing = &forest->chart->drawing;
    TEXT_AUTO figures = { 0 };

    write_figures(estimate, &figures);
    drawing_text(drawing, &(struct label){ .kind = kind,
                                           .x = NAMES_RIGHT,
                                           .y = y + 3.5,
                                           .string = name,
                                           .paint = PAINT_INK,
                                           .anchor = ANCHOR_END,
                                           .room = NAMES_RIGHT - CHART_MARGIN });
    drawing_text(drawing, &(struct label){ .kind = TEXT_FIGURE,
                                           .x = CHART_WIDTH - CHART_MARGIN,
                                           .y = y + 3.5,
                                           .string = text_string(&figures),
                                           .paint = PAINT_INK,
                                           .anchor = ANCHOR_END });
}

/* The x coordinate of the ratio, or of the nearer end of the axis if the ratio is beyond it. */
static double clamped_x(const struct forest *forest, double ratio)
{
    return fmin(forest->x.to, fmax(forest->x.from, scale_at(&forest->x, ratio)));
}

static void draw_estimate(const struct forest *forest, double y, const struct estimate *estimate)
{
    struct drawing *drawing = &forest->chart->drawing;
    enum paint paint = chart_series_paint(0);
    double x = clamped_x(forest, estimate->ratio);

    if (estimate->low > 0 && isfinite(estimate->high))
        drawing_line(drawing, (struct spot){ clamped_x(forest, estimate->low), y },
                     (struct spot){ clamped_x(forest, estimate->high), y },
                     CHART_STROKE(paint, 1.8));
    drawing_rect(drawing, (struct box){ x - 4.5, y - 4.5, 9, 9 }, 0,
                 excludes_one(estimate) ? CHART_FILL(paint)
                                        : (struct style){ PAINT_PAPER, paint, .width = 1.6 });
}

static void draw_diamond(const struct forest *forest, double y, const struct estimate *estimate)
{
    double x = clamped_x(forest, estimate->ratio);
    bool has_interval = estimate->low > 0 && isfinite(estimate->high);
    double left = has_interval ? fmin(clamped_x(forest, estimate->low), x - 6) : x - 6;
    double right = has_interval ? fmax(clamped_x(forest, estimate->high), x + 6) : x + 6;
    const struct spot corners[] = { { left, y }, { x, y - 7 }, { right, y }, { x, y + 7 } };

    drawing_path(&forest->chart->drawing, corners, 4, true,
                 excludes_one(estimate)
                     ? CHART_FILL(chart_series_paint(0))
                     : (struct style){ PAINT_PAPER, chart_series_paint(0), .width = 1.6 });
}

static void draw_row(const struct forest *forest, size_t row, double y)
{
    const struct compared_cell *cell = &forest->input->comparison->cells[forest->shown[row]];
    TEXT_AUTO name = { 0 };
    TEXT_AUTO words = { 0 };

    write_cell_name(forest, cell, &name);
    text_addf(&words, "%s: B / A ", text_string(&name));
    write_figures(&cell->estimate, &words);
    drawing_group(&forest->chart->drawing, "row", (int64_t)forest->shown[row], text_string(&words));
    draw_texts(forest, y, text_string(&name), &cell->estimate, TEXT_TICK);
    draw_estimate(forest, y, &cell->estimate);
    drawing_group_end(&forest->chart->drawing);
}

/* ---- Frame ---- */

static void add_estimate(struct scale_range *range, const struct estimate *estimate)
{
    scale_range_add(range, estimate->ratio);
    scale_range_add(range, estimate->low);
    scale_range_add(range, estimate->high);
}

/* The axis has 1 in the middle and reaches at most a factor of 20 to either side, so that one wide
 * interval does not make all others too small to see. */
static void find_scale(struct forest *forest)
{
    const struct comparison *comparison = forest->input->comparison;
    struct scale_range range = { .is_log = true };
    double most;

    scale_range_add(&range, comparison->primary.ratio);
    for (size_t i = 0; i < forest->shown_count; i++)
        add_estimate(&range, &comparison->cells[forest->shown[i]].estimate);
    most = range.known ? fmax(range.high, 1 / range.low) : 2;
    most = fmin(20, fmax(1.25, most * 1.05));
    forest->x = scale_of_ratios(1 / most, most, NAMES_RIGHT + 18,
                                CHART_WIDTH - CHART_MARGIN - FIGURES_WIDTH);
}

static void draw_axis(const struct forest *forest, double top, double bottom)
{
    double ticks[SCALE_TICKS_MAX];
    size_t count = scale_ticks(&forest->x, ticks);
    struct drawing *drawing = &forest->chart->drawing;
    char number[SCALE_NUMBER_SIZE];

    for (size_t i = 0; i < count; i++) {
        double x = scale_at(&forest->x, ticks[i]);
        TEXT_AUTO name = { 0 };

        text_addf(&name, "%s\xc3\x97", scale_tick_name(ticks[i], number));
        drawing_line(drawing, (struct spot){ x, top }, (struct spot){ x, bottom },
                     ticks[i] == 1 ? CHART_STROKE(PAINT_INK, 1.4) : CHART_STROKE(PAINT_RULE, 1));
        drawing_text_if_free(drawing, &(struct label){ .kind = TEXT_TICK,
                                                       .x = x,
                                                       .y = bottom + 16,
                                                       .string = text_string(&name),
                                                       .paint = PAINT_MUTED,
                                                       .anchor = ANCHOR_MIDDLE });
    }
}

static void draw_headings(const struct forest *forest, double y)
{
    const struct chart_comparison *input = forest->input;
    bool higher_is_better = compare_metrics[input->metric].higher_is_better;
    const struct label labels[] = {
        { .x = forest->x.from,
          .string = higher_is_better ? "\xe2\x86\x90 A better" : "\xe2\x86\x90 B better" },
        { .x = forest->x.to,
          .string = higher_is_better ? "B better \xe2\x86\x92" : "A better \xe2\x86\x92",
          .anchor = ANCHOR_END },
        { .x = CHART_WIDTH - CHART_MARGIN,
          .string = "B / A [95 % interval]",
          .anchor = ANCHOR_END },
    };

    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        struct label label = labels[i];

        label.kind = TEXT_HEADING;
        label.paint = PAINT_MUTED;
        label.y = y;
        drawing_text(&forest->chart->drawing, &label);
    }
}

/* Draws a line above the row if its context and the context of the row above are known and
 * differ. */
static void draw_rule(const struct forest *forest, size_t row, double y)
{
    const struct compared_cell *cells = forest->input->comparison->cells;

    if (row > 0
        && fabs(cells[forest->shown[row]].input_length - cells[forest->shown[row - 1]].input_length)
               > 0)
        drawing_line(&forest->chart->drawing, (struct spot){ CHART_MARGIN, y },
                     (struct spot){ CHART_WIDTH - CHART_MARGIN, y }, CHART_STROKE(PAINT_RULE, 1));
}

static void draw(struct forest *forest, double top)
{
    const struct comparison *comparison = forest->input->comparison;
    struct drawing *drawing = &forest->chart->drawing;
    double rows = (double)forest->shown_count + 1, first = top + 38, y;

    find_scale(forest);
    forest->row_height = fmin(ROW_HEIGHT_MAX, fmax(ROW_HEIGHT, (CHART_HEIGHT - first - 44) / rows));
    y = first + rows * forest->row_height;
    drawing->height = y + 44;
    draw_headings(forest, top + 14);
    draw_axis(forest, first - forest->row_height / 2, y - forest->row_height / 2 + 4);
    for (size_t i = 0; i < forest->shown_count; i++) {
        y = first + (double)i * forest->row_height;
        draw_rule(forest, i, y - forest->row_height / 2);
        draw_row(forest, i, y);
    }
    y = first + (rows - 1) * forest->row_height + 2;
    drawing_line(drawing, (struct spot){ CHART_MARGIN, y - forest->row_height / 2 },
                 (struct spot){ CHART_WIDTH - CHART_MARGIN, y - forest->row_height / 2 },
                 CHART_STROKE(PAINT_MUTED, 1));
    draw_texts(forest, y, "all together", &comparison->primary, TEXT_HEADING);
    if (comparison->primary.ratio > 0)
        draw_diamond(forest, y, &comparison->primary);
}

/* ---- Words and table ---- */

static void fill_table(const struct forest *forest)
{
    static const char *const names[] = { "users",         "request_rate", "context",
                                         "output_tokens", "baseline",     "candidate",
                                         "ratio",         "low",          "high",
                                         "p_corrected",   "not_compared", NULL };
    const struct comparison *comparison = forest->input->comparison;
    struct chart_table *table = &forest->chart->table;

    chart_table_init(table, names);
    for (size_t i = 0; i <= comparison->cell_count; i++) {
        bool is_total = i == comparison->cell_count;
        const struct compared_cell *cell = is_total ? NULL : &comparison->cells[i];
        const struct estimate *estimate = is_total ? &comparison->primary : &cell->estimate;
        bool has_estimate = is_total || cell->why == CELL_COMPARED;

        chart_table_number(table, is_total ? NAN : cell->users);
        chart_table_number(table, is_total ? NAN : cell->request_rate);
        chart_table_number(table, is_total ? NAN : cell->input_length);
        chart_table_number(table, is_total ? NAN : cell->output_tokens);
        chart_table_number(table, has_estimate ? estimate->values[SIDE_BASELINE] : NAN);
        chart_table_number(table, has_estimate ? estimate->values[SIDE_CANDIDATE] : NAN);
        chart_table_number(table, has_estimate ? estimate->ratio : NAN);
        chart_table_number(table, has_estimate ? estimate->low : NAN);
        chart_table_number(table, has_estimate ? estimate->high : NAN);
        chart_table_number(table, has_estimate ? estimate->p_corrected : NAN);
        chart_table_text(table, has_estimate ? "" : left_out_help(cell->why));
    }
}

static void describe_left_out(const struct comparison *comparison, struct text *parts)
{
    size_t counts[LEFT_OUT_COUNT] = { 0 };

    for (size_t i = 0; i < comparison->cell_count; i++)
        counts[comparison->cells[i].why]++;
    for (enum left_out why = CELL_COMPARED + 1; why < LEFT_OUT_COUNT; why++)
        if (counts[why] > 0)
            chart_part(parts, "%zu not compared: %s", counts[why], left_out_help(why));
}

static void describe(const struct forest *forest, struct text *parts)
{
    const struct chart_comparison *input = forest->input;

    chart_part(parts, "A: %s, %zu run%s", input->names[SIDE_BASELINE], input->runs[SIDE_BASELINE],
               input->runs[SIDE_BASELINE] == 1 ? "" : "s");
    chart_part(parts, "B: %s, %zu run%s", input->names[SIDE_CANDIDATE], input->runs[SIDE_CANDIDATE],
               input->runs[SIDE_CANDIDATE] == 1 ? "" : "s");
    chart_part(parts, "filled: the interval excludes 1");
    if (input->comparison->compared > forest->shown_count)
        chart_part(parts, "the %zu of %zu cells that differ most clearly", forest->shown_count,
                   input->comparison->compared);
    describe_left_out(input->comparison, parts);
}

/* Writes the facts that rule out the comparison, at most REFUSED_MAX of them, one per line. */
static void draw_refused(struct forest *forest, double top)
{
    const struct comparison *comparison = forest->input->comparison;
    struct drawing *drawing = &forest->chart->drawing;
    size_t shown = 0;

    drawing_text(
        drawing,
        &(struct label){ .kind = TEXT_HEADING,
                         .x = CHART_MARGIN,
                         .y = top + 20,
                         .string =
                             "Not compared: the runs differ, or may differ, in what they measured",
                         .paint = PAINT_FAIL });
    for (size_t i = 0; i < comparison->difference_count && shown < REFUSED_MAX; i++) {
        const struct difference *difference = &comparison->differences[i];
        TEXT_AUTO line = { 0 };

        if (difference->allowed)
            continue;
        if (difference->values[0].length + difference->values[1].length == 0)
            text_addf(&line, "%s: not known", difference->fact);
        else
            text_addf(&line, "%s: %s, and %s", difference->fact,
                      difference->values[0].length > 0 ? difference->values[0].data : "not known",
                      difference->values[1].length > 0 ? difference->values[1].data : "not known");
        drawing_text(drawing, &(struct label){ .kind = TEXT_NOTE,
                                               .x = CHART_MARGIN,
                                               .y = top + 44 + 18 * (double)shown++,
                                               .string = text_string(&line),
                                               .paint = PAINT_INK,
                                               .room = CHART_WIDTH - 2 * CHART_MARGIN });
    }
}

void chart_forest(const struct chart_comparison *input, struct chart *out)
{
    struct forest forest = { .chart = out, .input = input };
    TEXT_AUTO title = { 0 };
    TEXT_AUTO parts = { 0 };
    double top;

    choose_rows(&forest);
    text_addf(&title, "B against A: ratio of %s", compare_metrics[input->metric].words);
    chart_start(out, CHART_WIDTH, CHART_HEIGHT, "", text_string(&title));
    describe(&forest, &parts);
    top = chart_lines(&out->drawing, TEXT_SUBTITLE, PAINT_MUTED, CHART_TITLE_Y + 3, &parts) + 10;
    fill_table(&forest);
    if (input->comparison->refused > 0)
        draw_refused(&forest, top);
    else if (forest.shown_count > 0)
        draw(&forest, top);
    else
        chart_empty(out, top, "No cell could be compared");
    free(forest.shown);
}
