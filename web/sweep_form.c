/* SPDX-License-Identifier: Apache-2.0 */
#include "web/sweep_form.h"

#include "base/json/json.h"
#include "handlers/answer.h"
#include "web/page_call.h"
#include "web/page_list.h"
#include "web/param_form.h"

static const char *const omitted[] = { "plan_digest", "idempotency_key", "options", NULL };
static const char *const none_omitted[] = { NULL };

static const struct tool *plan_tool(void)
{
    return tool_find("sweep_plan");
}

static void write_form(const struct page_request *request, const char *why,
                       struct page_answer *answer)
{
    struct html html = html_begin(&answer->body);

    text_add(&answer->title, "Plan a sweep");
    html_element(&html, "h1", "Plan a sweep");
    html_element(
        &html, "p",
        "If you enter only a deployment, the sweep finds out where that deployment saturates. "
        "Nothing is sent to the model server before you have seen the plan.");
    if (why != NULL)
        html_element(&html, "p", why, { "class", "error" }, { "role", "alert" });
    page_form_begin(request, &html, "/sweeps/new");
    param_form_write(request, plan_tool(), omitted, &html);
    html_open(&html, "p");
    html_element(&html, "button", "Show the plan", { "name", "step" }, { "value", "plan" });
    html_close(&html, "p");
    html_close(&html, "form");
    html_finish(&html);
}

/* ---- The plan ---- */

static void write_duration(const struct page_request *request, const json_t *plan,
                           struct html *html)
{
    char shown[DURATION_SHOWN_SIZE];

    (void)request;
    html_text(html, "at most ");
    html_text(html, answer_duration(json_get_number(plan, "duration_s", 0), shown));
}

static const struct page_column facts[] = {
    { "Deployment", "deployment", PAGE_DEPLOYMENT },
    { "Candidate", "candidate", PAGE_DEPLOYMENT },
    { "Duration", .write = write_duration },
    { "Cells", "cells", PAGE_NUMBER },
    { "Maximum requests", "requests", PAGE_NUMBER },
    { "Maximum input tokens", "input_tokens", PAGE_NUMBER },
    { "Maximum output tokens", "output_tokens", PAGE_NUMBER },
    { "Cells that do not fit in the context", "infeasible_cells", PAGE_NUMBER },
    { "Assumption", "assumption", PAGE_TEXT },
    { 0 },
};

static void write_warnings(const json_t *plan, struct html *html)
{
    const json_t *warning;
    size_t i;

    json_array_foreach(json_object_get(plan, "warnings"), i, warning)
        html_element(html, "p", json_string_value(warning), { "class", "warning" });
}

/* Writes the plan's settings by name. */
static void write_settings(const json_t *plan, struct html *html)
{
    const char *name;
    json_t *value;

    html_element(html, "h2", "Plan");
    html_open(html, "dl", { "class", "facts" });
    json_object_foreach(json_object_get(plan, "plan"), name, value) {
        html_element(html, "dt", name);
        html_open(html, "dd");
        page_cell_write(PAGE_TEXT, value, html);
        html_close(html, "dd");
    }
    html_close(html, "dl");
}

/* The request's id is the idempotency key, so that clicking twice starts only one sweep. */
static void write_button(const struct page_request *request, const json_t *plan, struct html *html)
{
    page_form_begin(request, html, "/sweeps/new");
    param_form_write_hidden(request, plan_tool(), omitted, html);
    html_open(html, "input", { "type", "hidden" }, { "name", "plan_digest" },
              { "value", json_get_text(plan, "plan_digest", "") });
    html_open(html, "input", { "type", "hidden" }, { "name", "idempotency_key" },
              { "value", request->request_id });
    html_open(html, "p");
    html_element(html, "button", "Start", { "name", "step" }, { "value", "start" });
    html_text(html, " ");
    html_element(html, "button", "Change", { "name", "step" }, { "value", "change" },
                 { "class", "quiet" });
    html_close(html, "p");
    html_close(html, "form");
}

static CHECKED bool show_plan(const struct page_request *request, struct page_answer *answer,
                              struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *plan = NULL;

    if (!page_call_take(request, "sweep_plan", param_form_read(request, plan_tool(), omitted),
                        &plan, error))
        return false;
    text_add(&answer->title, "The plan");
    html_element(&html, "h1", "The plan");
    page_list_facts(request, facts, plan, &html);
    write_warnings(plan, &html);
    write_button(request, plan, &html);
    write_settings(plan, &html);
    html_finish(&html);
    return true;
}

/* ---- Starting ---- */

static CHECKED bool start(const struct page_request *request, struct page_answer *answer,
                          struct error *error)
{
    const struct tool *tool = tool_find("sweep_start");
    json_auto_t *started = NULL;

    if (!page_call_take(request, tool->name, param_form_read(request, tool, none_omitted), &started,
                        error))
        return false;
    page_cell_url(json_get_text(json_object_get(started, "sweep"), "id", ""), &answer->location);
    return true;
}

bool sweep_form_write(const struct page_request *request, struct page_answer *answer,
                      struct error *error)
{
    (void)error;
    write_form(request, NULL, answer);
    return true;
}

bool sweep_form_submit(const struct page_request *request, struct page_answer *answer,
                       struct error *error)
{
    const char *step = page_form(request, "step");
    bool done;

    if (step != NULL && strcmp(step, "change") == 0) {
        write_form(request, NULL, answer);
        return true;
    }
    done = step != NULL && strcmp(step, "start") == 0 ? start(request, answer, error)
                                                      : show_plan(request, answer, error);
    if (done || error->kind == ERROR_INTERNAL)
        return done;
    write_form(request, error->message, answer);
    answer->status = 422;
    return true;
}
