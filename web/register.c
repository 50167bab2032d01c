/* SPDX-License-Identifier: Apache-2.0 */
#include "web/register.h"

#include "base/json/json.h"
#include "web/page_call.h"
#include "web/param_form.h"

static const char *const omitted[] = { "idempotency_key", "options", NULL };

static void write_form(const struct page_request *request, const char *why,
                       struct page_answer *answer)
{
    struct html html = html_begin(&answer->body);

    text_add(&answer->title, "Register a deployment");
    html_element(&html, "h1", "Register a deployment");
    html_element(&html, "p", "Enter the URL of a running model server, and give it a name.");
    if (why != NULL)
        html_element(&html, "p", why, { "class", "error" }, { "role", "alert" });
    page_form_begin(request, &html, "/register");
    param_form_write(request, tool_find("deployment_register"), omitted, &html);
    html_open(&html, "p");
    html_element(&html, "button", "Register");
    html_close(&html, "p");
    html_close(&html, "form");
    html_finish(&html);
}

bool register_write(const struct page_request *request, struct page_answer *answer,
                    struct error *error)
{
    (void)error;
    write_form(request, NULL, answer);
    return true;
}

bool register_submit(const struct page_request *request, struct page_answer *answer,
                     struct error *error)
{
    const struct tool *tool = tool_find("deployment_register");
    json_auto_t *stored = NULL;

    if (page_call_take(request, tool->name, param_form_read(request, tool, omitted), &stored,
                       error)) {
        text_add(&answer->location, "/deployments/");
        page_url_add_path(&answer->location,
                          json_get_text(json_object_get(stored, "deployment"), "name", ""));
        return true;
    }
    if (error->kind == ERROR_INTERNAL)
        return false;
    write_form(request, error->message, answer);
    answer->status = 422;
    return true;
}
