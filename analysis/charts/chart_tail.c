/* SPDX-License-Identifier: Apache-2.0 */
/* How slow are the slowest requests? Draws, for each time, the share of requests that took longer,
 * on log axes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/charts/chart_entries.h"
#include "analysis/charts/chart_facets.h"

#define STEPS_PER_DECADE 16 /* the number of steps in which the share falls to a tenth */
#define NS_PER_MS 1e6
#define NAMES_ROOM_MAX 100 /* the maximum width of the curves' names beside the plot */

struct tail {
    struct chart *chart;
    const struct chart_tail *curves;
    size_t count;
    struct scale x, y;
    struct scale_range times, shares;
};

/* ---- Curves ---- */

/* Adds a step if there is room, its time and share are positive, its time is not before the last
 * step's, and its share is smaller than the last step's. */
static void curve_add(struct chart_tail *curve, double ms, double share, bool at_least)
{
    if (!(ms > 0) || !(share > 0) || curve->count == CHART_TAIL_STEPS
        || (curve->count > 0
            && (ms < curve->steps[curve->count - 1].ms
                || share >= curve->steps[curve->count - 1].share)))
        return;
    curve->steps[curve->count++] = (struct chart_tail_step){ ms, share, at_least };
}

void chart_tail_of_histogram(const struct histogram *histogram, struct chart_tail *curve)
{
    double n = (double)histogram_count(histogram);

    curve->count = 0;
    curve->is_complete = true;
    curve->samples = n;
    for (int i = 0; n > 0 && i <= STEPS_PER_DECADE * 12; i++) {
        double share = fmax(1 / n, pow(10, -(double)i / STEPS_PER_DECADE));
        bool cut_off;
        uint64_t ns = histogram_quantile(histogram, 1 - share, &cut_off);

        curve_add(curve, (double)ns / NS_PER_MS, share, cut_off);
        if (share <= 1 / n)
            break;
    }
}

void chart_tail_of_latency(const struct evidence_latency *latency, struct chart_tail *curve)
{
    curve->samples = latency->count;
    curve_add(curve, latency->min_ms, 1, false);
    curve_add(curve, latency->p50_ms, 0.5, latency->p50_at_least);
    curve_add(curve, latency->p90_ms, 0.1, latency->p90_at_least);
    curve_add(curve, latency->p95_ms, 0.05, latency->p95_at_least);
    curve_add(curve, latency->p99_ms, 0.01, latency->p99_at_least);
    if (latency->count >= 1)
        curve_add(curve, latency->max_ms, 1 / latency->count, false);
}

/* The cell of the point's first measured repetition. `point` is measured, so there is one. */
static const struct evidence_cell *first_measured(const struct chart_point *point)
{
    size_t i = 0;

    while (i + 1 < point->entry_count && point->entries[i].cell->state != EVIDENCE_MEASURED)
        i++;
    return point->entries[i].cell;
}

size_t chart_tails_of_runs(const struct chart_runs *runs, enum metric metric,
                           struct chart_tail curves[CHART_TAILS_MAX])
{
    CHART_GRID_AUTO grid;
    const struct chart_point *points[CHART_AXIS_MAX];
    size_t count = 0, chosen;

    chart_grid_init(&grid, runs);
    for (size_t i = 0; i < grid.load_count; i++) {
        const struct chart_point *point = chart_grid_at(&grid, chart_grid_fullest_row(&grid), i);

        if (point->state == CHART_MEASURED)
            points[count++] = point;
    }
    chosen = count < CHART_TAILS_MAX ? count : CHART_TAILS_MAX;
    for (size_t i = 0; i < chosen; i++) {
        const struct chart_point *point = points[chosen > 1 ? i * (count - 1) / (chosen - 1) : 0];
        const struct evidence_cell *cell = first_measured(point);
        char load[SCALE_NUMBER_SIZE];

        curves[i] = (struct chart_tail){ .timeout_ms = 1000 * cell->timeout_s, .cell = cell };
        snprintf(curves[i].name, sizeof curves[i].name, "%s %s", scale_exact(point->load, load),
                 grid.is_rate       ? "/s"
                 : point->load == 1 ? "user"
                                    : "users");
        chart_tail_of_latency(&cell->latency[metric], &curves[i]);
    }
    return chosen;
}

/* ---- Drawing ---- */

/* Between two steps the share is constant. The line ends at the last step, or at the first one
 * whose time is only a lower bound. */
static void draw_curve(const struct tail *tail, size_t series)
{
    const struct chart_tail *curve = &tail->curves[series];
    struct drawing *drawing = &tail->chart->drawing;
    struct spot spots[2 * CHART_TAIL_STEPS];
    size_t used = 0;

    for (size_t i = 0; i < curve->count; i++) {
        double x = scale_at(&tail->x, curve->steps[i].ms);

        if (i > 0)
            spots[used++] = (struct spot){ x, scale_at(&tail->y, curve->steps[i - 1].share) };
        spots[used++] = (struct spot){ x, scale_at(&tail->y, curve->steps[i].share) };
        if (curve->steps[i].is_at_least)
            break;
    }
    if (used == 0)
        return;
    drawing_path(drawing, spots, used, false, CHART_STROKE(chart_series_paint(series), 1.6));
    chart_marker(drawing, series, spots[used - 1], chart_series_paint(series),
                 !(curve->samples >= CHART_SAMPLES_FEW));
}

