/* SPDX-License-Identifier: Apache-2.0 */
#include "web/deployment_pages.h"

#include "web/page_call.h"
#include "web/page_list.h"

static const char *const filters[] = { NULL };

static const struct page_column columns[] = {
    { "Name", "name", PAGE_DEPLOYMENT },     { "URL", "url", PAGE_FOREIGN },
    { "Model", "model", PAGE_FOREIGN },      { "Hardware", "hardware", PAGE_FOREIGN },
    { "Labels", "labels", PAGE_FOREIGN },    { "Owner", "owner", PAGE_FOREIGN },
    { "Revision", "revision", PAGE_NUMBER }, { 0 },
};

bool deployment_page_list(const struct page_request *request, struct page_answer *answer,
                          struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL;

    if (!page_call_take(request, "deployment_list", page_list_arguments(request, filters), &listed,
                        error))
        return false;
    text_add(&answer->title, "Deployments");
    text_add(&answer->follows, "*");
    html_element(&html, "h1", "Deployments");
    if (page_may(request, ROLE_OPERATOR)) {
        html_open(&html, "p");
        html_element(&html, "a", "Register a deployment", { "class", "button" },
                     { "href", "/register" });
        html_close(&html, "p");
    }
    page_list_write(request, "Model servers", columns, json_object_get(listed, "deployments"),
                    "No model servers are registered.", &html);
    page_list_navigation(request, listed, &html);
    html_finish(&html);
    return true;
}
