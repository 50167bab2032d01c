/* SPDX-License-Identifier: Apache-2.0 */
#include "server/pages/page_routes.h"

#include <stdlib.h>

#include "base/core/memory.h"
#include "server/pages/page_asset.h"
#include "server/pages/page_events.h"
#include "server/pages/page_exchange.h"
#include "server/pages/page_sign_in.h"
#include "web/page.h"

/* The maximum size in bytes of the forms for signing in and out. It is small, since their senders
 * need not be signed in. */
#define SIGN_IN_BODY_MAX ((size_t)16 << 10)

/* The routes that do not come from pages[]. */
static const struct route other_routes[] = {
    { "GET", "/sign-in", .admit = page_exchange_admit, .serve = page_sign_in_show },
    { "POST", "/sign-in", .admit = page_exchange_admit, .serve = page_sign_in_submit,
      .body_limit = SIGN_IN_BODY_MAX },
    { "POST", "/sign-out", .admit = page_exchange_admit, .serve = page_sign_out,
      .body_limit = SIGN_IN_BODY_MAX },
    { "GET", "/events", .role = ROLE_VIEWER, .admit = page_exchange_admit,
      .serve = page_events_serve },
    { "GET", "/assets/{name}", .quiet = true, .admit = page_asset_admit,
      .serve = page_asset_serve },
};
#define OTHER_ROUTES (sizeof other_routes / sizeof *other_routes)

static size_t count_pages(void)
{
    size_t count = 0;

    while (pages[count].path != NULL)
        count++;
    return count;
}

static struct route route_of(const struct page *page)
{
    return (struct route){
        .verb = page->verb,
        .path = page->path,
        .limited = true,
        .role = page->role,
        .admit = page_exchange_admit,
        .serve = page_exchange_serve,
        .take = page->takes_file ? page_exchange_receive : NULL,
        .body_limit = page->takes_file ? PAGE_BODY_FILE_MAX : 0,
    };
}

const struct route *page_routes_create(struct page_server *server)
{
    size_t count = count_pages();

    server->routes = memory_zeroed(count + OTHER_ROUTES + 1, sizeof *server->routes);
    for (size_t i = 0; i < count; i++)
        server->routes[i] = route_of(&pages[i]);
    for (size_t i = 0; i < OTHER_ROUTES; i++)
        server->routes[count + i] = other_routes[i];
    return server->routes;
}

void page_routes_finish(struct page_server *server)
{
    free(server->routes);
    server->routes = NULL;
}
