/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_events.h"

#include <string.h>

#include "server/http/exchange.h"
#include "server/http/http_status.h"
#include "server/pages/page_exchange.h"
#include "server/pages/page_reply.h"
#include "server/streams/notifier.h"

/* Starts to watch for changes, then checks the sign-in again: if it ended before the watch began,
 * nothing else would end the stream. */
static CHECKED bool watch(const struct page_server *server, struct exchange *exchange,
                          struct sse_queue *sse_queue, struct error *error)
{
    const struct page_exchange *page = page_exchange_of(exchange);
    uint8_t session[DIGEST_BYTES];
    struct principal ignored;

    if (!page->is_signed_in)
        return notifier_watch(server->notifier, sse_queue, exchange->principal.name, NULL, error);
    sign_in_digest(page->caller.session, session);
    return notifier_watch(server->notifier, sse_queue, exchange->principal.name, session, error)
           && sign_in_check(server->sign_ins, page->caller.session, &ignored, error);
}

/* The stream begins with an SSE comment, so that its headers go out immediately. */
void page_events_serve(struct exchange *exchange)
{
    const struct page_server *server = page_exchange_server(exchange);
    struct sse_queue *sse_queue;
    struct error error;

    if (atomic_load(&exchange->loop->draining)) {
        exchange_refuse(exchange, 503, "the server is stopping");
        return;
    }
    if (strcmp(exchange->verb, "HEAD") == 0) {
        page_reply_headers(exchange, NULL);
        exchange_reply(exchange, 200, "text/event-stream", NULL);
        return;
    }
    sse_queue = exchange_begin_stream(exchange);
    exchange->long_lived = true;
    if (!watch(server, exchange, sse_queue, &error)) {
        exchange_drop_stream(exchange);
        exchange_refuse(exchange, http_status_of(&error), "%s", error.message);
        return;
    }
    page_reply_headers(exchange, NULL);
    sse_queue_put_comment(sse_queue);
}
