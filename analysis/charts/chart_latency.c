/* SPDX-License-Identifier: Apache-2.0 */
/* What do users feel? Draws a latency by load, a line per context or output length. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/charts/chart_latency_kinds.h"
#include "analysis/charts/chart_rows.h"

/* Lines are moved apart by at most this much, so that their bars do not cover each other. */
#define DODGE 4
#define DODGE_OF_ONE 20    /* if there is only one load */
#define DODGE_OF_BARS 2    /* lines closer than this have no bars */
#define INSET 18           /* at both ends of the axis of loads, for the markers */
#define CROSS 3            /* half the width of a failure's cross */
#define FAILURE_ROWS_MAX 6 /* the maximum number of rows of crosses */

struct latency {
    struct chart *chart;
    const struct chart_grid *grid;
    struct chart_rows rows;
    const struct chart_latency_kind *kind;
    const struct chart_quantity *centre; /* what the markers show; NULL: no cell has it */
    const struct chart_quantity *tail;   /* what the dashes show; NULL: no cell has it */
    double limit_ms;
    struct scale x, y;
    struct scale_range loads, values;
    size_t failure_rows;
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

/* The point's tail in milliseconds; NaN: not known. */
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

static bool has_few_samples(const struct latency *latency, const struct chart_point *point)
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
    bool has_bars;
};

static struct line line_of(const struct latency *latency, const struct chart_panel_area *panel,
                           size_t i)
{
    size_t loads = latency->grid->load_count;
    double dodge = fmin(loads == 1 ? DODGE_OF_ONE : DODGE,
                        panel->box.width / (double)(loads * panel->count) / 3);

    return (struct line){ latency, latency->rows.at[panel->first + i], i,
                          dodge * ((double)i - ((double)panel->count - 1) / 2),
                          panel->count == 1 || dodge >= DODGE_OF_BARS };
}

static bool has_place(const struct line *line, const struct chart_point *point)
{
    return point->load > 0 && centre_of(line->latency, point).mean > 0;
}

static struct spot spot_of(const struct line *line, const struct chart_point *point, double value)
{
    return (struct spot){ scale_at(&line->latency->x, point->load) + line->shift,
                          scale_at(&line->latency->y, value) };
}

/* Draws a line from point to point, which breaks at a load without a positive figure. */
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

/* Draws a dash at the tail, and a bar from the point to it if the lines are far enough apart to
 * distinguish their bars. */
