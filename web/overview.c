/* SPDX-License-Identifier: Apache-2.0 */
#include "web/overview.h"

#include "base/json/json.h"
#include "web/page_call.h"

bool overview_write(const struct page_request *request, struct page_answer *answer,
                    struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL;
    const json_t *row;
    size_t i;

    if (!page_call_take(request, "deployment_list", NULL, &listed, error))
        return false;
    text_add(&answer->title, "Overview");
    html_element(&html, "h1", "Overview");
    html_open(&html, "ul");
    json_array_foreach(json_object_get(listed, "deployments"), i, row) {
        html_open(&html, "li");
        html_name(&html, json_get_text(row, "name", ""));
        html_close(&html, "li");
    }
    html_close(&html, "ul");
    html_finish(&html);
    return true;
}
