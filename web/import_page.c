/* SPDX-License-Identifier: Apache-2.0 */
#include "web/import_page.h"

#include <string.h>

#include "base/json/json.h"
#include "web/page_call.h"
#include "web/page_list.h"
#include "web/param_form.h"

static const char *const no_filters[] = { NULL };
static const char *const omitted[] = { "text", "run", "name", "idempotency_key", "options", NULL };

/* ---- The form, and earlier imports ---- */

static const struct page_column columns[] = {
    { "Run", "id", PAGE_ID },
    { "File", "source.file", PAGE_FOREIGN },
    { "Format", "source.format", PAGE_TEXT },
    { "Deployment", "deployment", PAGE_DEPLOYMENT },
    { "Cells", "cells_total", PAGE_NUMBER },
    { "Imported (UTC)", "created_at", PAGE_TIME },
    { 0 },
};

static void write_form(const struct page_request *request, struct html *html)
{
    page_file_form_begin(request, html, "/imports");
    html_open(html, "label");
    html_text(html, "File");
    html_element(html, "span",
                 "Results from vLLM, SGLang, GuideLLM, AIPerf, llama-bench and others, or a CSV "
                 "file; at most 64 MiB. Choose a file, or drop it here.",
                 { "class", "hint" });
    html_open(html, "input", { "type", "file" }, { "name", "file" }, { "required", "" });
    html_close(html, "label");
    param_form_write(request, tool_find("run_import"), omitted, html);
    html_open(html, "p");
    html_element(html, "button", "Import");
    html_close(html, "p");
    html_close(html, "form");
}

/* New reference. */
static json_t *choose_imported(const json_t *runs)
{
    json_t *imported = json_array(), *run;
    size_t i;

    json_array_foreach(runs, i, run)
        if (json_get_boolean(run, "imported", false))
            json_array_append(imported, run);
    return imported;
}

static CHECKED bool write_page(const struct page_request *request, const char *why,
                               struct page_answer *answer, struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL, *imported = NULL;

    if (!page_call_take(request, "run_list", page_list_arguments(request, no_filters), &listed,
                        error))
        return false;
    imported = choose_imported(json_object_get(listed, "runs"));
    text_add(&answer->title, "Imports");
    html_element(&html, "h1", "Imports");
    if (why != NULL)
        html_element(&html, "p", why, { "class", "error" }, { "role", "alert" });
    if (page_may(request, ROLE_OPERATOR))
        write_form(request, &html);
    html_element(&html, "h2", "Imported");
    page_list_write(request, "Imported files, newest first", columns, imported,
                    "No imported files on this page.", &html);
    page_list_navigation(request, listed, &html);
    html_finish(&html);
    return true;
}

bool import_page_write(const struct page_request *request, struct page_answer *answer,
                       struct error *error)
{
    return write_page(request, NULL, answer, error);
}

/* ---- The import ---- */

static const struct page_column facts[] = {
    { "Run", "run.id", PAGE_ID },
    { "File", "run.source.file", PAGE_FOREIGN },
    { "Format", "run.source.format", PAGE_TEXT },
    { "Cells", "run.cells_total", PAGE_NUMBER },
    { "Unit of input lengths", "import.input_unit", PAGE_TEXT },
    { "Notes", "import.notes", PAGE_FOREIGN },
    { 0 },
};

static void write_list(const char *heading, const json_t *items, struct html *html)
{
    const json_t *item;
    size_t i;

    if (json_array_size(items) == 0)
        return;
    html_element(html, "h2", heading);
    html_open(html, "ul");
    json_array_foreach(items, i, item) {
        html_open(html, "li");
        page_cell_write(PAGE_FOREIGN, item, html);
        html_close(html, "li");
    }
    html_close(html, "ul");
}

static void write_facts(const json_t *import, struct html *html)
{
    const char *name;
    json_t *value;

    html_element(html, "h2", "Facts");
    html_open(html, "dl", { "class", "facts" });
    json_object_foreach(json_object_get(import, "facts"), name, value) {
        html_open(html, "dt");
        html_name(html, name);
        html_close(html, "dt");
        html_open(html, "dd");
        page_cell_write(PAGE_FOREIGN, value, html);
        html_close(html, "dd");
    }
    html_close(html, "dl");
}

static void write_imported(const struct page_request *request, const json_t *imported,
                           struct page_answer *answer)
{
    struct html html = html_begin(&answer->body);
    const json_t *import = json_object_get(imported, "import");
    TEXT_AUTO url = { 0 };

    text_add(&answer->title, "Imported");
    html_element(&html, "h1", "Imported");
    if (json_get_boolean(imported, "already_known", false))
        html_element(&html, "p", "This file was imported before.", { "class", "note" });
    page_list_facts(request, facts, imported, &html);
    page_cell_url(json_get_text(json_object_get(imported, "run"), "id", ""), &url);
    html_open(&html, "p");
    html_element(&html, "a", "Open the report", { "class", "button" },
                 { "href", text_string(&url) });
    html_close(&html, "p");
    write_list("Remarks from the import: what was assumed, and what was not read",
               json_object_get(import, "remarks"), &html);
    write_list("Also imported as", json_object_get(import, "other_names"), &html);
    write_facts(import, &html);
    html_finish(&html);
}

static json_t *arguments_of(const struct page_request *request)
{
    json_t *arguments = param_form_read(request, tool_find("run_import"), omitted);

    if (page_form(request, "file") != NULL)
        json_object_set_new(arguments, "name", json_string(page_form(request, "file")));
    return arguments;
}

/* Shows the page again, with the error. */
static CHECKED bool show_refusal(const struct page_request *request, const char *why,
                                 struct page_answer *answer, struct error *error)
{
    answer->status = 422;
    return write_page(request, why, answer, error);
}

bool import_page_submit(const struct page_request *request, struct page_answer *answer,
                        struct error *error)
{
    json_auto_t *imported = NULL;
    struct error problem;

    if (request->file == NULL)
        return show_refusal(request, "Choose a file first.", answer, error);
    if (page_call_take(request, "run_import", arguments_of(request), &imported, &problem)) {
        write_imported(request, imported, answer);
        return true;
    }
    *error = problem;
    return problem.kind != ERROR_INTERNAL && show_refusal(request, problem.message, answer, error);
}
