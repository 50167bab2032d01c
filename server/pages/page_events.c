/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_events.h"

#include "server/http/exchange.h"
#include "server/pages/page_reply.h"
#include "server/pages/page_server.h"
#include "server/streams/notifier.h"

/* A comment is sent at once, so that the headers go out. */
void page_events_serve(struct exchange *exchange)
{
    const struct page_server *server = exchange->context;
    struct sse_queue *sse_queue;
    struct error error;

    if (atomic_load(&exchange->loop->draining)) {
        exchange_refuse(exchange, 503, "the server is stopping");
        return;
    }
    sse_queue = exchange_begin_stream(exchange);
    exchange->standing = true;
    if (!notifier_watch(server->notifier, sse_queue, &error)) {
        exchange_drop_stream(exchange);
        exchange_refuse(exchange, 503, "%s", error.message);
        return;
    }
    page_reply_headers(exchange, NULL);
    sse_queue_put_comment(sse_queue);
}
