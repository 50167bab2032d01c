/* SPDX-License-Identifier: Apache-2.0 */
/* The page of one deployment, the same data as JSON, and the form that sets how often the
 * deployment's metrics are scraped. */

#include "base/json/json.h"
#include "web/deployment_pages.h"
#include "web/history.h"
#include "web/page_call.h"
#include "web/page_list.h"
#include "web/report_page.h"

static void write_cache(const struct page_request *request, const json_t *shown, struct html *html)
{
    const json_t *use = page_cell_member(shown, "load.kv_cache_use");

    (void)request;
    if (json_is_number(use))
        html_textf(html, "%.1f %%", 100 * json_number_value(use));
}

static const struct page_column facts[] = {
    { "State", "health.status", PAGE_STATE },
    { "Problem", "health.problem", PAGE_FOREIGN },
    { "Checked (UTC)", "health.checked_at", PAGE_TIME },
    { "URL", "deployment.url", PAGE_FOREIGN },
    { "Model", "model.id", PAGE_FOREIGN },
    { "Context, tokens", "model.context_tokens", PAGE_TEXT },
    { "Engine", "model.engine", PAGE_FOREIGN },
    { "Engine version", "model.engine_version", PAGE_FOREIGN },
    { "Hardware", "deployment.hardware", PAGE_FOREIGN },
    { "Chips", "deployment.chips", PAGE_TEXT },
    { "Region", "deployment.region", PAGE_FOREIGN },
    { "Quantization", "deployment.quantization", PAGE_FOREIGN },
    { "Model revision", "deployment.model_revision", PAGE_FOREIGN },
    { "Labels", "deployment.labels", PAGE_FOREIGN },
    { "Owner", "deployment.owner", PAGE_FOREIGN },
    { "Revision", "deployment.revision", PAGE_TEXT },
    { "Requests running", "load.requests_running", PAGE_TEXT },
    { "Requests waiting", "load.requests_waiting", PAGE_TEXT },
    { "KV cache in use", "load.kv_cache_use", .write = write_cache },
    { "Being measured by", "lease.purpose", PAGE_ID },
    { "Jobs waiting in line", "lease.waiting", PAGE_TEXT },
    { "Seconds between scrapes", "watch.interval_s", PAGE_TEXT },
    { "Last scrape error", "watch.last_error", PAGE_FOREIGN },
    { 0 },
};

static const struct page_column sweeps[] = {
    { "Sweep", "id", PAGE_ID },
    { "State", "state", PAGE_STATE },
    { "Cells done", "cells_done", PAGE_NUMBER },
    { "Cells in total", "cells_total", PAGE_NUMBER },
    { "Started by", "principal", PAGE_FOREIGN },
    { "Created (UTC)", "created_at", PAGE_TIME },
    { 0 },
};

static const struct page_column changes[] = {
    { "At (UTC)", "at", PAGE_TIME },       { "By", "principal", PAGE_FOREIGN },
    { "Tool", "tool", PAGE_TEXT },         { "Outcome", "outcome", PAGE_STATE },
    { "Changed", "changed", PAGE_CHANGE }, { 0 },
};

static void write_actions(const struct page_request *request, const char *name, bool is_watched,
                          struct html *html)
{
    TEXT_AUTO sweep = { 0 }, watch = { 0 };

    if (!page_may(request, ROLE_OPERATOR))
        return;
    text_add(&sweep, "/sweeps/new");
    page_url_add(&sweep, "deployment", name);
    text_add(&watch, "/deployments/");
    page_url_add_path(&watch, name);
    text_add(&watch, "/watch");
    html_open(html, "div", { "class", "row" });
    html_element(html, "a", "Plan a sweep", { "class", "button" }, { "href", text_string(&sweep) });
    page_form_begin(request, html, text_string(&watch));
    html_element(html, "button", is_watched ? "Stop storing its metrics" : "Store its metrics",
                 { "class", "quiet" }, { "name", "interval_s" },
                 { "value", is_watched ? "0" : "15" });
    html_close(html, "form");
    html_close(html, "div");
}

static void write_files(const char *name, struct html *html)
{
    TEXT_AUTO base = { 0 };

    text_add(&base, "/deployments/");
    page_url_add_path(&base, name);
    report_page_write_files(text_string(&base), "", ".json", html);
}

