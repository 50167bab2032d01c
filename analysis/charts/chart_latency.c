/* SPDX-License-Identifier: Apache-2.0 */
/* What do users feel? A latency by load, a line per context. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/charts/chart_facets.h"

#define DODGE                                                                                      \
    4 /* the most by which lines are moved apart so that their bars do not cover each other */

/* The figures that a chart shows: of each list, the first that the runs have. */
static const struct chart_latency_kind {
    enum metric metric;
    const char *title, *heading;
    const char *centres[2], *tails[2]; /* names of quantities; NULL: none */
} kinds[] = {
    { METRIC_TTFT, "TTFT", "TTFT, ms", { "ttft_p50_ms", "ttft_mean_ms" }, { "ttft_p99_ms", NULL } },
    { METRIC_ITL, "ITL", "ITL, ms", { "itl_p50_ms", "itl_mean_ms" }, { "itl_p99_ms", NULL } },
    { METRIC_TPOT, "TPOT", "TPOT, ms", { "tpot_p50_ms", "tpot_mean_ms" }, { NULL, NULL } },
    { METRIC_E2E,
      "whole request",
      "whole request, ms",
      { "e2e_p50_ms", "e2e_mean_ms" },
      { "e2e_p99_ms", "e2e_p95_ms" } },
};

const char *chart_latency_title(enum metric metric)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].metric == metric)
            return kinds[i].title;
    return metric_name(metric);
}

struct latency {
    struct chart *chart;
    const struct chart_grid *grid;
    const struct chart_latency_kind *kind;
    const struct chart_quantity *centre, *tail; /* tail: NULL: none */
    double limit_ms;
    struct scale x, y;
    struct scale_range loads, values;
};

static bool any_has(const struct chart_grid *grid, const struct chart_quantity *quantity)
{
    for (size_t i = 0; i < grid->load_count * grid->row_count; i++)
        if (chart_point_figure(&grid->points[i], quantity->offset).count > 0)
            return true;
    return false;
}

static const struct chart_quantity *first_known(const struct chart_grid *grid,
                                                const char *const names[2])
{
    for (size_t i = 0; i < 2; i++)
        if (names[i] != NULL && any_has(grid, chart_quantity_find(names[i])))
            return chart_quantity_find(names[i]);
    return NULL;
}

static struct chart_figure centre_of(const struct latency *latency, const struct chart_point *point)
{
    return chart_point_figure(point, latency->centre->offset);
}

/* NaN: not known. */
static double tail_of(const struct latency *latency, const struct chart_point *point)
{
    return latency->tail != NULL ? chart_point_figure(point, latency->tail->offset).mean : NAN;
}

static void find_ranges(struct latency *latency)
{
    latency->loads.is_log = latency->values.is_log = true;
    for (size_t i = 0; i < latency->grid->load_count * latency->grid->row_count; i++) {
        const struct chart_point *point = &latency->grid->points[i];
        struct chart_figure centre = centre_of(latency, point);

        scale_range_add(&latency->loads, point->load);
        scale_range_add(&latency->values, centre.low);
        scale_range_add(&latency->values, centre.high);
        scale_range_add(&latency->values, tail_of(latency, point));
    }
}

static bool is_few(const struct latency *latency, const struct chart_point *point)
{
    size_t offset = offsetof(struct evidence_cell, latency)
                    + latency->kind->metric * sizeof(struct evidence_latency)
                    + offsetof(struct evidence_latency, count);
    double counted = chart_point_figure(point, offset).low;
    double samples = isfinite(counted) ? counted : point->samples;

    return !(samples >= CHART_SAMPLES_FEW);
}

/* ---- A line ---- */

struct line {
    const struct latency *latency;
    size_t row, series;
    double shift;
};

static bool has_place(const struct line *line, const struct chart_point *point)
{
    return point->load > 0 && centre_of(line->latency, point).mean > 0;
}

