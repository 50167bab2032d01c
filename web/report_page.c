/* SPDX-License-Identifier: Apache-2.0 */
#include "web/report_page.h"

#include <stdio.h>
#include <string.h>

#include "analysis/document/document_parts.h"
#include "base/core/memory.h"
#include "handlers/audit_arguments.h"
#include "handlers/call.h"
#include "handlers/resource.h"
#include "web/page_call.h"

#define TABLE_BYTES_MAX 110000 /* cells are written only until the page has this many bytes */

bool report_page_find(const struct page_request *request, const char *id,
                      struct report_document *out, struct error *error)
{
    const struct tool *tool = tool_find("run_report");
    json_auto_t *arguments = json_pack("{s:s}", "run", id);
    FREE_AUTO char *audited = audit_arguments(tool, arguments);
    struct call call = page_call_make(request);
    bool done;

    call_begin(&call, tool->name, audited);
    done = report_document_find(&call, id, out, error);
    if (!done)
        call_refused(&call, error);
    return done;
}

/* ---- Charts ---- */

/* A browser reuses an image that has the same URL, so `version` must change when the contents do;
 * NULL: they no longer change. */
static void add_picture_url(const char *base, const struct document_chart *row, const char *dark,
                            const char *version, struct text *out)
{
    text_addf(out, "%s/%s.svg", base, row->plot);
    page_url_add(out, "quantity", row->quantity);
    page_url_add(out, "dark", dark);
    page_url_add(out, "version", version);
}

static void write_file_links(const char *base, const struct document_chart *row, struct html *html)
{
    TEXT_AUTO chart = { 0 };
    TEXT_AUTO query = { 0 };

    text_addf(&chart, "%s/%s", base, row->plot);
    page_url_add(&query, "quantity", row->quantity);
    report_page_write_files(text_string(&chart), text_string(&query), REPORT_PAGE_CHART_ENDS, html);
}

/* Pages are printed in the light theme. When a browser prints, it does not wait until <picture> has
 * changed from its dark image to the light one. So the page has a second image, always light, that
 * is only for printing: the style sheet hides it on the screen. */
static void write_picture(const char *base, const struct document_chart *row, const char *version,
                          struct html *html)
{
    TEXT_AUTO light = { 0 };
    TEXT_AUTO dark = { 0 };

    add_picture_url(base, row, NULL, version, &light);
    add_picture_url(base, row, "1", version, &dark);
    html_open(html, "figure", { "tabindex", "0" }, { "role", "region" },
              { "aria-label", row->question });
    html_element(html, "h3", row->question);
    html_open(html, "picture");
    html_open(html, "source", { "media", "screen and (prefers-color-scheme: dark)" },
              { "srcset", text_string(&dark) });
    html_open(html, "img", { "src", text_string(&light) }, { "alt", row->name },
              { "loading", "lazy" }, { "width", "720" }, { "height", "480" });
    html_close(html, "picture");
    html_open(html, "img", { "class", "paper" }, { "src", text_string(&light) },
              { "alt", row->name }, { "loading", "lazy" });
    html_close(html, "figure");
}

/* The first chart is written into the page as SVG, unless it is too large, so that users can move
 * from cell to cell; the others are images. */
static void write_chart(const struct document_part *part, const char *base,
                        const struct document_chart *row, const char *version, struct html *html)
{
    CHART_AUTO chart = { 0 };

    if (document_chart_draw(row, &part->runs, &chart) != DOCUMENT_DRAWN)
        return;
    if (row != document_charts
        || !document_write_drawing(row->question, &chart, REPORT_PAGE_CHART_BYTES, html))
        write_picture(base, row, version, html);
    write_file_links(base, row, html);
}

static void write_charts(const struct document_part *part, const char *base, struct html *html)
{
    html_element(html, "h2", "Charts");
    for (const struct document_chart *row = document_charts; row->question != NULL; row++)
        write_chart(part, base, row, NULL, html);
}

/* ---- Parts ---- */

void report_page_write_part(const struct document_part *part, const char *base, struct html *html)
{
    document_write_verdict(part, html);
    document_write_takeaways(part, html);
    document_write_audit(part, html);
    write_charts(part, base, html);
    document_write_table(part, TABLE_BYTES_MAX, html);
}

void report_page_write_progress(const struct document_part *part, const char *base,
                                const char *version, struct html *html)
{
    html_element(html, "h2", "Measured so far");
    write_chart(part, base, document_charts, version, html);
    document_write_table(part, TABLE_BYTES_MAX, html);
}

json_t *report_page_names(const char *value)
{
    json_t *list = NULL;

    while (value != NULL && *value != '\0') {
        size_t length = strcspn(value, ",");

        if (length > 0 && list == NULL)
            list = json_array();
        if (length > 0)
            json_array_append_new(list, json_stringn(value, length));
        value += length + (value[length] == ',');
    }
    return list;
}

/* ---- Files ---- */

void report_page_write_files(const char *base, const char *query, const char *ends,
                             struct html *html)
{
    html_open(html, "p", { "class", "pages" });
    while (*ends != '\0') {
        size_t length = strcspn(ends, " ");
        TEXT_AUTO url = { 0 };
        TEXT_AUTO words = { 0 };

        text_add(&url, base);
        text_add_bytes(&url, ends, length);
        text_add(&url, query);
        text_add(&words, strncmp(ends, ".html", length) == 0 ? "Save the report" : "");
        if (words.length == 0)
            text_add_bytes(&words, ends + 1, length - 1);
        html_element(html, "a", text_string(&words), { "href", text_string(&url) });
        ends += length + (ends[length] == ' ');
    }
    html_close(html, "p");
}

void report_page_save(const struct report_document *document, const char *name,
                      struct page_answer *answer)
{
    answer->type = "text/html; charset=utf-8";
    text_addf(&answer->file, "%s.html", name);
    document_policy(&answer->policy);
    document_write(&document->document, &answer->body);
}

bool report_page_file(const struct page_request *request, struct page_answer *answer,
                      struct error *error)
{
    REPORT_DOCUMENT_AUTO document = { 0 };

    if (!report_page_find(request, page_place(request, "id"), &document, error))
        return false;
    report_page_save(&document, document.document.id, answer);
    return true;
}

bool report_page_cells(const struct page_request *request, const char *kind,
                       struct page_answer *answer, struct error *error)
{
    const char *id = page_place(request, "id");
    struct call call = page_call_make(request);
    const struct resource *resource;
    char uri[RESOURCE_URI_SIZE];
    int length = snprintf(uri, sizeof uri, "opsbrain://%s/%s/cells.csv", kind, id);

    if (length < 0 || (size_t)length >= sizeof uri)
        return error_set(error, ERROR_NOT_FOUND, "there is nothing with this id");
    if (!resource_read(resources, &call, uri, &resource, &answer->body, error))
        return false;
    answer->type = "text/csv; charset=utf-8";
    if (text_is_name(id))
        text_addf(&answer->file, "%s.csv", id);
    return true;
}
