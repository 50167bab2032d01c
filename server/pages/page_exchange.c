/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "server/http/exchange.h"
#include "server/http/http.h"
#include "server/http/http_status.h"
#include "server/http/route_pattern.h"
#include "server/http/routes.h"
#include "server/pages/form.h"
#include "server/pages/page_reply.h"
#include "server/pages/page_server.h"
#include "server/streams/notifier.h"
#include "web/page.h"

/* What exchange->request is. */
struct page_exchange {
    char *path;
    struct form places, query, form;
};

static const struct page_server *server_of(const struct exchange *exchange)
{
    return exchange->context;
}

static const struct page *row_of(const struct exchange *exchange)
{
    return &pages[exchange->route - server_of(exchange)->routes];
}

static void page_exchange_finish(void *request)
{
    struct page_exchange *page = request;

    free(page->path);
    form_finish(&page->places);
    form_finish(&page->query);
    form_finish(&page->form);
    free(page);
}

/* ---- On the loop's thread ---- */

static void keep_path(struct exchange *exchange, const char *path)
{
    struct page_exchange *page = memory_zeroed(1, sizeof *page);
    struct route_places places;

    page->path = memory_copy_text(path);
    route_pattern_matches(exchange->route->path, path, &places);
    for (size_t i = 0; i < places.count; i++)
        form_add(&page->places, places.at[i].name, places.at[i].name_length, places.at[i].text,
                 places.at[i].length);
    exchange->request = page;
    exchange->request_finish = page_exchange_finish;
}

bool page_exchange_admit(struct exchange *exchange, const char *path)
{
    keep_path(exchange, path);
    return exchange->http->gate->admit(exchange);
}

static void keep_query(void *context, const char *name, const char *value)
{
    if (value != NULL)
        form_add(context, name, strlen(name), value, strlen(value));
}

/* ---- On a worker ---- */

static bool is_cancelled(void *host)
{
    const struct exchange *exchange = host;

    return atomic_load(&exchange->left) || !exchange_may_go_on(exchange);
}

static void report_change(void *host, const char *deployment)
{
    struct notifier *notifier = server_of(host)->notifier;

    if (deployment != NULL)
        notifier_resource_changed(notifier, deployment);
    notifier_list_changed(notifier, NOTIFIER_RESOURCES);
}

static struct page_request request_of(struct exchange *exchange)
{
    const struct page_exchange *page = exchange->request;

    return (struct page_request){
        .services = server_of(exchange)->services,
        .principal = exchange->principal,
        .path = page->path,
        .places = form_values(&page->places),
        .query = form_values(&page->query),
        .form = form_values(&page->form),
        .token = "",
        .request_id = exchange->id,
        .host = exchange,
        .cancelled = is_cancelled,
        .changed = report_change,
    };
}

static void refuse(struct exchange *exchange, const struct error *error)
{
    if (error->kind == ERROR_INTERNAL)
        exchange_refuse_fault(exchange, "a page", error);
    else
        exchange_refuse(exchange, http_status_of(error), "%s", error->message);
}

static void work(struct exchange *exchange)
{
    const struct page *row = row_of(exchange);
    const struct page_request request = request_of(exchange);
    PAGE_ANSWER_AUTO answer = { 0 };
    struct error error;

    if (row->write(&request, &answer, &error))
        page_reply_send(exchange, &request, &answer);
    else
        refuse(exchange, &error);
}

void page_exchange_serve(struct exchange *exchange)
{
    const struct page_server *server = server_of(exchange);
    struct page_exchange *page = exchange->request;
    bool waits = row_of(exchange)->waits;
    struct error error;

    exchange_each_query(exchange, keep_query, &page->query);
    if (!exchange_submit(exchange, waits ? server->waiting : server->workers, work, &error))
        exchange_refuse(exchange, exchange->over_limit ? 429 : 503, "%s", error.message);
}