static struct spot spot_of(const struct line *line, const struct chart_point *point, double value)
{
    return (struct spot){ scale_at(&line->latency->x, point->load) + line->shift,
                          scale_at(&line->latency->y, value) };
}

/* A line from point to point, which breaks where there is no figure. */
static void draw_strokes(const struct line *line)
{
    const struct chart_grid *grid = line->latency->grid;
    struct spot spots[CHART_AXIS_MAX];
    size_t count = 0;

    for (size_t i = 0; i <= grid->load_count; i++) {
        const struct chart_point *point =
            i < grid->load_count ? chart_grid_at(grid, line->row, i) : NULL;

        if (point != NULL && has_place(line, point)) {
            spots[count++] = spot_of(line, point, centre_of(line->latency, point).mean);
            continue;
        }
        if (count > 1)
            drawing_path(&line->latency->chart->drawing, spots, count, false,
                         CHART_STROKE(chart_series_paint(line->series), 1.6));
        count = 0;
    }
}

static void draw_bar(const struct line *line, const struct chart_point *point, struct spot at)
{
    double tail = tail_of(line->latency, point);
    struct spot end = spot_of(line, point, tail);
    const struct spot ends[] = { at, end, { end.x - 3, end.y }, { end.x + 3, end.y } };

    if (tail > 0)
        drawing_segments(&line->latency->chart->drawing, ends, 4,
                         CHART_STROKE(chart_series_paint(line->series), 1));
}

static void draw_spread(const struct line *line, const struct chart_point *point,
                        const struct chart_figure *centre)
{
    if (centre->count > 1 && centre->low > 0 && centre->low < centre->high)
        drawing_line(&line->latency->chart->drawing, spot_of(line, point, centre->low),
                     spot_of(line, point, centre->high),
                     CHART_STROKE(chart_series_paint(line->series), 5));
}

static void write_words(const struct line *line, const struct chart_point *point, struct text *out)
{
    const struct latency *latency = line->latency;
    double tail = tail_of(latency, point);
    char number[SCALE_NUMBER_SIZE];

    text_addf(out, "%s %s, ", scale_exact(point->load, number), chart_load_heading(latency->grid));
    text_addf(out, "%s %s: ", latency->grid->by_output ? "output" : "context",
              chart_row_name(point->row, number));
    text_addf(out, "%s %s ms", latency->centre->title,
              scale_number(centre_of(latency, point).mean, number));
    if (isfinite(tail))
        text_addf(out, ", %s %s ms", latency->tail->title, scale_number(tail, number));
}

static void draw_point(const struct line *line, size_t load)
{
    struct drawing *drawing = &line->latency->chart->drawing;
    const struct chart_grid *grid = line->latency->grid;
    const struct chart_point *point = chart_grid_at(grid, line->row, load);
    struct chart_figure centre = centre_of(line->latency, point);
    struct spot at = spot_of(line, point, centre.mean);
    TEXT_AUTO words = { 0 };

    if (!has_place(line, point))
        return;
    write_words(line, point, &words);
    drawing_group(drawing, "point", (int64_t)(line->row * grid->load_count + load),
                  text_string(&words));
    draw_bar(line, point, at);
    draw_spread(line, point, &centre);
    chart_marker(drawing, line->series, at, chart_series_paint(line->series),
                 is_few(line->latency, point) || isnan(tail_of(line->latency, point)));
    drawing_group_end(drawing);
}

/* A cross above the axis for each point that failed. */
static void draw_failures(const struct line *line, struct box box)
{
    const struct chart_grid *grid = line->latency->grid;

    for (size_t i = 0; i < grid->load_count; i++) {
        const struct chart_point *point = chart_grid_at(grid, line->row, i);
        double x = scale_at(&line->latency->x, point->load) + line->shift;
        double y = box.y + 6; /* above all values, since it is not one of them */
        const struct spot ends[] = {
            { x - 3, y - 3 }, { x + 3, y + 3 }, { x - 3, y + 3 }, { x + 3, y - 3 }
        };

        if (point->state == CHART_FAILED && point->load > 0)
            drawing_segments(&line->latency->chart->drawing, ends, 4,
                             CHART_STROKE(PAINT_FAIL, 1.4));
    }
}

