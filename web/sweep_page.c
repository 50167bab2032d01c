/* SPDX-License-Identifier: Apache-2.0 */
#include "web/sweep_page.h"

#include <stdio.h>
#include <string.h>

#include "analysis/document/document_parts.h"
#include "base/json/json.h"
#include "web/page_call.h"
#include "web/page_list.h"
#include "web/report_page.h"

static void write_progress(const struct page_request *request, const json_t *sweep,
                           struct html *html)
{
    char done[24], total[24];

    (void)request;
    snprintf(done, sizeof done, "%lld", (long long)json_get_integer(sweep, "cells_done", 0));
    snprintf(total, sizeof total, "%lld", (long long)json_get_integer(sweep, "cells_total", 0));
    html_element(html, "progress", "", { "value", done }, { "max", total },
                 { "aria-label", "Cells done" });
    html_textf(html, " %s of %s cells", done, total);
}

/* ---- The list ---- */

static const char *const filters[] = { "deployment", NULL };

static const struct page_column columns[] = {
    { "Sweep", "id", PAGE_ID },
    { "State", "state", PAGE_STATE },
    { "Deployment", "deployment", PAGE_DEPLOYMENT },
    { "Against", "candidate", PAGE_DEPLOYMENT },
    { "Progress", .write = write_progress },
    { "Started by", "principal", PAGE_FOREIGN },
    { "Created (UTC)", "created_at", PAGE_TIME },
    { 0 },
};

bool sweeps_page_write(const struct page_request *request, struct page_answer *answer,
                       struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL;

    if (!page_call_take(request, "sweep_list", page_list_arguments(request, filters), &listed,
                        error))
        return false;
    text_add(&answer->title, "Sweeps");
    text_add(&answer->follows, "*");
    html_element(&html, "h1", "Sweeps");
    page_list_filter(request, "sweep_list", filters, &html);
    page_list_write(request, "Sweeps, newest first", columns, json_object_get(listed, "sweeps"),
                    "No matching sweeps.", &html);
    page_list_navigation(request, listed, &html);
    html_finish(&html);
    return true;
}

/* ---- While it runs ---- */

static void write_cancel(const struct page_request *request, const json_t *sweep, struct html *html)
{
    TEXT_AUTO action = { 0 };

    if (!page_may_cancel(request, json_get_text(sweep, "principal", "")))
        return;
    text_addf(&action, "/sweeps/%s/cancel", json_get_text(sweep, "id", ""));
    page_form_begin(request, html, text_string(&action));
    html_element(html, "button", "Cancel the sweep", { "class", "danger" });
    html_close(html, "form");
}

/* Writes the progress and the job's message, such as "cell 5 of 6: 4 users x 1024 tokens,
 * measuring; 15 s left". */
static void write_running(const struct page_request *request, const json_t *shown,
                          struct html *html)
{
    const json_t *sweep = json_object_get(shown, "sweep"), *job = json_object_get(shown, "job");

    html_open(html, "p");
    write_progress(request, sweep, html);
    html_close(html, "p");
    html_open(html, "p", { "role", "status" });
    html_name(html, json_get_text(job, "message", json_get_text(job, "state", "")));
    html_close(html, "p");
    write_cancel(request, sweep, html);
}

static void write_state(const json_t *sweep, struct html *html)
{
    const char *reason = json_get_text(sweep, "reason", "");

    html_open(html, "p");
    page_cell_write(PAGE_STATE, json_object_get(sweep, "state"), html);
    if (reason[0] != '\0') {
        html_text(html, ": ");
        html_name(html, reason);
    }
    html_text(html, " \xc2\xb7 on ");
    page_cell_write(PAGE_DEPLOYMENT, json_object_get(sweep, "deployment"), html);
    if (json_object_get(sweep, "candidate") != NULL) {
        html_text(html, " against ");
        page_cell_write(PAGE_DEPLOYMENT, json_object_get(sweep, "candidate"), html);
    }
    html_close(html, "p");
}

/* ---- The report, or what is measured so far ---- */

