/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_refusal.h"

#include "server/http/exchange.h"
#include "server/http/routes.h"
#include "server/pages/page_exchange.h"
#include "server/pages/page_reply.h"
#include "web/frame.h"

/* The page_request for the page that shows the refusal. A signed-in user can sign out on this page,
 * since a different key might allow what was refused. */
static struct page_request refused_request(struct exchange *exchange)
{
    bool is_page = exchange->route != NULL && exchange->route->admit == page_exchange_admit
                   && exchange->request != NULL;

    if (!is_page || !page_exchange_of(exchange)->is_signed_in)
        return (struct page_request){ .principal = exchange->principal, .path = "" };
    page_exchange_prepare_token(exchange);
    return page_exchange_request(exchange);
}

void page_refusal_reply(struct exchange *exchange, unsigned status, const char *message)
{
    const struct page_request request = refused_request(exchange);
    PAGE_ANSWER_AUTO answer = { 0 };

    frame_refusal(status, message, &answer);
    page_reply_send(exchange, &request, &answer);
}