/* ---- A panel ---- */

static void draw_loads(const struct latency *latency, struct box box)
{
    struct drawing *drawing = &latency->chart->drawing;
    double y = box.y + box.height;
    char number[SCALE_NUMBER_SIZE];

    drawing_line(drawing, (struct spot){ box.x, y }, (struct spot){ box.x + box.width, y },
                 CHART_STROKE(PAINT_MUTED, 1));
    for (size_t i = 0; i < latency->grid->load_count; i++) {
        double x = scale_at(&latency->x, latency->grid->loads[i]);

        if (latency->grid->loads[i] <= 0)
            continue;
        drawing_line(drawing, (struct spot){ x, y }, (struct spot){ x, y + 4 },
                     CHART_STROKE(PAINT_MUTED, 1));
        drawing_text_if_free(
            drawing, &(struct label){ .kind = TEXT_TICK,
                                      .x = x,
                                      .y = y + 16,
                                      .string = scale_exact(latency->grid->loads[i], number),
                                      .paint = PAINT_MUTED,
                                      .anchor = ANCHOR_MIDDLE });
    }
    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = box.x + box.width / 2,
                                           .y = y + 33,
                                           .string = chart_load_heading(latency->grid),
                                           .paint = PAINT_MUTED,
                                           .anchor = ANCHOR_MIDDLE });
}

static double last_place(const struct line *line, struct box box)
{
    for (size_t i = line->latency->grid->load_count; i-- > 0;) {
        const struct chart_point *point = chart_grid_at(line->latency->grid, line->row, i);

        if (has_place(line, point))
            return spot_of(line, point, centre_of(line->latency, point).mean).y;
    }
    return box.y + box.height;
}

static void draw_limit(const struct latency *latency, struct box box,
                       struct chart_name_label *labels, size_t *count)
{
    double y = scale_at(&latency->y, latency->limit_ms);
    char number[SCALE_NUMBER_SIZE];

    if (!(latency->limit_ms > 0) || y < box.y || y > box.y + box.height)
        return;
    drawing_line(&latency->chart->drawing, (struct spot){ box.x, y },
                 (struct spot){ box.x + box.width, y },
                 (struct style){ PAINT_NONE, PAINT_FAIL, .width = 1.2, .dashed = true });
    labels[*count] = (struct chart_name_label){ y, "", CHART_NO_MARKER, PAINT_FAIL };
    snprintf(labels[*count].name, sizeof labels[*count].name, "limit %s ms",
             scale_exact(latency->limit_ms, number));
    (*count)++;
}

static void draw_panel(struct latency *latency, const struct chart_panel_area *panel)
{
    struct drawing *drawing = &latency->chart->drawing;
    struct chart_name_label labels[CHART_PANEL_SERIES + 1];
    const struct box box = panel->box;
    double dodge = fmin(DODGE, box.width / (double)(latency->grid->load_count * panel->count) / 3);
    size_t count = 0;

    latency->x = (struct scale){ true, latency->loads.low, latency->loads.high, box.x + 18,
                                 box.x + box.width - 18 };
    if (latency->loads.low == latency->loads.high)
        latency->x.low /= 2, latency->x.high *= 2;
    latency->y = scale_fit(&latency->values, box.y + box.height, box.y);
    chart_axis_y(drawing, &latency->y, box.x, box.x + box.width, latency->kind->heading);
    draw_loads(latency, box);
    draw_limit(latency, box, labels, &count);
    for (size_t i = 0; i < panel->count; i++) {
        const struct line line = { latency, panel->first + i, i,
                                   dodge * ((double)i - ((double)panel->count - 1) / 2) };

        draw_strokes(&line);
        for (size_t load = 0; load < latency->grid->load_count; load++)
            draw_point(&line, load);
        draw_failures(&line, box);
        labels[count] =
            (struct chart_name_label){ last_place(&line, box), "", i, chart_series_paint(i) };
        chart_row_name(latency->grid->rows[line.row], labels[count++].name);
    }
    chart_names_write(drawing, box, chart_row_heading(latency->grid), labels, count,
                      CHART_NAMES_ROOM);
}

