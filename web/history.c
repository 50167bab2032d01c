/* SPDX-License-Identifier: Apache-2.0 */
#include "web/history.h"

#include <string.h>

#include "analysis/charts/svg.h"
#include "base/json/json.h"
#include "handlers/charts/chart_request.h"
#include "web/page_call.h"
#include "web/page_list.h"
#include "web/param_form.h"
#include "web/report_page.h"

static const struct {
    const char *minutes, *words;
} ranges[] = { { "60", "1 hour" },    { "360", "6 hours" },   { "1440", "1 day" },
               { "10080", "7 days" }, { "43200", "30 days" }, { "525600", "1 year" } };

/* New reference. */
static json_t *minutes_of(const char *text)
{
    return param_form_number(text != NULL ? text : "60", false);
}

/* ---- The chart ---- */

static void write_drawing(const struct chart *chart, struct html *html)
{
    TEXT_AUTO markup = { 0 };

    svg_write(&chart->drawing, SVG_CLASSES, &markup);
    html_open(html, "figure", { "tabindex", "0" }, { "role", "region" },
              { "aria-label", "History" });
    html_add_trusted_markup(html, markup.data, markup.length);
    html_close(html, "figure");
}

void history_write_chart(const struct page_request *request, const char *deployment,
                         const char *minutes, struct html *html)
{
    struct call call = page_call_make(request);
    json_auto_t *arguments = json_pack("{s:s, s:s, s:{s:o}}", "plot", "history", "deployment",
                                       deployment, "options", "minutes", minutes_of(minutes));
    CHART_AUTO chart = { 0 };
    struct error error;

    if (chart_request_call(&call, arguments, &chart, &error))
        write_drawing(&chart, html);
    else
        html_element(html, "p", error.message, { "class", "note" });
}

/* ---- The page ---- */

static void write_ranges(const struct page_request *request, const char *deployment,
                         struct html *html)
{
    const char *chosen = page_query(request, "minutes");

    html_open(html, "nav", { "class", "pages" }, { "aria-label", "Time range" });
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        TEXT_AUTO url = { 0 };
        bool current = strcmp(ranges[i].minutes, chosen != NULL ? chosen : "60") == 0;

        text_add(&url, "/history");
        page_url_add(&url, "deployment", deployment);
        page_url_add(&url, "minutes", ranges[i].minutes);
        html_element(html, "a", ranges[i].words, { "href", text_string(&url) },
                     { "aria-current", current ? "true" : NULL });
    }
    html_close(html, "nav");
}

static void write_file_links(const char *deployment, const char *minutes, struct html *html)
{
    TEXT_AUTO query = { 0 };

    page_url_add(&query, "deployment", deployment);
    page_url_add(&query, "minutes", minutes);
    report_page_write_files("/history/chart", text_string(&query), REPORT_PAGE_CHART_ENDS, html);
}

static const struct page_column columns[] = {
    { "Figure", "metric", PAGE_FOREIGN }, { "Function for each step", "function", PAGE_TEXT },
    { "Unit", "unit", PAGE_TEXT },        { "Latest", "latest", PAGE_NUMBER },
    { "Low", "low", PAGE_NUMBER },        { "Mean", "mean", PAGE_NUMBER },
    { "High", "high", PAGE_NUMBER },      { 0 },
};

bool history_write(const struct page_request *request, struct page_answer *answer,
                   struct error *error)
{
    struct html html = html_begin(&answer->body);
    const char *minutes = page_query(request, "minutes"), *deployment;
    json_auto_t *read = NULL;
    json_t *arguments = json_pack("{s:o}", "minutes", minutes_of(minutes));

    if (page_query(request, "deployment") != NULL)
        json_object_set_new(arguments, "deployment",
                            json_string(page_query(request, "deployment")));
    if (!page_call_take(request, "metrics_history", arguments, &read, error))
        return false;
    deployment = json_get_text(read, "deployment", "");
    text_addf(&answer->title, "History of %s", deployment);
    html_open(&html, "h1");
    html_text(&html, "History of ");
    page_cell_write(PAGE_DEPLOYMENT, json_object_get(read, "deployment"), &html);
    html_close(&html, "h1");
    write_ranges(request, deployment, &html);
    history_write_chart(request, deployment, minutes, &html);
    write_file_links(deployment, minutes, &html);
    html_element(&html, "h2", "Figures");
    page_list_write(request, "All figures of this period", columns,
                    json_object_get(read, "figures"),
                    json_get_text(read, "note", "No metrics are stored for this period."), &html);
    html_finish(&html);
    return true;
}
