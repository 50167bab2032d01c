/* SPDX-License-Identifier: Apache-2.0 */
#include "web/overview.h"

#include <string.h>

#include "base/json/json.h"
#include "web/ask_page.h"
#include "web/job_pages.h"
#include "web/page_call.h"
#include "web/page_list.h"
#include "web/plan_page.h"

#define TILES_MAX 12
#define RECENT_MINUTES 5 /* a deployment's load: the newest figures from this period */

/* ---- Deployments ---- */

static const struct {
    const char *metric, *words;
    bool is_share; /* shown in percent */
} loads[] = {
    { "requests_running", "running" },
    { "requests_waiting", "waiting" },
    { "output_tokens_per_s", "output tokens/s" },
    { "kv_cache_use", "of the KV cache", .is_share = true },
};

static const json_t *find_figure(const json_t *history, const char *metric)
{
    const json_t *figure;
    size_t i;

    json_array_foreach(json_object_get(history, "figures"), i, figure)
        if (strcmp(json_get_text(figure, "metric", ""), metric) == 0)
            return figure;
    return NULL;
}

static void write_figure(const json_t *figure, const char *words, bool is_share, struct html *html)
{
    double latest = json_get_number(figure, "latest", 0);

    html_open(html, "li");
    if (is_share)
        html_textf(html, "%.0f %% %s", 100 * latest, words);
    else
        html_textf(html, "%.3g %s", latest, words);
    html_close(html, "li");
}

/* Writes the load from stored metrics: opening the overview queries no model server. */
static void write_load(const struct page_request *request, const char *name, struct html *html)
{
    json_auto_t *history = NULL;
    struct error ignored;
    size_t found = 0;

    html_open(html, "ul", { "class", "load" });
    if (page_call_take(request, "metrics_history",
                       json_pack("{s:s, s:i}", "deployment", name, "minutes", RECENT_MINUTES),
                       &history, &ignored))
        for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
            const json_t *figure = find_figure(history, loads[i].metric);

            found += figure != NULL;
            if (figure != NULL)
                write_figure(figure, loads[i].words, loads[i].is_share, html);
        }
    if (found == 0)
        html_element(html, "li", "no recent load data", { "class", "soft" });
    html_close(html, "ul");
}

static void write_tile(const struct page_request *request, const json_t *deployment,
                       struct html *html)
{
    html_open(html, "li", { "class", "tile" });
    html_open(html, "h3");
    page_cell_write(PAGE_DEPLOYMENT, json_object_get(deployment, "name"), html);
    html_close(html, "h3");
    html_open(html, "div", { "class", "soft" });
    page_cell_write(PAGE_FOREIGN, page_cell_member(deployment, "model"), html);
    html_text(html, " ");
    page_cell_write(PAGE_FOREIGN, page_cell_member(deployment, "hardware"), html);
    html_close(html, "div");
    write_load(request, json_get_text(deployment, "name", ""), html);
    html_close(html, "li");
}

static void write_tiles(const struct page_request *request, const json_t *deployments,
                        struct html *html)
{
    size_t count = json_array_size(deployments);

    html_element(html, "h2", "Deployments");
    html_open(html, "ul", { "class", "tiles" });
    for (size_t i = 0; i < count && i < TILES_MAX; i++)
        write_tile(request, json_array_get(deployments, i), html);
    html_close(html, "ul");
    if (count > TILES_MAX)
        html_element(html, "a", "All deployments", { "href", "/deployments" });
}

static void write_first_steps(const struct page_request *request, struct html *html)
{
    html_element(html, "p", "No model servers are registered.", { "class", "soft" });
    if (!page_may(request, ROLE_OPERATOR))
        return;
    html_open(html, "p");
    html_element(html, "a", "Register a deployment", { "class", "button" },
                 { "href", "/register" });
    html_close(html, "p");
}

/* ---- Jobs ---- */

static CHECKED bool write_jobs(const struct page_request *request, const char *state,
                               const char *heading, size_t *found, struct html *html,
                               struct error *error)
{
    json_t *arguments = json_pack("{s:s, s:i}", "state", state, "limit", 10);
    json_auto_t *listed = NULL;
    const json_t *jobs;

    if (strcmp(state, "failed") == 0)
        json_object_set_new(arguments, "since", json_string("24h"));
    if (!page_call_take(request, "job_list", arguments, &listed, error))
        return false;
    jobs = json_object_get(listed, "jobs");
    *found += json_array_size(jobs);
    if (json_array_size(jobs) == 0)
        return true;
    html_element(html, "h2", heading);
    job_page_table(request, heading, jobs, "", html);
    return true;
}

/* Writes the questions that wait for the user's answer, the plans that have not begun, the running
 * and waiting jobs, and the failed jobs that were created in the last 24 hours: at most 10 jobs in
 * each state. */
static CHECKED bool write_work(const struct page_request *request, struct html *html,
                               struct error *error)
{
    size_t found = 0;

    if (!ask_page_list(request, &found, html, error)
        || !plan_page_list(request, &found, html, error)
        || !write_jobs(request, "waiting", "Waiting for a user's answer", &found, html, error)
        || !write_jobs(request, "failed", "Failed jobs created in the last 24 hours", &found, html,
                       error)
        || !write_jobs(request, "running", "Running now", &found, html, error)
        || !write_jobs(request, "queued", "Waiting for their turn", &found, html, error))
        return false;
    if (found == 0)
        html_element(
            html, "p",
            "Nothing is running or waiting, and no job created in the last 24 hours has failed.",
            { "class", "state good" });
    return true;
}

bool overview_write(const struct page_request *request, struct page_answer *answer,
                    struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL;
    const json_t *deployments;

    if (!page_call_take(request, "deployment_list", json_pack("{s:i}", "limit", TILES_MAX + 1),
                        &listed, error))
        return false;
    deployments = json_object_get(listed, "deployments");
    text_add(&answer->title, "Overview");
    text_add(&answer->follows, "* *load");
    html_element(&html, "h1", "Overview");
    if (!write_work(request, &html, error))
        return false;
    if (json_array_size(deployments) > 0)
        write_tiles(request, deployments, &html);
    else
        write_first_steps(request, &html);
    html_finish(&html);
    return true;
}