static void draw_timeouts(const struct tail *tail, struct box box)
{
    struct drawing *drawing = &tail->chart->drawing;
    double last = NAN;

    for (size_t i = 0; i < tail->count; i++) {
        double timeout = tail->curves[i].timeout_ms, x = scale_at(&tail->x, timeout);

        if (!(timeout > 0) || timeout == last || x < box.x || x > box.x + box.width)
            continue;
        last = timeout;
        drawing_line(drawing, (struct spot){ x, box.y }, (struct spot){ x, box.y + box.height },
                     (struct style){ PAINT_NONE, PAINT_FAIL, .width = 1.2, .dashed = true });
        drawing_text_if_free(drawing, &(struct label){ .kind = TEXT_NOTE,
                                                       .x = x,
                                                       .y = box.y - 9,
                                                       .string = "timeout",
                                                       .paint = PAINT_FAIL,
                                                       .anchor = ANCHOR_MIDDLE });
    }
}

/* Fills the table, and finds the ranges of the axes. */
static void fill_table(struct tail *tail)
{
    static const char *const names[] = {
        "cell", "ms", "share_slower", "at_least", "samples", NULL
    };
    struct chart_table *table = &tail->chart->table;

    chart_table_init(table, names);
    for (size_t i = 0; i < tail->count; i++)
        for (size_t s = 0; s < tail->curves[i].count; s++) {
            const struct chart_tail_step *step = &tail->curves[i].steps[s];

            chart_table_text(table, tail->curves[i].name);
            chart_table_number(table, step->ms);
            chart_table_number(table, step->share);
            chart_table_text(table, step->is_at_least ? "at least" : "");
            chart_table_number(table, tail->curves[i].samples);
            scale_range_add(&tail->times, step->ms);
            scale_range_add(&tail->shares, step->share);
        }
}

/* Appends the context if it is the same for all cells. */
static void describe_context(const struct tail *tail, struct text *parts)
{
    double context =
        tail->count > 0 && tail->curves[0].cell != NULL ? tail->curves[0].cell->input_length : NAN;
    char number[SCALE_NUMBER_SIZE];

    for (size_t i = 1; i < tail->count; i++)
        if (tail->curves[i].cell == NULL || tail->curves[i].cell->input_length != context)
            return;
    if (isfinite(context))
        chart_part(parts, "context %s", scale_exact(context, number));
}

static bool are_complete(const struct tail *tail)
{
    for (size_t i = 0; i < tail->count; i++)
        if (!tail->curves[i].is_complete)
            return false;
    return true;
}

/* The number of steps of the longest curve. */
static size_t most_steps(const struct tail *tail)
{
    size_t most = 0;

    for (size_t i = 0; i < tail->count; i++)
        most = tail->curves[i].count > most ? tail->curves[i].count : most;
    return most;
}

static void draw(struct tail *tail, double top)
{
    struct drawing *drawing = &tail->chart->drawing;
    struct chart_facets facets = chart_facets_lay_out(drawing, top, 1);
    struct box box = facets.panels[0].box;
    struct chart_name_label labels[CHART_TAILS_MAX];
    double room;

    for (size_t i = 0; i < tail->count; i++) {
        labels[i] = (struct chart_name_label){ box.y, "", i, chart_series_paint(i) };
        snprintf(labels[i].name, sizeof labels[i].name, "%.60s", tail->curves[i].name);
    }
    room = chart_names_room("", labels, tail->count, NAMES_ROOM_MAX);
    box.width += CHART_NAMES_ROOM - room;
    scale_range_add(&tail->shares, 1);
    tail->x = scale_fit(&tail->times, box.x, box.x + box.width);
    tail->y = scale_fit(&tail->shares, box.y + box.height, box.y);
    chart_axis_y(drawing, &tail->y, box.x, box.x + box.width, "share of slower requests");
    chart_axis_x(drawing, &tail->x, box.y + box.height, box.y, "ms");
    draw_timeouts(tail, box);
    for (size_t i = 0; i < tail->count; i++)
        draw_curve(tail, i);
    chart_names_write(drawing, box, "", labels, tail->count, room);
}

void chart_tail(const char *name, const char *metric, const struct chart_tail *curves, size_t count,
                struct chart *out)
{
    struct tail tail = { .chart = out,
                         .curves = curves,
                         .count = count < CHART_TAILS_MAX ? count : CHART_TAILS_MAX,
                         .times = { .is_log = true },
                         .shares = { .is_log = true } };
    TEXT_AUTO shown = { 0 };
    TEXT_AUTO parts = { 0 };
    double top;

    text_addf(&shown, ": %s, the tail", metric);
    chart_start(out, CHART_WIDTH, CHART_HEIGHT, name, text_string(&shown));
    fill_table(&tail);
    chart_part(&parts, "%zu cell%s", tail.count, tail.count == 1 ? "" : "s");
    describe_context(&tail, &parts);
    chart_part(&parts, "%s",
               are_complete(&tail)
                   ? "each line ends where only one request was slower, or a timeout cut it off"
                   : "a step from each known percentile to the next");
    chart_part(&parts, "hollow: fewer than %d samples", CHART_SAMPLES_FEW);
    top = chart_lines(&out->drawing, TEXT_SUBTITLE, PAINT_MUTED, CHART_TITLE_Y + 3, &parts) + 14;
    if (most_steps(&tail) > 1)
        draw(&tail, top);
    else
        chart_empty(out, top,
                    most_steps(&tail) == 0
                        ? "No cell has percentiles of this latency"
                        : "No cell has enough percentiles or samples of this latency for a line");
}