static void write_runs(const struct document_part *part, struct html *html)
{
    html_open(html, "p");
    html_text(html, "Runs: ");
    for (size_t i = 0; i < part->runs.count; i++) {
        json_auto_t *id = json_string(part->runs.runs[i].id);

        html_text(html, i > 0 ? ", " : "");
        page_cell_write(PAGE_ID, id, html);
    }
    html_close(html, "p");
}

static void write_name(const struct document_part *part, struct html *html)
{
    if (part->name == NULL)
        return;
    html_open(html, "h2");
    html_name(html, part->name);
    html_close(html, "h2");
}

/* Adds the base path of a part's chart files. The sweep's own chart files show its first
 * deployment, so the part about the second deployment links to the files of that deployment's first
 * run. */
static void add_base(const struct document *document, size_t part, struct text *out)
{
    if (part == 0)
        text_addf(out, "/sweeps/%s", document->id);
    else
        text_addf(out, "/runs/%s", document->parts[part].runs.runs[0].id);
}

/* `version` changes with the measured cells; NULL: the sweep has ended. */
static void write_report(const struct document *document, const char *version, struct html *html)
{
    if (document->comparison != NULL)
        document_write_comparison(document->comparison, REPORT_PAGE_CHART_BYTES, html);
    for (size_t i = 0; i < document->part_count; i++) {
        const struct document_part *part = &document->parts[i];
        TEXT_AUTO base = { 0 };

        add_base(document, i, &base);
        write_name(part, html);
        if (version == NULL)
            report_page_write_part(part, text_string(&base), html);
        else
            report_page_write_progress(part, text_string(&base), version, html);
        write_runs(part, html);
    }
    document_write_origin(&document->parts[0], html);
}

static bool is_over(const json_t *sweep)
{
    const char *state = json_get_text(sweep, "state", "");

    return strcmp(state, "planned") != 0 && strcmp(state, "running") != 0;
}

static void write_page(const struct page_request *request, const struct document *document,
                       const json_t *shown, struct html *html)
{
    const json_t *sweep = json_object_get(shown, "sweep");
    TEXT_AUTO base = { 0 };
    TEXT_AUTO version = { 0 };

    text_addf(&base, "/sweeps/%s", document->id);
    text_add_integer(&version, json_get_integer(sweep, "cells_done", 0));
    document_write_head(document, html);
    write_state(sweep, html);
    if (!is_over(sweep))
        write_running(request, shown, html);
    report_page_write_files(text_string(&base), "", ".html .csv .json", html);
    write_report(document, is_over(sweep) ? NULL : text_string(&version), html);
}

bool sweep_page_write(const struct page_request *request, struct page_answer *answer,
                      struct error *error)
{
    const char *id = page_place(request, "id");
    struct html html = html_begin(&answer->body);
    REPORT_DOCUMENT_AUTO report = { 0 };
    json_auto_t *shown = NULL;

    if (!page_call_take(request, "sweep_show", json_pack("{s:s, s:i}", "sweep", id, "limit", 1),
                        &shown, error)
        || !report_page_find(request, id, &report, error))
        return false;
    text_add(&answer->title, "Sweep of ");
    text_add(&answer->title, json_get_text(json_object_get(shown, "sweep"), "deployment", ""));
    text_add(&answer->follows, report.document.id);
    html_open(&html, "div", { "class", "report" });
    write_page(request, &report.document, shown, &html);
    html_close(&html, "div");
    html_finish(&html);
    return true;
}

bool sweep_page_json(const struct page_request *request, struct page_answer *answer,
                     struct error *error)
{
    return page_call_answer_take(request, "run_report",
                                 json_pack("{s:s}", "sweep", page_place(request, "id")), answer,
                                 error);
}

bool sweep_page_csv(const struct page_request *request, struct page_answer *answer,
                    struct error *error)
{
    return report_page_cells(request, "sweeps", answer, error);
}

bool sweep_page_cancel_submit(const struct page_request *request, struct page_answer *answer,
                              struct error *error)
{
    const char *id = page_place(request, "id");
    json_auto_t *cancelled = NULL;

    if (!page_call_take(request, "sweep_cancel", json_pack("{s:s}", "sweep", id), &cancelled,
                        error))
        return false;
    text_add(&answer->location, "/sweeps/");
    page_url_add_path(&answer->location, id);
    return true;
}
