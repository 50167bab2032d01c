/* SPDX-License-Identifier: Apache-2.0 */
#include "web/leases.h"

#include "base/json/json.h"
#include "web/page_call.h"
#include "web/page_list.h"

static void write_turn(const struct page_request *request, const json_t *lease, struct html *html)
{
    (void)request;
    if (json_get_boolean(lease, "held", false))
        html_text(html, "measuring now");
    else
        html_textf(html, "number %lld in line", (long long)json_get_integer(lease, "place", 0));
}

static const struct page_column columns[] = {
    { "Endpoint", "endpoint", PAGE_FOREIGN },
    { "Turn", .write = write_turn },
    { "For", "purpose", PAGE_ID },
    { "Started by", "principal", PAGE_FOREIGN },
    { "In line since (UTC)", "asked_at", PAGE_TIME },
    { "Held since (UTC)", "granted_at", PAGE_TIME },
    { 0 },
};

bool leases_write(const struct page_request *request, struct page_answer *answer,
                  struct error *error)
{
    struct html html = html_begin(&answer->body);
    json_auto_t *listed = NULL;
    int64_t unlisted;

    if (!page_call_take(request, "lease_list", json_pack("{s:i}", "limit", 500), &listed, error))
        return false;
    text_add(&answer->title, "Leases");
    text_add(&answer->follows, "*");
    html_element(&html, "h1", "Leases");
    html_element(&html, "p",
                 "Only one sweep at a time can measure at an endpoint; the others wait.",
                 { "class", "soft" });
    page_list_write(request, "Endpoints, their holders and queues", columns,
                    json_object_get(listed, "leases"), "No endpoints are in use.", &html);
    unlisted = json_get_integer(listed, "unlisted", 0);
    if (unlisted > 0) {
        html_open(&html, "p");
        html_textf(&html, "%lld more %s waiting.", (long long)unlisted,
                   unlisted == 1 ? "is" : "are");
        html_close(&html, "p");
    }
    html_finish(&html);
    return true;
}