static void write_history(const struct page_request *request, const char *name, struct html *html)
{
    TEXT_AUTO url = { 0 };

    text_add(&url, "/history");
    page_url_add(&url, "deployment", name);
    html_element(html, "h2", "Last hour");
    history_write_chart(request, name, NULL, html);
    html_open(html, "p");
    html_element(html, "a", "More history", { "href", text_string(&url) });
    html_close(html, "p");
}

static CHECKED bool write_sweeps(const struct page_request *request, const char *name,
                                 struct html *html, struct error *error)
{
    json_auto_t *listed = NULL;

    if (!page_call_take(request, "sweep_list",
                        json_pack("{s:s, s:i}", "deployment", name, "limit", 10), &listed, error))
        return false;
    html_element(html, "h2", "Sweeps");
    page_list_write(request, "The newest sweeps", sweeps, json_object_get(listed, "sweeps"),
                    "This deployment has not been measured yet.", html);
    return true;
}

static CHECKED bool write_changes(const struct page_request *request, const char *name,
                                  struct html *html, struct error *error)
{
    json_auto_t *listed = NULL;

    if (!page_call_take(request, "audit_list",
                        json_pack("{s:s, s:i}", "subject", name, "limit", 10), &listed, error))
        return false;
    html_element(html, "h2", "Revisions and other changes");
    page_list_write(request, "The newest changes", changes, json_object_get(listed, "rows"),
                    "No changes are recorded.", html);
    return true;
}

bool deployment_page_show(const struct page_request *request, struct page_answer *answer,
                          struct error *error)
{
    const char *name = page_place(request, "name");
    struct html html = html_begin(&answer->body);
    json_auto_t *shown = NULL;
    double interval_s;

    if (!page_call_take(request, "deployment_show", json_pack("{s:s}", "deployment", name), &shown,
                        error))
        return false;
    interval_s = json_get_number(json_object_get(shown, "watch"), "interval_s", 0);
    text_add(&answer->title, name);
    text_add(&answer->follows, name);
    html_open(&html, "h1");
    html_name(&html, name);
    html_close(&html, "h1");
    page_list_facts(request, facts, shown, &html);
    write_files(name, &html);
    write_actions(request, name, interval_s > 0, &html);
    write_history(request, name, &html);
    if (!write_sweeps(request, name, &html, error) || !write_changes(request, name, &html, error))
        return false;
    html_finish(&html);
    return true;
}

/* Shows the page of the deployment whose name is "{name}.json". */
static CHECKED bool show_by_whole_name(const struct page_request *request,
                                       struct page_answer *answer, struct error *error)
{
    TEXT_AUTO name = { 0 };
    struct page_request whole = *request;
    struct page_value place;

    text_addf(&name, "%s.json", page_place(request, "name"));
    place = (struct page_value){ "name", text_string(&name) };
    whole.places = (struct page_values){ &place, 1 };
    return deployment_page_show(&whole, answer, error);
}

bool deployment_page_json(const struct page_request *request, struct page_answer *answer,
                          struct error *error)
{
    struct error ignored;

    return page_call_answer_take(request, "deployment_show",
                                 json_pack("{s:s}", "deployment", page_place(request, "name")),
                                 answer, error)
           || (error->kind == ERROR_NOT_FOUND && show_by_whole_name(request, answer, &ignored));
}

bool deployment_page_watch(const struct page_request *request, struct page_answer *answer,
                           struct error *error)
{
    const char *name = page_place(request, "name"), *interval = page_form(request, "interval_s");
    json_auto_t *watched = NULL;
    int64_t interval_s = 15;

    if (interval != NULL && !text_to_integer(interval, 0, 86400, &interval_s))
        return error_set(error, ERROR_INVALID,
                         "interval_s is \"%.20s\", but must be a whole number from 0 to 86400",
                         interval);
    if (!page_call_take(
            request, "metrics_watch",
            json_pack("{s:s, s:I}", "deployment", name, "interval_s", (json_int_t)interval_s),
            &watched, error))
        return false;
    text_add(&answer->location, "/deployments/");
    page_url_add_path(&answer->location, name);
    return true;
}
