/* SPDX-License-Identifier: Apache-2.0 */
/* What does a million output tokens cost under a TTFT p99 limit? Draws a line for each deployment:
 * the price at the cheapest load that meets each limit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/charts/chart_facets.h"
#include "base/core/memory.h"

#define TOKENS 1e6
#define NAMES_ROOM 160
#define RIGHT_AXIS 52 /* width of the axis on the right, with its numbers */
#define SUBTITLE_NAME_ROOM 300
#define SECONDS_PER_HOUR 3600
#define ROW_NAME_SIZE (SCALE_NUMBER_SIZE + sizeof "context ")

/* A load, the lowest TTFT p99 limit that it meets, and its price per million output tokens. */
struct offer {
    double ttft_ms, usd, load;
};

struct cost {
    struct chart *chart;
    const struct chart_price *prices;
    size_t count;
    struct offer *offers[CHART_PRICES_MAX]; /* of each deployment, sorted by ttft_ms; heap */
    size_t offer_counts[CHART_PRICES_MAX];
    /* The context (or output length) that is shown for each deployment: the one with the most
     * measured loads. NaN: not known. */
    double rows[CHART_PRICES_MAX];
    bool by_output[CHART_PRICES_MAX]; /* rows[i] is an output length, not a context */
    struct scale x, y;
    struct scale_range limits, costs;
};

static int by_ttft(const void *a, const void *b)
{
    const struct offer *left = a, *right = b;

    return (left->ttft_ms > right->ttft_ms) - (left->ttft_ms < right->ttft_ms);
}

static void find_offers(struct cost *cost, size_t i)
{
    const struct chart_price *price = &cost->prices[i];
    CHART_GRID_AUTO grid;
    size_t count = 0, row;

    chart_grid_init(&grid, &price->runs);
    row = chart_grid_fullest_row(&grid);
    cost->rows[i] = grid.row_count > 0 ? grid.rows[row] : NAN;
    cost->by_output[i] = grid.by_output;
    cost->offers[i] = memory_zeroed(grid.load_count + 1, sizeof **cost->offers);
    for (size_t load = 0; load < grid.load_count; load++) {
        const struct chart_point *point = chart_grid_at(&grid, row, load);
        double ttft =
            chart_point_figure(point, offsetof(struct evidence_cell, latency[METRIC_TTFT].p99_ms))
                .mean;
        double rate =
            chart_point_figure(point, offsetof(struct evidence_cell, output_throughput)).mean;
        double usd = price->usd_per_hour / (rate * SECONDS_PER_HOUR) * TOKENS;

        if (ttft > 0 && rate > 0 && usd > 0 && isfinite(ttft + usd))
            cost->offers[i][count++] = (struct offer){ ttft, usd, point->load };
    }
    qsort(cost->offers[i], count, sizeof **cost->offers, by_ttft);
    cost->offer_counts[i] = count;
}

/* Fills the table, and finds the ranges of the axes. */
static void fill_table(struct cost *cost)
{
    static const char *const names[] = { "deployment", "ttft_p99_ms",  "usd_per_million_tokens",
                                         "load",       "usd_per_hour", NULL };
    struct chart_table *table = &cost->chart->table;

    chart_table_init(table, names);
    for (size_t i = 0; i < cost->count; i++)
        for (size_t p = 0; p < cost->offer_counts[i]; p++) {
            const struct offer *offer = &cost->offers[i][p];

            scale_range_add(&cost->limits, offer->ttft_ms);
            scale_range_add(&cost->costs, offer->usd);
            chart_table_text(table, cost->prices[i].name);
            chart_table_number(table, offer->ttft_ms);
            chart_table_number(table, offer->usd);
            chart_table_number(table, offer->load);
            chart_table_number(table, cost->prices[i].usd_per_hour);
        }
}

bool chart_price_stated(const struct chart_runs *runs, struct chart_price *out)
{
    const struct evidence_facts *facts = &runs->runs[0].facts;

    out->usd_per_hour = facts->price_usd_per_chip_hour * (facts->chips > 0 ? facts->chips : 1);
    out->source = "stated by the import";
    out->date = facts->date;
    return out->usd_per_hour > 0;
}

/* ---- Drawing ---- */

/* Draws the price at the cheapest load that meets each limit, from the lowest limit that any load
 * meets. Returns the y coordinate at which the line ends; if there is no line, the lower edge of
 * the box. */
static double draw_steps(const struct cost *cost, size_t series, struct box box)
{
    struct drawing *drawing = &cost->chart->drawing;
    size_t count = cost->offer_counts[series], used = 0;
    struct spot *spots = memory_zeroed(2 * count + 1, sizeof *spots);
    double best = INFINITY;

    for (size_t i = 0; i < count; i++) {
        const struct offer *offer = &cost->offers[series][i];
        double x = scale_at(&cost->x, offer->ttft_ms);

        if (offer->usd >= best)
            continue;
        if (used > 0)
            spots[used++] = (struct spot){ x, scale_at(&cost->y, best) };
        best = offer->usd;
        spots[used++] = (struct spot){ x, scale_at(&cost->y, best) };
        chart_marker(drawing, series, spots[used - 1], chart_series_paint(series), false);
    }
    if (used > 0)
        spots[used++] = (struct spot){ box.x + box.width, scale_at(&cost->y, best) };
    drawing_path(drawing, spots, used, false, CHART_STROKE(chart_series_paint(series), 1.8));
    free(spots);
    return used > 0 ? scale_at(&cost->y, best) : box.y + box.height;
}

