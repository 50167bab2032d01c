/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the charts of a part as SVG in the page's own colours. A chart of very many cells becomes
 * a PNG if that is smaller. */
#include <math.h>
#include <string.h>

#include "analysis/charts/raster.h"
#include "analysis/charts/svg.h"
#include "analysis/document/document_parts.h"
#include "base/core/base64.h"

/* An SVG with more bytes than this has hundreds of cells, and a PNG might be smaller. */
#define LARGE_SVG_BYTES 81920
/* About the size of such a PNG: if there is no more room than this, no PNG is drawn. */
#define PNG_ROOM_BYTES 49152

/* Conditions of a row. WITHOUT_TTFT: its chart is drawn only if no cell has a TTFT. WITH_PRICE:
 * only if a price is stated. */
enum { WITHOUT_TTFT = 1, WITH_PRICE = 2 };

/* ---- One chart ---- */

static void add_picture(const struct drawing *drawing, struct text *out)
{
    TEXT_AUTO png = { 0 };
    struct error ignored;

    if (!raster_write(drawing, THEME_LIGHT, &png, &ignored)) /* the SVG is used instead */
        return;
    text_add(out, "<img alt=\"The figures are in the table.\" src=\"data:image/png;base64,");
    base64_add(out, png.data, png.length);
    text_add(out, "\">");
}

/* Writes the drawing to `out`, which must be empty: as PNG if the SVG is large, there is room for a
 * PNG, and the PNG is smaller; otherwise as SVG. */
static void add_smaller(const struct drawing *drawing, size_t room, struct text *out)
{
    TEXT_AUTO picture = { 0 };

    svg_write(drawing, SVG_CLASSES, out);
    if (out->length > LARGE_SVG_BYTES && room > PNG_ROOM_BYTES)
        add_picture(drawing, &picture);
    if (picture.length == 0 || picture.length > out->length)
        return;
    text_clear(out);
    text_add_bytes(out, picture.data, picture.length);
}

static void write_figure(const char *question, const struct text *markup, struct html *html)
{
    html_open(html, "figure");
    html_element(html, "h3", question);
    html_open(html, "div", { "class", "scroll" }, { "tabindex", "0" }, { "role", "region" },
              { "aria-label", question });
    html_add_trusted_markup(html, markup->data, markup->length);
    html_close(html, "div");
    html_close(html, "figure");
}

static size_t room_in(const struct html *html, size_t limit)
{
    return limit > html->out->length ? limit - html->out->length : 0;
}

static CHECKED bool write_fitting(const char *question, const struct text *markup, size_t room,
                                  struct html *html)
{
    if (markup->length > room)
        return false;
    write_figure(question, markup, html);
    return true;
}

bool document_write_chart(const char *question, const struct chart *chart, size_t limit,
                          struct html *html)
{
    size_t room = room_in(html, limit);
    TEXT_AUTO markup = { 0 };

    add_smaller(&chart->drawing, room, &markup);
    return write_fitting(question, &markup, room, html);
}

bool document_write_drawing(const char *question, const struct chart *chart, size_t limit,
                            struct html *html)
{
    TEXT_AUTO markup = { 0 };

    svg_write(&chart->drawing, SVG_CLASSES, &markup);
    return write_fitting(question, &markup, room_in(html, limit), html);
}

/* ---- Which charts ---- */

static void draw_heat(const struct chart_runs *runs, struct chart *out)
{
    chart_heat(runs, chart_quantity_default(runs), out);
}

static void draw_ttft(const struct chart_runs *runs, struct chart *out)
{
    chart_latency(runs, METRIC_TTFT, 0, out);
}

static void draw_itl(const struct chart_runs *runs, struct chart *out)
{
    chart_latency(runs, METRIC_ITL, 0, out);
}

static bool has_ttft(const struct chart_runs *runs)
{
    for (size_t r = 0; r < runs->count; r++)
        for (size_t i = 0; i < runs->runs[r].cell_count; i++) {
            const struct evidence_latency *ttft = &runs->runs[r].cells[i].latency[METRIC_TTFT];

            if (isfinite(ttft->p50_ms) || isfinite(ttft->mean_ms))
                return true;
        }
    return false;
}

static void draw_e2e(const struct chart_runs *runs, struct chart *out)
{
    chart_latency(runs, METRIC_E2E, 0, out);
}

static void draw_tail_of(const struct chart_runs *runs, enum metric metric, struct chart *out)
{
    struct chart_tail curves[CHART_TAILS_MAX];
    size_t count = chart_tails_of_runs(runs, metric, curves);
    TEXT_AUTO name = { 0 };

    chart_name(runs, &name);
    chart_tail(text_string(&name), metric_name(metric), curves, count, out);
}

