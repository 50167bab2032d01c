/* SPDX-License-Identifier: Apache-2.0 */
#include "web/compare_page.h"

#include <string.h>

#include "analysis/document/document_parts.h"
#include "base/core/memory.h"
#include "handlers/audit_arguments.h"
#include "handlers/call.h"
#include "web/page_call.h"
#include "web/page_list.h"
#include "web/report_page.h"

/* The comparison's chart and cells are written only as far as they fit before the page has this
 * many bytes. */
#define COMPARISON_BYTES_MAX 110000

/* ---- The request ---- */

static void set_list(const struct page_request *request, const char *query, const char *name,
                     json_t *arguments)
{
    json_t *list = report_page_names(page_query(request, query));

    if (list != NULL)
        json_object_set_new(arguments, name, list);
}

/* Returns the arguments for run_compare. New reference. */
static json_t *arguments_of(const struct page_request *request)
{
    json_t *arguments = json_object();
    const char *metric = page_query(request, "metric");

    if (page_query(request, "b") == NULL) {
        json_object_set_new(arguments, "sweep", json_string(page_query(request, "a")));
    } else {
        set_list(request, "a", "baseline", arguments);
        set_list(request, "b", "candidate", arguments);
    }
    if (metric != NULL)
        json_object_set_new(arguments, "metric", json_string(metric));
    set_list(request, "factors", "factors", arguments);
    set_list(request, "accept_unknown", "accept_unknown", arguments);
    if (page_query(request, "keep_wrong") != NULL)
        json_object_set_new(arguments, "keep_wrong", json_true());
    return arguments;
}

static CHECKED bool compare(const struct page_request *request, struct report_document *out,
                            struct error *error)
{
    const struct tool *tool = tool_find("run_compare");
    json_auto_t *arguments = arguments_of(request);
    FREE_AUTO char *audited = audit_arguments(tool, arguments);
    struct call call = page_call_make(request);
    bool done;

    call_begin(&call, tool->name, audited);
    done = report_document_compare(&call, arguments, out, error);
    if (!done)
        call_refused(&call, error);
    return done;
}

/* ---- The form ---- */

static void write_field(const struct page_request *request, const char *name, const char *label,
                        const char *hint, struct html *html)
{
    html_open(html, "label");
    html_text(html, label);
    html_element(html, "span", hint, { "class", "hint" });
    html_open(html, "input", { "type", "text" }, { "name", name },
              { "value", page_query(request, name) });
    html_close(html, "label");
}

static void write_metrics(const struct page_request *request, struct html *html)
{
    const char *chosen = page_query(request, "metric");

    html_open(html, "label");
    html_text(html, "By");
    html_open(html, "br");
    html_open(html, "select", { "name", "metric" });
    for (size_t i = 0; compare_metric_names[i] != NULL; i++) {
        bool is_chosen = chosen != NULL && strcmp(chosen, compare_metric_names[i]) == 0;

        html_element(html, "option", compare_metric_names[i],
                     { "selected", is_chosen ? "" : NULL });
    }
    html_close(html, "select");
    html_close(html, "label");
}

static void write_form(const struct page_request *request, struct html *html)
{
    html_open(html, "form", { "method", "get" }, { "action", "/compare" });
    write_field(request, "a", "Baseline",
                "A run, an import or a sweep. For an A/B sweep, leave the candidate empty.", html);
    write_field(request, "b", "Candidate",
                "What to compare the baseline with. Separate several ids with commas.", html);
    write_metrics(request, html);
    write_field(request, "factors", "Meant to differ",
                "Facts such as hardware, separated by commas.", html);
    write_field(request, "accept_unknown", "Allowed to be unknown", "Facts, separated by commas.",
                html);
    html_open(html, "p");
    html_element(html, "button", "Compare");
    html_close(html, "p");
    html_close(html, "form");
}

/* ---- The page ---- */

static void add_query(const struct page_request *request, struct text *out)
{
    static const char *const names[] = { "a",         "b", "metric", "factors", "accept_unknown",
                                         "keep_wrong" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        page_url_add(out, names[i], page_query(request, names[i]));
}

static void write_files(const struct page_request *request, struct html *html)
{
    TEXT_AUTO query = { 0 };

    add_query(request, &query);
    report_page_write_files("/compare", text_string(&query), ".html .json", html);
    report_page_write_files("/compare/forest", text_string(&query), REPORT_PAGE_CHART_ENDS, html);
}

/* Appends the names of the facts that prevent the comparison, separated by commas: those that
 * differ or, if `unknown`, those that are unknown for at least one of the two runs. */
static void add_refused(const struct comparison *comparison, bool unknown, struct text *out)
{
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const struct difference *difference = &comparison->differences[i];

        if (!difference->allowed && (difference->known_count < 2) == unknown)
            text_addf(out, "%s%s", out->length > 0 ? "," : "", difference->fact);
    }
}

