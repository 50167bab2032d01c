/* SPDX-License-Identifier: Apache-2.0 */
#include "web/job_pages.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "store/ledger/jobs.h"
#include "web/page_call.h"
#include "web/page_list.h"

static const char *const filters[] = { "state", "principal", NULL };

static void write_progress(const struct page_request *request, const json_t *job, struct html *html)
{
    double done = json_get_number(job, "progress", 0);
    double total = json_get_number(job, "progress_total", 0);
    char value[32], most[32];

    (void)request;
    if (!(total > 0))
        return;
    snprintf(value, sizeof value, "%.6g", done);
    snprintf(most, sizeof most, "%.6g", total);
    html_element(html, "progress", "", { "value", value }, { "max", most },
                 { "aria-label", "Progress" });
    html_textf(html, " %.6g of %.6g", done, total);
}

static void write_reason(const json_t *job, struct html *html)
{
    const json_t *outcome = json_object_get(job, "outcome");

    html_name(html, json_get_text(outcome, "error", json_get_text(outcome, "reason", "")));
}

/* Writes what the job is doing now or, after it has ended, the error or reason from its outcome, if
 * there is one. Rows from job_list have no outcome, so a failed job's outcome is read with
 * job_show. */
static void write_message(const struct page_request *request, const json_t *job, struct html *html)
{
    const char *message = json_get_text(job, "message", "");
    bool lacks_outcome = strcmp(json_get_text(job, "state", ""), "failed") == 0
                         && json_object_get(job, "outcome") == NULL;
    json_auto_t *shown = NULL;
    struct error ignored;

    if (message[0] != '\0')
        html_name(html, message);
    else if (lacks_outcome
             && page_call_take(request, "job_show",
                               json_pack("{s:s}", "job", json_get_text(job, "id", "")), &shown,
                               &ignored))
        write_reason(json_object_get(shown, "job"), html);
    else
        write_reason(job, html);
}

static bool is_over(const json_t *job)
{
    struct job shown = { 0 };

    return job_state_find(json_get_text(job, "state", ""), &shown.state) && job_is_over(&shown);
}

static void write_cancel(const struct page_request *request, const json_t *job, struct html *html)
{
    TEXT_AUTO action = { 0 };

    if (is_over(job) || !page_may_cancel(request, json_get_text(job, "principal", "")))
        return;
    text_add(&action, "/jobs/");
    page_url_add_path(&action, json_get_text(job, "id", ""));
    text_add(&action, "/cancel");
    page_form_begin(request, html, text_string(&action));
    html_element(html, "button", "Cancel", { "class", "danger" });
    html_close(html, "form");
}

static const struct page_column columns[] = {
    { "Job", "id", PAGE_ID },
    { "State", "state", PAGE_STATE },
    { "Kind", "kind", PAGE_TEXT },
    { "Subject", "subject", PAGE_ID },
    { "Progress", .write = write_progress },
    { "Message", .write = write_message },
    { "Started by", "principal", PAGE_FOREIGN },
    { "Created (UTC)", "created_at", PAGE_TIME },
    { "Action", .write = write_cancel },
    { 0 },
};

void job_page_table(const struct page_request *request, const char *caption, const json_t *jobs,
                    const char *none, struct html *html)
{
    page_list_write(request, caption, columns, jobs, none, html);
}

bool job_page_list(const struct page_request *request, struct page_answer *answer,
                   struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL;

    if (!page_call_take(request, "job_list", page_list_arguments(request, filters), &listed, error))
        return false;
    text_add(&answer->title, "Jobs");
    text_add(&answer->follows, "*");
    html_element(&html, "h1", "Jobs");
    page_list_filter(request, "job_list", filters, &html);
    job_page_table(request, "Jobs, newest first", json_object_get(listed, "jobs"),
                   "No matching jobs.", &html);
    page_list_navigation(request, listed, &html);
    html_finish(&html);
    return true;
}

bool job_page_show(const struct page_request *request, struct page_answer *answer,
                   struct error *error)
{
    const char *id = page_place(request, "id");
    struct html html = html_begin(&answer->body);
    json_auto_t *shown = NULL, *rows = json_array();
    const json_t *job;

    if (!page_call_take(request, "job_show", json_pack("{s:s}", "job", id), &shown, error))
        return false;
    job = json_object_get(shown, "job");
    page_cell_url(json_get_text(job, "subject", ""), &answer->location);
    text_add(&answer->title, "Job");
    text_add(&answer->follows, id);
    html_element(&html, "h1", "Job");
    json_array_append(rows, json_iterable(job));
    job_page_table(request, "The job", rows, "", &html);
    html_finish(&html);
    return true;
}

bool job_page_json(const struct page_request *request, struct page_answer *answer,
                   struct error *error)
{
    return page_call_answer_take(
        request, "job_show", json_pack("{s:s}", "job", page_place(request, "id")), answer, error);
}

bool job_page_cancel(const struct page_request *request, struct page_answer *answer,
                     struct error *error)
{
    json_auto_t *cancelled = NULL;

    if (!page_call_take(request, "job_cancel", json_pack("{s:s}", "job", page_place(request, "id")),
                        &cancelled, error))
        return false;
    text_add(&answer->location, "/jobs");
    return true;
}