static void draw_tail(const struct line *line, const struct chart_point *point, struct spot at)
{
    double tail = tail_of(line->latency, point);
    struct spot end = spot_of(line, point, tail);
    const struct spot ends[] = { { end.x - 3, end.y }, { end.x + 3, end.y }, at, end };

    if (tail > 0)
        drawing_segments(&line->latency->chart->drawing, ends, line->has_bars ? 4 : 2,
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

    chart_write_place(latency->grid, point->load, point->row, out);
    text_addf(out, ": %s %s ms", latency->centre->title,
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
    draw_tail(line, point, at);
    draw_spread(line, point, &centre);
    chart_marker(drawing, line->series, at, chart_series_paint(line->series),
                 has_few_samples(line->latency, point) || isnan(tail_of(line->latency, point)));
    drawing_group_end(drawing);
}

/* The x coordinate of the last point in the unbroken part of the line that contains this load's
 * point, without the line's shift. */
static double end_of(const struct line *line, size_t load)
{
    const struct chart_grid *grid = line->latency->grid;

    while (load + 1 < grid->load_count && has_place(line, chart_grid_at(grid, line->row, load + 1)))
        load++;
    return scale_at(&line->latency->x, grid->loads[load]);
}

/* Both ends of each unbroken part of a line have a marker. A point between them has a marker only
 * if it would not cover another marker of the line. */
static void draw_points(const struct line *line)
{
    const struct chart_grid *grid = line->latency->grid;
    double last = -INFINITY;
    bool is_on_line = false;

    for (size_t load = 0; load < grid->load_count; load++) {
        double x = scale_at(&line->latency->x, grid->loads[load]), end = end_of(line, load);
        bool is_there = has_place(line, chart_grid_at(grid, line->row, load));
        bool has_room = x - last >= CHART_MARKER_GAP && end - x >= CHART_MARKER_GAP;

        if (is_there && (!is_on_line || x == end || has_room)) {
            draw_point(line, load);
            last = x;
        }
        is_on_line = is_there;
    }
}

static void draw_failure(const struct line *line, const struct chart_point *point, struct spot at)
{
    struct drawing *drawing = &line->latency->chart->drawing;
    const struct spot ends[] = { { at.x - CROSS, at.y - CROSS },
                                 { at.x + CROSS, at.y + CROSS },
                                 { at.x - CROSS, at.y + CROSS },
                                 { at.x + CROSS, at.y - CROSS } };
    TEXT_AUTO words = { 0 };

    chart_write_place(line->latency->grid, point->load, point->row, &words);
    text_addf(&words, ": %s", chart_state_name(point->state));
    chart_point_add_reason(point, &words);
    drawing_group(drawing, "failure", point - line->latency->grid->points, text_string(&words));
    drawing_segments(drawing, ends, 4, CHART_STROKE(chart_series_paint(line->series), 1.6));
    drawing_group_end(drawing);
}

/* The first row in which a cross at `x` touches no other cross; FAILURE_ROWS_MAX: no row has room.
 * `last`: the x coordinate of each row's last cross. */
static size_t row_with_room(const double *last, double x)
{
    size_t row = 0;

    while (row < FAILURE_ROWS_MAX && x - last[row] < CHART_MARKER_GAP)
        row++;
    return row;
}

/* Draws a cross for each point that failed, in rows above all values, because a failure has no
 * value. Crosses that do not fit into FAILURE_ROWS_MAX rows are omitted. Returns the number of
 * rows. `is_trial`: only counts the rows, draws nothing. */
static size_t draw_failures(const struct latency *latency, const struct chart_panel_area *panel,
                            bool is_trial)
{
    double last[FAILURE_ROWS_MAX];
    size_t rows = 0;

    for (size_t i = 0; i < FAILURE_ROWS_MAX; i++)
        last[i] = -INFINITY;
    for (size_t i = 0; i < latency->grid->load_count * panel->count; i++) {
        const struct line line = line_of(latency, panel, i % panel->count);
        const struct chart_point *point = chart_grid_at(latency->grid, line.row, i / panel->count);
        double x = scale_at(&latency->x, point->load) + line.shift;
        size_t row = row_with_room(last, x);

        if (point->state != CHART_FAILED || !(point->load > 0) || row == FAILURE_ROWS_MAX)
            continue;
        last[row] = x;
        rows = row >= rows ? row + 1 : rows;
        if (!is_trial)
            draw_failure(&line, point,
                         (struct spot){ x, panel->box.y + 4 + CHART_MARKER_GAP * (double)row });
    }
    return rows;
}

/* ---- A panel ---- */

/* The y coordinate at which the line ends; the top of the box if the row has failures but no
 * figures; NaN: the row has neither. */
static double last_place(const struct line *line, struct box box)
{
    double place = NAN;

    for (size_t i = 0; i < line->latency->grid->load_count; i++) {
        const struct chart_point *point = chart_grid_at(line->latency->grid, line->row, i);

        if (has_place(line, point))
            place = spot_of(line, point, centre_of(line->latency, point).mean).y;
        else if (isnan(place) && point->state == CHART_FAILED)
            place = box.y;
    }
    return place;
}

static void add_name(const struct line *line, struct box box, struct chart_name_label *labels,
                     size_t *count)
{
    double place = last_place(line, box);

    if (isnan(place))
        return;
    labels[*count] =
        (struct chart_name_label){ place, "", line->series, chart_series_paint(line->series) };
    chart_row_name(line->latency->grid->rows[line->row], labels[(*count)++].name);
}

/* The height of the rows of crosses. */
static double failures_height(const struct latency *latency)
{
    return latency->failure_rows == 0 ? 0 : CHART_MARKER_GAP * (double)latency->failure_rows + 4;
}

static void draw_limit(const struct latency *latency, struct box box,
                       struct chart_name_label *labels, size_t *count)
{
    double y = scale_at(&latency->y, latency->limit_ms);
    double top = box.y + failures_height(latency);
    char number[SCALE_NUMBER_SIZE];

    if (!(latency->limit_ms > 0) || y < top || y > box.y + box.height)
        return;
    drawing_line(&latency->chart->drawing, (struct spot){ box.x, y },
                 (struct spot){ box.x + box.width, y },
                 (struct style){ PAINT_NONE, PAINT_FAIL, .width = 1.2, .dashed = true });
    labels[*count] =
        (struct chart_name_label){ .y = y, .series = CHART_NO_MARKER, .paint = PAINT_FAIL };
    snprintf(labels[*count].name, sizeof labels[*count].name, "limit %s ms",
             scale_exact(latency->limit_ms, number));
    (*count)++;
}

/* The largest number of rows of crosses in any panel: the scale of every panel leaves room for that
 * many. */
static size_t failure_rows(struct latency *latency, const struct chart_facets *facets)
{
    size_t most = 0;

    for (size_t i = 0; i < facets->count; i++) {
        size_t rows;

        latency->x = chart_scale_of_loads(&latency->loads, facets->panels[i].box, INSET);
        rows = draw_failures(latency, &facets->panels[i], true);
        most = rows > most ? rows : most;
    }
    return most;
}

static void draw_panel(struct latency *latency, const struct chart_panel_area *panel)
{
    struct drawing *drawing = &latency->chart->drawing;
    struct chart_name_label labels[CHART_PANEL_SERIES + 1];
    const struct box box = panel->box;
    size_t count = 0;

    latency->x = chart_scale_of_loads(&latency->loads, box, INSET);
    latency->y = scale_fit(&latency->values, box.y + box.height, box.y);
    if (latency->failure_rows > 0)
        scale_keep_clear(&latency->y, failures_height(latency));
    chart_axis_y(drawing, &latency->y, box.x, box.x + box.width, latency->kind->heading);
    chart_axis_loads(drawing, latency->grid, &latency->x, box);
    if (latency->rows.is_sample)
        chart_rows_band(latency->grid, latency->centre->offset, &latency->x, &latency->y, drawing);
    draw_limit(latency, box, labels, &count);
    for (size_t i = 0; i < panel->count; i++) {
        const struct line line = line_of(latency, panel, i);

        draw_strokes(&line);
        draw_points(&line);
        add_name(&line, box, labels, &count);
    }
    draw_failures(latency, panel, false);
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
    chart_rows_describe(&latency->rows, latency->grid,
                        "shaded: from the lowest to the highest of all", out);
    chart_part(out, "marker: %s", latency->centre->title);
    if (latency->tail != NULL)
        chart_part(out, "dash: %s", strrchr(latency->tail->title, ' ') + 1);
    if (latency->grid->repetitions > 1)
        chart_part(out, "thick: lowest to highest repetition");
    chart_part(out, "hollow: fewer than %d samples, or no known tail", CHART_SAMPLES_FEW);
    if (chart_grid_count(latency->grid, CHART_FAILED) > 0)
        chart_part(out, "\xc3\x97 failed");
}

static void draw(struct latency *latency)
{
    TEXT_AUTO legend = { 0 };
    struct chart_facets facets;
    double top;

    find_ranges(latency);
    if (!latency->values.known) {
        chart_empty(latency->chart, chart_head(latency->chart, latency->grid, ""),
                    "No cell has this latency");
        return;
    }
    latency->rows = chart_rows_choose(latency->grid);
    write_legend(latency, &legend);
    top = chart_head(latency->chart, latency->grid, text_string(&legend));
    fill_table(latency);
    facets = chart_facets_lay_out(&latency->chart->drawing, top, latency->rows.count);
    latency->failure_rows = failure_rows(latency, &facets);
    for (size_t i = 0; i < facets.count; i++)
        draw_panel(latency, &facets.panels[i]);
}

void chart_latency(const struct chart_runs *runs, enum metric metric, double limit_ms,
                   struct chart *out)
{
    CHART_GRID_AUTO grid;
    struct latency latency = {
        .chart = out, .grid = &grid, .kind = chart_latency_kind(metric), .limit_ms = limit_ms
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