/* Writes a link to the same comparison, but with the refused differences allowed. */
static void write_override(const struct page_request *request, const struct comparison *comparison,
                           struct html *html)
{
    TEXT_AUTO factors = { 0 };
    TEXT_AUTO accepted = { 0 };
    TEXT_AUTO url = { 0 };

    if (comparison->refused == 0)
        return;
    if (page_query(request, "factors") != NULL)
        text_add(&factors, page_query(request, "factors"));
    if (page_query(request, "accept_unknown") != NULL)
        text_add(&accepted, page_query(request, "accept_unknown"));
    add_refused(comparison, false, &factors);
    add_refused(comparison, true, &accepted);
    text_add(&url, "/compare");
    page_url_add(&url, "a", page_query(request, "a"));
    page_url_add(&url, "b", page_query(request, "b"));
    page_url_add(&url, "metric", page_query(request, "metric"));
    page_url_add(&url, "factors", page_text(&factors));
    page_url_add(&url, "accept_unknown", page_text(&accepted));
    page_url_add(&url, "keep_wrong", page_query(request, "keep_wrong"));
    html_open(html, "p", { "class", "note" });
    html_text(html, "If these differences are what you want to compare, or do not matter: ");
    html_element(html, "a", "compare anyway", { "href", text_string(&url) });
    html_text(html, ".");
    html_close(html, "p");
}

static void write_sides(const struct document *document, struct html *html)
{
    for (size_t i = 0; i < document->part_count; i++) {
        const struct document_part *part = &document->parts[i];

        html_open(html, "h2");
        html_name(html, part->name);
        html_close(html, "h2");
        html_open(html, "p");
        for (size_t r = 0; r < part->runs.count; r++) {
            json_auto_t *id = json_string(part->runs.runs[r].id);

            html_text(html, r > 0 ? ", " : "");
            page_cell_write(PAGE_ID, id, html);
        }
        html_close(html, "p");
        document_write_audit(part, html);
    }
}

static CHECKED bool write_comparison(const struct page_request *request, struct page_answer *answer,
                                     struct html *html, struct error *error)
{
    REPORT_DOCUMENT_AUTO report = { 0 };

    if (!compare(request, &report, error))
        return false;
    document_title(&report.document, &answer->title);
    html_open(html, "div", { "class", "report" });
    document_write_head(&report.document, html);
    write_files(request, html);
    document_write_comparison(&report.comparison, COMPARISON_BYTES_MAX, html);
    write_override(request, &report.compared.comparison, html);
    write_sides(&report.document, html);
    html_element(html, "h2", "Compare others");
    write_form(request, html);
    html_close(html, "div");
    return true;
}

bool compare_page_write(const struct page_request *request, struct page_answer *answer,
                        struct error *error)
{
    const char *a = page_query(request, "a"), *b = page_query(request, "b");
    bool is_complete = a != NULL && (b != NULL || strncmp(a, "swp_", 4) == 0);
    struct html html = html_begin(&answer->body);

    if (is_complete && !write_comparison(request, answer, &html, error))
        return false;
    if (!is_complete) {
        text_add(&answer->title, "Compare");
        html_element(&html, "h1", "Compare");
        write_form(request, &html);
    }
    html_finish(&html);
    return true;
}

bool compare_page_json(const struct page_request *request, struct page_answer *answer,
                       struct error *error)
{
    return page_call_answer_take(request, "run_compare", arguments_of(request), answer, error);
}

bool compare_page_file(const struct page_request *request, struct page_answer *answer,
                       struct error *error)
{
    REPORT_DOCUMENT_AUTO report = { 0 };

    if (page_query(request, "a") == NULL)
        return error_set(error, ERROR_INVALID,
                         "give the ids to compare as \"a\" and \"b\": run_..., imp_... or swp_...");
    if (!compare(request, &report, error))
        return false;
    report_page_save(&report, "comparison", answer);
    return true;
}
