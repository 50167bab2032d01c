/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the speed of each user against the throughput of all users together (per chip, if the
 * number of chips is known): a point per load, a line per context or output length. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/charts/chart_cloud.h"
#include "analysis/charts/chart_rows.h"

#define SQUARE 6          /* approximate side of the rectangles that are shaded where points are */
#define LABELS_MAX 16     /* at most this many loads are written beside their points */
#define LABEL_DISTANCE 40 /* points of a load that are closer together share one label */

struct pareto {
    struct chart *chart;
    const struct chart_grid *grid;
    struct chart_rows rows;
    double chips; /* 1 if their number is not known */
    struct scale x, y;
    struct scale_range speeds, totals;
};

struct pareto_point {
    const struct chart_point *point;
    double speed, total;
    /* No other load of its row is better in one figure and at least as good in the other. */
    bool is_best;
    bool is_hidden; /* too close to an earlier point to have a marker of its own */
};

/* The points of a row of the grid. */
struct line {
    struct pareto_point points[CHART_AXIS_MAX];
    size_t count;
};

static bool knows_chips(const struct pareto *pareto)
{
    return pareto->grid->runs->runs[0].facts.chips > 0;
}

static const char *total_heading(const struct pareto *pareto)
{
    return knows_chips(pareto) ? "output tokens/s per chip" : "output tokens/s";
}

static double mean_of(const struct chart_point *point, size_t offset)
{
    return chart_point_figure(point, offset).mean;
}

/* Output tokens per second of one user. */
static double speed_of(const struct chart_point *point)
{
    double times[] = {
        mean_of(point, offsetof(struct evidence_cell, latency[METRIC_TPOT].p50_ms)),
        mean_of(point, offsetof(struct evidence_cell, latency[METRIC_TPOT].mean_ms)),
        mean_of(point, offsetof(struct evidence_cell, latency[METRIC_ITL].mean_ms)),
    };

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (times[i] > 0)
            return 1000 / times[i];
    return mean_of(point, offsetof(struct evidence_cell, stream_throughput));
}

static double total_of(const struct pareto *pareto, const struct chart_point *point)
{
    return mean_of(point, offsetof(struct evidence_cell, output_throughput)) / pareto->chips;
}

