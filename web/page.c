/* SPDX-License-Identifier: Apache-2.0 */
#include "web/page.h"

#include <string.h>

#include "base/core/log.h"
#include "base/formats/percent.h"
#include "store/audit/audit_log.h"

const char *page_value(const struct page_values *values, const char *name)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->at[i].name, name) == 0)
            return values->at[i].value[0] != '\0' ? values->at[i].value : NULL;
    return NULL;
}

const char *page_query(const struct page_request *request, const char *name)
{
    return page_value(&request->query, name);
}

const char *page_form(const struct page_request *request, const char *name)
{
    return page_value(&request->form, name);
}

const char *page_place(const struct page_request *request, const char *name)
{
    const char *value = page_value(&request->places, name);

    return value != NULL ? value : "";
}

const char *page_text(const struct text *text)
{
    return text->length > 0 ? text_string(text) : NULL;
}

bool page_may(const struct page_request *request, enum role role)
{
    return role_allows(request->principal.role, role);
}

bool page_may_cancel(const struct page_request *request, const char *started_by)
{
    return page_may(request, ROLE_ADMIN)
           || (page_may(request, ROLE_OPERATOR)
               && strcmp(started_by, request->principal.name) == 0);
}

struct change page_change(const struct page_request *request, const char *tool,
                          const char *arguments)
{
    return (struct change){ .actor = { .principal = request->principal.name,
                                       .role = role_name(request->principal.role),
                                       .client = "page",
                                       .request_id = request->request_id },
                            .tool = tool,
                            .arguments = arguments };
}

void page_note_refusal(const struct page_request *request, const struct change *change,
                       const char *subject, const struct error *why)
{
    const struct audit_event event = { AUDIT_REFUSED, change, error_kind_name(why->kind),
                                       why->message, subject };
    struct error problem;

    if (!audit_log_count(request->services->store, &event, &problem))
        log_error("request %s: %s was refused without an audit row: %s", request->request_id,
                  change->tool, problem.message);
}

void page_answer_finish(struct page_answer *answer)
{
    text_finish(&answer->title);
    text_finish(&answer->body);
    text_finish(&answer->follows);
    text_finish(&answer->location);
    text_finish(&answer->file);
    text_finish(&answer->policy);
}

static void write_token(const struct page_request *request, struct html *html)
{
    html_open(html, "input", { "type", "hidden" }, { "name", "token" },
              { "value", request->token });
}

void page_form_begin(const struct page_request *request, struct html *html, const char *action)
{
    html_open(html, "form", { "method", "post" }, { "action", action });
    write_token(request, html);
}

void page_file_form_begin(const struct page_request *request, struct html *html, const char *action)
{
    html_open(html, "form", { "method", "post" }, { "action", action },
              { "enctype", "multipart/form-data" }, { "class", "drop" });
    write_token(request, html);
}

void page_url_add_path(struct text *url, const char *path)
{
    percent_encode(path, "/", url);
}

void page_url_add(struct text *url, const char *name, const char *value)
{
    if (value == NULL)
        return;
    text_add_char(url, strchr(text_string(url), '?') != NULL ? '&' : '?');
    percent_encode(name, "", url);
    text_add_char(url, '=');
    percent_encode(value, "", url);
}