/* ---- The chart ---- */

static void fill_table(const struct latency *latency)
{
    const char *const names[] = { chart_load_column(latency->grid),
                                  chart_row_column(latency->grid),
                                  latency->centre->name,
                                  "low",
                                  "high",
                                  latency->tail != NULL ? latency->tail->name : "tail_ms",
                                  "repetitions",
                                  "samples",
                                  "state",
                                  NULL };
    struct chart_table *table = &latency->chart->table;

    chart_table_init(table, names);
    for (size_t i = 0; i < latency->grid->load_count * latency->grid->row_count; i++) {
        const struct chart_point *point = &latency->grid->points[i];
        struct chart_figure centre = centre_of(latency, point);

        chart_table_number(table, point->load);
        chart_table_number(table, point->row);
        chart_table_number(table, centre.mean);
        chart_table_number(table, centre.low);
        chart_table_number(table, centre.high);
        chart_table_number(table, tail_of(latency, point));
        chart_table_number(table, (double)centre.count);
        chart_table_number(table, point->samples);
        chart_table_text(table, chart_state_name(point->state));
    }
}

static void write_legend(const struct latency *latency, struct text *out)
{
    chart_part(out, "marker: %s", latency->centre->title);
    if (latency->tail != NULL)
        chart_part(out, "bar: up to %s", strrchr(latency->tail->title, ' ') + 1);
    if (latency->grid->repetitions > 1)
        chart_part(out, "broad: lowest to highest repetition");
    chart_part(out, "hollow: fewer than %d samples, or no spread", CHART_SAMPLES_FEW);
    if (chart_grid_count(latency->grid, CHART_FAILED) > 0)
        chart_part(out, "\xc3\x97 failed");
}

static void draw(struct latency *latency)
{
    TEXT_AUTO legend = { 0 };
    struct chart_facets facets;
    double top;

    find_ranges(latency);
    write_legend(latency, &legend);
    top = chart_head(latency->chart, latency->grid, text_string(&legend));
    fill_table(latency);
    facets = chart_facets_lay_out(&latency->chart->drawing, top, latency->grid->row_count);
    for (size_t i = 0; i < facets.count; i++)
        draw_panel(latency, &facets.panels[i]);
}

static const struct chart_latency_kind *kind_of(enum metric metric)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].metric == metric)
            return &kinds[i];
    return &kinds[0];
}

void chart_latency(const struct chart_runs *runs, enum metric metric, double limit_ms,
                   struct chart *out)
{
    CHART_GRID_AUTO grid;
    struct latency latency = {
        .chart = out, .grid = &grid, .kind = kind_of(metric), .limit_ms = limit_ms
    };
    TEXT_AUTO name = { 0 };
    TEXT_AUTO shown = { 0 };

    chart_grid_init(&grid, runs);
    latency.centre = first_known(&grid, latency.kind->centres);
    latency.tail = first_known(&grid, latency.kind->tails);
    chart_name(runs, &name);
    text_addf(&shown, ": %s by %s", latency.kind->title, grid.is_rate ? "rate" : "users");
    chart_start(out, CHART_WIDTH, CHART_HEIGHT, text_string(&name), text_string(&shown));
    if (latency.centre != NULL)
        draw(&latency);
    else
        chart_empty(out, chart_head(out, &grid, ""), "No cell has this latency");
}
