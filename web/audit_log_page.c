/* SPDX-License-Identifier: Apache-2.0 */
#include "web/audit_log_page.h"

#include "web/page_call.h"
#include "web/page_list.h"

static const char *const filters[] = { "principal", "tool", "subject", NULL };

static void write_detail(const struct page_request *request, const json_t *row, struct html *html)
{
    (void)request;
    page_cell_write(PAGE_FOREIGN, json_object_get(row, "detail"), html);
    page_cell_change(json_object_get(row, "changed"), html);
}

static const struct page_column columns[] = {
    { "At (UTC)", "at", PAGE_TIME },
    { "Principal", "principal", PAGE_FOREIGN },
    { "Tool", "tool", PAGE_FOREIGN },
    { "Outcome", "outcome", PAGE_STATE },
    { "Calls", "times", PAGE_NUMBER },
    { "Subject", "subject", PAGE_ID },
    { "Detail", .write = write_detail },
    { "Client", "client", PAGE_FOREIGN },
    { 0 },
};

bool audit_log_page_write(const struct page_request *request, struct page_answer *answer,
                          struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL;

    if (!page_call_take(request, "audit_list", page_list_arguments(request, filters), &listed,
                        error))
        return false;
    text_add(&answer->title, "Audit log");
    html_element(&html, "h1", "Audit log");
    page_list_filter(request, "audit_list", filters, &html);
    page_list_write(request, "Who did what, newest first", columns, json_object_get(listed, "rows"),
                    "No matching entries.", &html);
    page_list_navigation(request, listed, &html);
    html_finish(&html);
    return true;
}