/* Draws an axis of tokens per dollar, with ticks at the same heights as on the left axis. */
static void draw_right_axis(const struct cost *cost, struct box box)
{
    struct drawing *drawing = &cost->chart->drawing;
    double ticks[SCALE_TICKS_MAX], x = box.x + box.width + 8;
    size_t count = scale_ticks(&cost->y, ticks);
    char number[SCALE_NUMBER_SIZE];

    for (size_t i = 0; i < count; i++)
        drawing_text_if_free(drawing,
                             &(struct label){ .kind = TEXT_TICK,
                                              .x = x,
                                              .y = scale_at(&cost->y, ticks[i]) + 3.5,
                                              .string = scale_tick_name(TOKENS / ticks[i], number),
                                              .paint = PAINT_MUTED });
    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = x,
                                           .y = box.y - 10,
                                           .string = "tokens/$",
                                           .paint = PAINT_MUTED });
}

static void draw(struct cost *cost, double top)
{
    struct drawing *drawing = &cost->chart->drawing;
    struct chart_name_label labels[CHART_PRICES_MAX];
    struct chart_facets facets = chart_facets_lay_out(drawing, top, 1);
    struct box box = facets.panels[0].box, with_right_axis;
    double room;

    for (size_t i = 0; i < cost->count; i++) {
        labels[i] = (struct chart_name_label){ .series = i, .paint = chart_series_paint(i) };
        text_copy(labels[i].name, sizeof labels[i].name, cost->prices[i].name);
    }
    room = chart_names_room("", labels, cost->count, NAMES_ROOM);
    box.width += CHART_NAMES_ROOM - room - RIGHT_AXIS;
    with_right_axis = box;
    with_right_axis.width += RIGHT_AXIS;
    cost->x = scale_fit(&cost->limits, box.x, box.x + box.width);
    cost->y = scale_fit(&cost->costs, box.y + box.height, box.y);
    chart_axis_y(drawing, &cost->y, box.x, box.x + box.width, "$ per million output tokens");
    chart_axis_x(drawing, &cost->x, box.y + box.height, box.y, "TTFT p99 limit, ms");
    draw_right_axis(cost, box);
    for (size_t i = 0; i < cost->count; i++)
        labels[i].y = draw_steps(cost, i, box);
    chart_names_write(drawing, with_right_axis, "", labels, cost->count, room);
}

/* Writes "context 512" or "output 64"; returns `out`. */
static const char *row_name(const struct cost *cost, size_t i, char out[ROW_NAME_SIZE])
{
    char number[SCALE_NUMBER_SIZE];

    snprintf(out, ROW_NAME_SIZE, "%s %s", cost->by_output[i] ? "output" : "context",
             chart_row_name(cost->rows[i], number));
    return out;
}

static bool have_same_row(const struct cost *cost)
{
    for (size_t i = 1; i < cost->count; i++)
        if (!(cost->rows[i] == cost->rows[0]) || cost->by_output[i] != cost->by_output[0])
            return false;
    return true;
}

/* Appends "Gemma on L4: $0.70/h (a price list, 2026-08-01)"; `with_row`: with the context or output
 * length after the name. */
static void describe_price(const struct cost *cost, size_t i, bool with_row, struct text *parts)
{
    const struct chart_price *price = &cost->prices[i];
    char number[SCALE_NUMBER_SIZE], row[ROW_NAME_SIZE];
    TEXT_AUTO name = { 0 };

    font_fit(price->name, text_kind_size(TEXT_SUBTITLE), text_kind_weight(TEXT_SUBTITLE),
             SUBTITLE_NAME_ROOM, &name);
    chart_part(parts, "%s%s%s: $%s/h (%s%s%s)", text_string(&name), with_row ? ", " : "",
               with_row ? row_name(cost, i, row) : "", scale_money(price->usd_per_hour, number),
               price->source, price->date[0] != '\0' ? ", " : "", price->date);
}

static void describe(const struct cost *cost, struct text *parts)
{
    char row[ROW_NAME_SIZE];

    for (size_t i = 0; i < cost->count; i++)
        describe_price(cost, i, !have_same_row(cost), parts);
    chart_part(parts, "the cheapest load that meets the limit");
    if (cost->count > 0 && have_same_row(cost))
        chart_part(parts, "%s", row_name(cost, 0, row));
}

void chart_cost(const struct chart_price *prices, size_t count, struct chart *out)
{
    struct cost cost = { .chart = out,
                         .prices = prices,
                         .count = count < CHART_PRICES_MAX ? count : CHART_PRICES_MAX,
                         .limits = { .is_log = true },
                         .costs = { .is_log = true } };
    TEXT_AUTO parts = { 0 };
    double top;

    for (size_t i = 0; i < cost.count; i++)
        find_offers(&cost, i);
    chart_start(out, CHART_WIDTH, CHART_HEIGHT, "", "Cost under a TTFT limit");
    fill_table(&cost);
    describe(&cost, &parts);
    top = chart_lines(&out->drawing, TEXT_SUBTITLE, PAINT_MUTED, CHART_TITLE_Y + 3, &parts) + 14;
    if (cost.costs.known)
        draw(&cost, top);
    else
        chart_empty(out, top,
                    "No cell at the length with the most measured loads has both TTFT p99 and "
                    "output tokens/s");
    for (size_t i = 0; i < cost.count; i++)
        free(cost.offers[i]);
}