static void draw_tail_of_ttft(const struct chart_runs *runs, struct chart *out)
{
    draw_tail_of(runs, METRIC_TTFT, out);
}

static void draw_tail_of_e2e(const struct chart_runs *runs, struct chart *out)
{
    draw_tail_of(runs, METRIC_E2E, out);
}

static void draw_cost(const struct chart_runs *runs, struct chart *out)
{
    TEXT_AUTO name = { 0 };
    struct chart_price price = { .runs = *runs };

    chart_name(runs, &name);
    price.name = text_string(&name);
    if (chart_price_stated(runs, &price))
        chart_cost(&price, 1, out);
}

const struct document_chart document_charts[] = {
    { "Where does it saturate?", "loads by contexts", "heat", NULL, draw_heat, 0 },
    { "How long until the first token?", "TTFT by load", "latency", "ttft", draw_ttft, 0 },
    { "How fast do tokens follow?", "ITL by load", "latency", "itl", draw_itl, 0 },
    { "How long does a request take?", "whole request by load", "latency", "e2e", draw_e2e,
      WITHOUT_TTFT },
    { "What does speed cost in throughput?", "speed against throughput", "pareto", NULL,
      chart_pareto, 0 },
    { "Can the figures be right?", "load measured against load planned", "load", NULL,
      chart_residuals, 0 },
    { "How slow are the slowest requests?", "share of slower requests", "tail", "ttft",
      draw_tail_of_ttft, 0 },
    { "How slow are the slowest requests?", "share of slower requests", "tail", "e2e",
      draw_tail_of_e2e, WITHOUT_TTFT },
    { "What do tokens cost?", "price of output tokens under a TTFT limit", "cost", NULL, draw_cost,
      WITH_PRICE },
    { 0 },
};

/* Whether the row's conditions are met. In addition, the tail of TTFT is wanted only if a cell has
 * a TTFT; otherwise the tail of E2E replaces it. */
static bool is_wanted(const struct document_chart *row, const struct chart_runs *runs)
{
    bool replaces_ttft = (row->conditions & WITHOUT_TTFT) != 0;

    if ((row->conditions & WITH_PRICE) != 0)
        return chart_price_stated(runs, &(struct chart_price){ 0 });
    if (replaces_ttft || strcmp(row->plot, "tail") == 0)
        return replaces_ttft != has_ttft(runs);
    return true;
}

enum document_drawn document_chart_draw(const struct document_chart *row,
                                        const struct chart_runs *runs, struct chart *out)
{
    if (!is_wanted(row, runs))
        return DOCUMENT_NOT_WANTED;
    row->draw(runs, out);
    return out->is_empty ? DOCUMENT_EMPTY : DOCUMENT_DRAWN;
}

static void write_names(const char *why, const struct text *names, struct html *html)
{
    if (names->length == 0)
        return;
    html_open(html, "p", { "class", "soft" });
    html_textf(html, "%s: %s.", why, text_string(names));
    html_close(html, "p");
}

static void add_name(struct text *names, const char *name)
{
    text_addf(names, "%s%s", names->length > 0 ? ", " : "", name);
}

/* The names of the charts that are not drawn. */
struct undrawn {
    struct text empty; /* because there are no figures for them */
    struct text large; /* because they do not fit */
};

static void write_one(const struct document_chart *row, const struct chart_runs *runs, size_t limit,
                      struct undrawn *undrawn, struct html *html)
{
    CHART_AUTO chart = { 0 };
    enum document_drawn drawn = document_chart_draw(row, runs, &chart);

    if (drawn == DOCUMENT_EMPTY)
        add_name(&undrawn->empty, row->name);
    else if (drawn == DOCUMENT_DRAWN && !document_write_chart(row->question, &chart, limit, html))
        add_name(&undrawn->large, row->name);
}

void document_write_charts(const struct document_part *part, size_t limit, struct html *html)
{
    struct undrawn undrawn = { 0 };

    html_element(html, "h2", "Charts");
    for (const struct document_chart *row = document_charts; row->question != NULL; row++)
        write_one(row, &part->runs, limit, &undrawn, html);
    write_names("Not drawn for lack of figures", &undrawn.empty, html);
    write_names("Too large for this file, but drawn by run_chart", &undrawn.large, html);
    text_finish(&undrawn.empty);
    text_finish(&undrawn.large);
}
