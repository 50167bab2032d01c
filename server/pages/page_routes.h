/* SPDX-License-Identifier: Apache-2.0 */
/* The routes of the pages: one for each row of pages[] in web/pages.c, and some for assets, events,
 * signing in and signing out. */
#pragma once

#include "server/http/routes.h"
#include "server/pages/page_server.h"

/* Makes the routes, and keeps them in server->routes; free with page_routes_finish. */
const struct route *page_routes_create(struct page_server *server);
void page_routes_finish(struct page_server *server);
