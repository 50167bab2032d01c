/* SPDX-License-Identifier: Apache-2.0 */
#include "web/plan_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "store/fleet/fleet_plans.h"
#include "web/job_pages.h"
#include "web/page_call.h"
#include "web/page_cell.h"

/* ---- The plan ---- */

static bool ends_deployment(const json_t *plan)
{
    const char *verb = json_get_text(plan, "verb", "");

    return strcmp(verb, "stop") == 0 || strcmp(verb, "destroy") == 0;
}

static void write_end(const json_t *plan, struct html *html)
{
    const char *end_sentence = json_get_text(plan, "ends_by", NULL);

    if (ends_deployment(plan))
        return;
    if (end_sentence == NULL)
        html_element(html, "p", "If opsbrain stops running, nothing ends this deployment.",
                     { "class", "error" });
    html_open(html, "p");
    if (json_object_get(plan, "ends_at") == NULL) {
        html_text(html, "The deployment has no end time.");
    } else {
        html_text(html, "The deployment ends at ");
        page_cell_write(PAGE_TIME, json_object_get(plan, "ends_at"), html);
        html_textf(html, " UTC (%s)%s%s.", json_get_text(plan, "at_end", "destroy"),
                   end_sentence == NULL ? "" : ": ", end_sentence == NULL ? "" : end_sentence);
    }
    html_close(html, "p");
}

static void write_cost(const json_t *plan, struct html *html)
{
    const json_t *usd = json_object_get(plan, "usd_per_hour");
    const char *price = json_get_text(plan, "price", "");

    html_open(html, "p");
    if (json_is_number(usd))
        html_textf(html, "%.2f USD per hour", json_number_value(usd));
    else
        html_text(html, "The cost is not known");
    html_textf(html, "%s%s.", price[0] == '\0' ? "" : ": ", price);
    html_close(html, "p");
}

static void write_texts(const char *heading, const json_t *texts, struct html *html)
{
    const json_t *text;
    size_t i;

    if (json_array_size(texts) == 0)
        return;
    html_element(html, "h2", heading);
    html_open(html, "ul");
    json_array_foreach(texts, i, text)
        html_element(html, "li", json_string_value(text));
    html_close(html, "ul");
}

static void write_request(const json_t *step, struct html *html)
{
    const json_t *body = json_object_get(step, "body");
    FREE_AUTO char *written = body == NULL ? NULL : json_dumps(body, JSON_INDENT(1));

    html_open(html, "li");
    html_name(html, json_get_text(step, "summary", ""));
    html_open(html, "details");
    html_open(html, "summary");
    html_open(html, "code");
    html_textf(html, "%s %s", json_get_text(step, "method", ""), json_get_text(step, "url", ""));
    html_close(html, "code");
    html_close(html, "summary");
    html_element(html, "pre", written == NULL ? "This request has no body." : written);
    html_close(html, "details");
    html_close(html, "li");
}

static void write_requests(const json_t *plan, struct html *html)
{
    const json_t *step;
    size_t i;

    html_element(html, "h2", "Requests, in order");
    html_open(html, "ol");
    json_array_foreach(json_object_get(plan, "requests"), i, step)
        write_request(step, html);
    html_close(html, "ol");
}

/* ---- Approvals and outcome ---- */

static void write_approvals(const json_t *plan, struct html *html)
{
    const json_t *approvals = json_object_get(plan, "approvals"), *approval;
    size_t i;

    if (json_array_size(approvals) == 0)
        return;
    html_element(html, "h2", "Agreed");
    html_open(html, "ul");
    json_array_foreach(approvals, i, approval) {
        html_open(html, "li");
        html_name(html, json_get_text(approval, "principal", ""));
        html_textf(html, " (%s), at ", json_get_text(approval, "way", ""));
        page_cell_write(PAGE_TIME, json_object_get(approval, "at"), html);
        html_text(html, " UTC");
        html_close(html, "li");
    }
    html_close(html, "ul");
}

static void write_state(const json_t *plan, struct html *html)
{
    const char *reason = json_get_text(plan, "reason", "");

    html_open(html, "p");
    page_cell_write(PAGE_STATE, json_object_get(plan, "state"), html);
    if (reason[0] != '\0') {
        html_text(html, ": ");
        html_name(html, reason);
    }
    html_text(html, ". Planned by ");
    html_name(html, json_get_text(plan, "by", ""));
    html_text(html, "; valid until ");
    page_cell_write(PAGE_TIME, json_object_get(plan, "good_until"), html);
    html_text(html, " UTC.");
    html_close(html, "p");
}

static void write_job(const struct page_request *request, const json_t *plan,
                      struct page_answer *answer, struct html *html)
{
    const char *job = json_get_text(plan, "job", "");
    json_auto_t *shown = NULL, *rows = json_array();
    struct error ignored;