/* Writes the row's points whose speed and total are positive; returns how many. */
static size_t points_of(const struct pareto *pareto, size_t row,
                        struct pareto_point out[CHART_AXIS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < pareto->grid->load_count; i++) {
        const struct chart_point *point = chart_grid_at(pareto->grid, row, i);
        double speed = speed_of(point), total = total_of(pareto, point);

        if (speed > 0 && total > 0 && isfinite(speed + total))
            out[count++] = (struct pareto_point){ point, speed, total, true, false };
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (out[j].speed >= out[i].speed && out[j].total >= out[i].total
                && (out[j].speed > out[i].speed || out[j].total > out[i].total))
                out[i].is_best = false;
    return count;
}

static struct spot spot_of(const struct pareto *pareto, double speed, double total)
{
    return (struct spot){ scale_at(&pareto->x, speed), scale_at(&pareto->y, total) };
}

static void hide_close(const struct pareto *pareto, struct pareto_point *points, size_t count)
{
    struct spot last = { -CHART_MARKER_GAP, -CHART_MARKER_GAP };

    for (size_t i = 0; i < count; i++) {
        struct spot at = spot_of(pareto, points[i].speed, points[i].total);

        points[i].is_hidden = hypot(at.x - last.x, at.y - last.y) < CHART_MARKER_GAP;
        last = points[i].is_hidden ? last : at;
    }
}

/* ---- A line ---- */

/* The fastest of the best points that are slower than `below`; NULL: none. */
static const struct pareto_point *next_best(const struct pareto_point *points, size_t count,
                                            double below)
{
    const struct pareto_point *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (points[i].is_best && points[i].speed < below
            && (best == NULL || points[i].speed > best->speed))
            best = &points[i];
    return best;
}

/* Draws steps, not slopes: nothing was measured between two loads. */
static void draw_frontier(const struct pareto *pareto, size_t series,
                          const struct pareto_point *points, size_t count)
{
    struct spot spots[2 * CHART_AXIS_MAX];
    const struct pareto_point *point = next_best(points, count, INFINITY);
    size_t used = 0;

    while (point != NULL) {
        const struct pareto_point *next = next_best(points, count, point->speed);

        spots[used++] = spot_of(pareto, point->speed, point->total);
        if (next != NULL)
            spots[used++] = spot_of(pareto, next->speed, point->total);
        point = next;
    }
    drawing_path(&pareto->chart->drawing, spots, used, false,
                 CHART_STROKE(chart_series_paint(series), 1.6));
    for (size_t i = 1; i < used; i++)
        drawing_keep_free(&pareto->chart->drawing,
                          (struct box){ fmin(spots[i - 1].x, spots[i].x) - 1,
                                        fmin(spots[i - 1].y, spots[i].y) - 1,
                                        fabs(spots[i - 1].x - spots[i].x) + 2,
                                        fabs(spots[i - 1].y - spots[i].y) + 2 });
}

static void write_words(const struct pareto *pareto, const struct pareto_point *point,
                        struct text *out)
{
    char number[SCALE_NUMBER_SIZE];

    chart_write_place(pareto->grid, point->point->load, point->point->row, out);
    text_addf(out, ": %s tokens/s for each user, ", scale_number(point->speed, number));
    text_addf(out, "%s %s", scale_number(point->total, number), total_heading(pareto));
}

static void draw_points(const struct pareto *pareto, size_t series,
                        const struct pareto_point *points, size_t count, bool best)
{
    struct drawing *drawing = &pareto->chart->drawing;

    for (size_t i = 0; i < count; i++) {
        struct spot at = spot_of(pareto, points[i].speed, points[i].total);
        int64_t index = (int64_t)(points[i].point - chart_grid_at(pareto->grid, 0, 0));
        TEXT_AUTO words = { 0 };

        if (points[i].is_best != best || points[i].is_hidden)
            continue;
        write_words(pareto, &points[i], &words);
        drawing_group(drawing, "point", index, text_string(&words));
        chart_marker(drawing, series, at,
                     points[i].is_best ? chart_series_paint(series) : PAINT_FAINT,
                     !(points[i].point->samples >= CHART_SAMPLES_FEW));
        drawing_group_end(drawing);
        drawing_keep_free(drawing, (struct box){ at.x - 5, at.y - 5, 10, 10 });
    }
}

/* Writes the load beside the point, on the first side with room; false: no side has room. */
static bool label_point(const struct pareto *pareto, struct box box,
                        const struct pareto_point *point)
{
    static const struct {
        double x, y;
        enum anchor anchor;
    } sides[] = { { 8, -4, ANCHOR_START },
                  { -8, -4, ANCHOR_END },
                  { 8, 11, ANCHOR_START },
                  { -8, 11, ANCHOR_END } };
    struct spot at = spot_of(pareto, point->speed, point->total);
    char number[SCALE_NUMBER_SIZE];

    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        const struct label label = { .kind = TEXT_FIGURE,
                                     .x = at.x + sides[i].x,
                                     .y = at.y + sides[i].y,
                                     .string = scale_exact(point->point->load, number),
                                     .paint = PAINT_MUTED,
                                     .anchor = sides[i].anchor,
                                     .size = 9.5 };
        struct box area = drawing_label_box(&label);

        if (area.x >= box.x && area.x + area.width <= box.x + box.width && area.y >= box.y
            && area.y + area.height <= box.y + box.height
            && drawing_text_if_free(&pareto->chart->drawing, &label))
            return true;
    }
    return false;
}

/* The line's point for this load; NULL: there is none, or it has no marker. */
static const struct pareto_point *shown_at(const struct line *line, double load)
{
    for (size_t i = 0; i < line->count; i++)
        if (line->points[i].point->load == load)
            return line->points[i].is_hidden ? NULL : &line->points[i];
    return NULL;
}

/* Writes the load beside its points, but only once beside points that are close together. */
static void label_load(const struct pareto *pareto, struct box box, const struct line *lines,
                       size_t count, double load)
{
    struct spot last = { -LABEL_DISTANCE, -LABEL_DISTANCE };

    for (size_t i = 0; i < count; i++) {
        const struct pareto_point *point = shown_at(&lines[i], load);
        struct spot at;

        if (point == NULL)
            continue;
        at = spot_of(pareto, point->speed, point->total);
        if (hypot(at.x - last.x, at.y - last.y) >= LABEL_DISTANCE
            && label_point(pareto, box, point))
            last = at;
    }
}

/* ---- A panel ---- */

/* Shades the places of the points of all rows; the lines are drawn over the shading. */
static void draw_cloud(const struct pareto *pareto, struct box box)
{
    CHART_CLOUD_AUTO cloud;

    chart_cloud_init(&cloud, box, SQUARE);
    for (size_t i = 0; i < pareto->grid->load_count * pareto->grid->row_count; i++) {
        const struct chart_point *point = &pareto->grid->points[i];

        chart_cloud_add(&cloud, spot_of(pareto, speed_of(point), total_of(pareto, point)));
    }
    chart_cloud_draw(&cloud, PAINT_RULE, &pareto->chart->drawing);
}

