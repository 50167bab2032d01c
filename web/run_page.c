/* SPDX-License-Identifier: Apache-2.0 */
#include "web/run_page.h"

#include <limits.h>
#include <string.h>

#include "analysis/document/document_parts.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/audit_arguments.h"
#include "handlers/call.h"
#include "web/page_call.h"
#include "web/page_list.h"
#include "web/report_page.h"

/* ---- The list ---- */

static const char *const filters[] = { "deployment", "sweep", NULL };

static void write_cells(const struct page_request *request, const json_t *run, struct html *html)
{
    int64_t done = json_get_integer(run, "cells_done", 0);
    int64_t total = json_get_integer(run, "cells_total", 0);

    (void)request;
    if (done == total)
        html_textf(html, "%lld", (long long)total);
    else
        html_textf(html, "%lld of %lld", (long long)done, (long long)total);
}

static const struct page_column columns[] = {
    { "Run", "id", PAGE_ID },
    { "Sweep", "sweep", PAGE_ID },
    { "Imported file", "source.file", PAGE_FOREIGN },
    { "Deployment", "deployment", PAGE_DEPLOYMENT },
    { "Repetition", "repetition", PAGE_NUMBER },
    { "Cells", .write = write_cells },
    { "Corrected by", "corrected_by", PAGE_ID },
    { "Created (UTC)", "created_at", PAGE_TIME },
    { 0 },
};

bool runs_page_write(const struct page_request *request, struct page_answer *answer,
                     struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL;

    if (!page_call_take(request, "run_list", page_list_arguments(request, filters), &listed, error))
        return false;
    text_add(&answer->title, "Runs");
    text_add(&answer->follows, "*");
    html_element(&html, "h1", "Runs");
    page_list_filter(request, "run_list", filters, &html);
    page_list_write(request, "Runs and imports, newest first", columns,
                    json_object_get(listed, "runs"),
                    "No matching runs. A sweep or an import creates runs.", &html);
    page_list_navigation(request, listed, &html);
    html_finish(&html);
    return true;
}

/* ---- One run ---- */

static void write_links(const struct report_document *document, struct html *html)
{
    const struct evidence *run = &document->parts[0].runs.runs[0];
    json_auto_t *sweep = json_string(run->imported ? "" : run->name);
    json_auto_t *deployment = json_string(run->facts.deployment);
    json_auto_t *corrected = json_string(run->corrected_by);

    html_open(html, "p");
    if (!run->imported) {
        html_text(html, "Part of the sweep ");
        page_cell_write(PAGE_ID, sweep, html);
        html_text(html, " on ");
        page_cell_write(PAGE_DEPLOYMENT, deployment, html);
        html_text(html, ". ");
    }
    if (run->corrected_by[0] != '\0') {
        html_element(html, "strong", "Corrected: use ");
        page_cell_write(PAGE_ID, corrected, html);
        html_text(html, " instead. ");
    }
    html_close(html, "p");
}

static void write_compare(const char *id, struct html *html)
{
    TEXT_AUTO url = { 0 };

    text_add(&url, "/compare");
    page_url_add(&url, "a", id);
    html_open(html, "p");
    html_element(html, "a", "Compare it with another run", { "href", text_string(&url) });
    html_close(html, "p");
}

bool run_page_write(const struct page_request *request, struct page_answer *answer,
                    struct error *error)
{
    struct html html = html_begin(&answer->body);
    REPORT_DOCUMENT_AUTO report = { 0 };
    const struct document *document = &report.document;
    TEXT_AUTO base = { 0 };

    if (!report_page_find(request, page_place(request, "id"), &report, error))
        return false;
    text_addf(&base, "/runs/%s", document->id);
    document_title(document, &answer->title);
    text_add(&answer->follows, document->id);
    html_open(&html, "div", { "class", "report" });
    document_write_head(document, &html);
    report_page_write_files(text_string(&base), "", ".html .csv .json", &html);
    write_links(&report, &html);
    report_page_write_part(&document->parts[0], text_string(&base), &html);
    write_compare(document->id, &html);
    document_write_origin(&document->parts[0], &html);
    html_close(&html, "div");
    html_finish(&html);
    return true;
}

/* ---- Files ---- */

/* Gets run_show's answer with all cells at once: in pages of 200 cells, a run with 10,000 cells
 * would have to be read 50 times. *out: a new reference. */
static CHECKED bool show_whole(const struct page_request *request, json_t **out,
                               struct error *error)
{
    const struct tool *tool = tool_find("run_show");
    json_auto_t *arguments = json_pack("{s:s, s:i, s:b}", "run", page_place(request, "id"), "limit",
                                       INT_MAX, "detail", 1);
    FREE_AUTO char *audited = audit_arguments(tool, arguments);
    struct call call = page_call_make(request);
    struct answer answer = { 0 };
    bool done;

    call_begin(&call, tool->name, audited);
    call.arguments = arguments;
    done = tool->run(&call, &answer, error);
    if (done) {
        answer_condense(tool, true, &answer);
        *out = json_incref(answer.structured);
    } else {
        call_refused(&call, error);
    }
    answer_finish(&answer);
    return done;
}

bool run_page_json(const struct page_request *request, struct page_answer *answer,
                   struct error *error)
{
    json_auto_t *shown = NULL;

    if (!show_whole(request, &shown, error))
        return false;
    answer->type = "application/json";
    json_add(&answer->body, shown);
    return true;
}

bool run_page_csv(const struct page_request *request, struct page_answer *answer,
                  struct error *error)
{
    return report_page_cells(request, "runs", answer, error);
}