    if (job[0] == '\0'
        || !page_call_take(request, "job_show", json_pack("{s:s}", "job", job), &shown, &ignored))
        return;
    text_addf(&answer->follows, " %s", job);
    json_array_append(rows, json_object_get(shown, "job"));
    html_element(html, "h2", "Job");
    job_page_table(request, "The job that carries out the plan", rows, "", html);
}

/* ---- The button ---- */

static bool has_agreed(const struct page_request *request, const json_t *plan)
{
    const json_t *approval;
    size_t i;

    json_array_foreach(json_object_get(plan, "approvals"), i, approval)
        if (strcmp(json_get_text(approval, "principal", ""), request->principal.name) == 0
            && strcmp(json_get_text(approval, "way", ""), FLEET_WAY_PERSON) == 0)
            return true;
    return false;
}

static void write_button(const struct page_request *request, const json_t *plan, struct html *html)
{
    if (!json_get_boolean(plan, "waits", false) || !page_may(request, ROLE_OPERATOR))
        return;
    if (has_agreed(request, plan)) {
        html_element(html, "p",
                     "You agreed. Calling deployment_apply with this plan now begins it, unless a "
                     "second person must agree first.",
                     { "class", "state good" });
        return;
    }
    page_form_begin(request, html, request->path);
    html_element(html, "p",
                 "Agreeing records your go-ahead under your name. Calling deployment_apply "
                 "then begins the plan, unless a second person must agree first.");
    html_element(html, "button", "Agree to this plan");
    html_close(html, "form");
}

/* ---- The page ---- */

static void write_plan(const struct page_request *request, const json_t *plan,
                       struct page_answer *answer, struct html *html)
{
    html_open(html, "h1");
    html_textf(html, "Plan: %s ", json_get_text(plan, "verb", ""));
    html_name(html, json_get_text(plan, "deployment", ""));
    html_text(html, " on ");
    html_name(html, json_get_text(plan, "target", ""));
    html_close(html, "h1");
    write_state(plan, html);
    write_end(plan, html);
    write_cost(plan, html);
    html_open(html, "p");
    html_textf(html, "Access: %s", json_get_text(plan, "lock", ""));
    html_close(html, "p");
    write_texts("Warnings", json_object_get(plan, "warnings"), html);
    write_requests(plan, html);
    write_approvals(plan, html);
    write_button(request, plan, html);
    write_job(request, plan, answer, html);
}

bool plan_page_write(const struct page_request *request, struct page_answer *answer,
                     struct error *error)
{
    const char *id = page_place(request, "id");
    struct html html = html_begin(&answer->body);
    json_auto_t *plan = NULL;

    if (!page_call_take(request, "plan_show", json_pack("{s:s}", "plan", id), &plan, error))
        return false;
    text_add(&answer->title, "Plan");
    text_add(&answer->follows, id);
    write_plan(request, plan, answer, &html);
    html_finish(&html);
    return true;
}

bool plan_page_submit(const struct page_request *request, struct page_answer *answer,
                      struct error *error)
{
    const char *id = page_place(request, "id");
    json_auto_t *arguments = json_pack("{s:s}", "plan", id);
    FREE_AUTO char *written = json_write(arguments);
    struct change change = page_change(request, "plan_approve", written);

    if (!fleet_plan_approve(request->services->store, id, FLEET_WAY_PERSON, clock_utc_ms(), &change,
                            error)) {
        page_note_refusal(request, &change, id, error);
        return false;
    }
    text_add(&answer->location, request->path);
    return true;
}

/* ---- Waiting plans ---- */

static void write_link(const json_t *plan, struct html *html)
{
    const char *id = json_get_text(plan, "plan", "");
    TEXT_AUTO url = { 0 };

    text_add(&url, "/plans/");
    page_url_add_path(&url, id);
    html_open(html, "li");
    html_open(html, "a", { "href", text_string(&url) });
    html_textf(html, "%s ", json_get_text(plan, "verb", ""));
    html_name(html, json_get_text(plan, "deployment", ""));
    html_close(html, "a");
    html_text(html, " on ");
    html_name(html, json_get_text(plan, "target", ""));
    html_text(html, ", by ");
    html_name(html, json_get_text(plan, "by", ""));
    html_close(html, "li");
}

bool plan_page_list(const struct page_request *request, size_t *found, struct html *html,
                    struct error *error)
{
    json_auto_t *listed = NULL;
    const json_t *waiting, *plan;
    size_t i;

    if (!page_call_take(request, "fleet_list", NULL, &listed, error))
        return false;
    waiting = json_object_get(listed, "waiting");
    *found += json_array_size(waiting);
    if (json_array_size(waiting) == 0)
        return true;
    html_element(html, "h2", "Plans that have not begun");
    html_open(html, "ul");
    json_array_foreach(waiting, i, plan)
        write_link(plan, html);
    html_close(html, "ul");
    return true;
}