static void draw_panel(struct pareto *pareto, const struct chart_panel_area *panel)
{
    struct drawing *drawing = &pareto->chart->drawing;
    struct line lines[CHART_PANEL_SERIES];
    struct chart_name_label labels[CHART_PANEL_SERIES];
    const struct box box = panel->box;
    size_t loads = pareto->grid->load_count, stride = 1 + (loads - 1) / LABELS_MAX;
    size_t named = 0;

    pareto->x = scale_fit(&pareto->speeds, box.x, box.x + box.width);
    pareto->y = scale_fit(&pareto->totals, box.y + box.height, box.y);
    chart_axis_y(drawing, &pareto->y, box.x, box.x + box.width, total_heading(pareto));
    chart_axis_x(drawing, &pareto->x, box.y + box.height, box.y, "output tokens/s for each user");
    if (pareto->rows.is_sample)
        draw_cloud(pareto, box);
    for (size_t i = 0; i < panel->count; i++) {
        struct line *line = &lines[i];

        line->count = points_of(pareto, pareto->rows.at[panel->first + i], line->points);
        hide_close(pareto, line->points, line->count);
        draw_frontier(pareto, i, line->points, line->count);
        draw_points(pareto, i, line->points, line->count, false);
        draw_points(pareto, i, line->points, line->count, true);
        if (line->count == 0)
            continue;
        labels[named] = (struct chart_name_label){ box.y, "", i, chart_series_paint(i) };
        chart_row_name(pareto->grid->rows[pareto->rows.at[panel->first + i]], labels[named++].name);
    }
    for (size_t i = (loads - 1) % stride; i < loads; i += stride)
        label_load(pareto, box, lines, panel->count, pareto->grid->loads[i]);
    chart_names_write(drawing, box, chart_row_heading(pareto->grid), labels, named,
                      CHART_NAMES_ROOM);
}

/* ---- The chart ---- */

/* Fills the table, and finds the ranges of the axes. */
static void fill_table(struct pareto *pareto)
{
    const char *const names[] = { chart_load_column(pareto->grid),
                                  chart_row_column(pareto->grid),
                                  "output_tokens_per_s_per_user",
                                  knows_chips(pareto) ? "output_tokens_per_s_per_chip"
                                                      : "output_tokens_per_s",
                                  "samples",
                                  "state",
                                  NULL };
    struct chart_table *table = &pareto->chart->table;

    chart_table_init(table, names);
    for (size_t i = 0; i < pareto->grid->load_count * pareto->grid->row_count; i++) {
        const struct chart_point *point = &pareto->grid->points[i];
        double speed = speed_of(point), total = total_of(pareto, point);

        chart_table_number(table, point->load);
        chart_table_number(table, point->row);
        chart_table_number(table, speed);
        chart_table_number(table, total);
        chart_table_number(table, point->samples);
        chart_table_text(table, chart_state_name(point->state));
        if (!(speed > 0 && total > 0))
            continue;
        scale_range_add(&pareto->speeds, speed);
        scale_range_add(&pareto->totals, total);
    }
}

void chart_pareto(const struct chart_runs *runs, struct chart *out)
{
    CHART_GRID_AUTO grid;
    double chips = runs->runs[0].facts.chips;
    struct pareto pareto = { .chart = out, .grid = &grid, .chips = chips > 0 ? chips : 1 };
    TEXT_AUTO name = { 0 };
    TEXT_AUTO more = { 0 };
    struct chart_facets facets;
    double top;

    chart_grid_init(&grid, runs);
    chart_name(runs, &name);
    chart_start(out, CHART_WIDTH, CHART_HEIGHT, text_string(&name),
                ": speed for each user against throughput");
    fill_table(&pareto);
    pareto.rows = chart_rows_choose(&grid);
    chart_rows_describe(&pareto.rows, &grid, "shaded: where all points lie", &more);
    chart_part(&more, "a point per load \xc2\xb7 better: up and to the right \xc2\xb7 "
                      "hollow: fewer than 30 samples \xc2\xb7 "
                      "grey: another load is as good or better in both");
    top = chart_head(out, &grid, text_string(&more));
    if (!pareto.speeds.known) {
        chart_empty(out, top, "No cell has both TPOT and output tokens/s");
        return;
    }
    facets = chart_facets_lay_out(&out->drawing, top, pareto.rows.count);
    for (size_t i = 0; i < facets.count; i++)
        draw_panel(&pareto, &facets.panels[i]);
}
