/* SPDX-License-Identifier: Apache-2.0 */
/* A request for a page: who asks, what it holds, and its function on a worker. */
#pragma once

#include "server/pages/page_body.h"
#include "server/pages/page_caller.h"
#include "server/pages/page_server.h"

struct exchange;

/* What exchange->request is. */
struct page_exchange {
    char *path;
    char *known; /* If-None-Match: what the browser has; NULL: nothing */
    struct form places, query, form;
    struct page_caller caller;
    struct page_body body;
    bool is_signed_in; /* with its session's cookie */
    char token[DIGEST_TEXT_SIZE];
};

/* The routes' functions. */
bool page_exchange_admit(struct exchange *exchange, const char *path);
void page_exchange_take(struct exchange *exchange, const char *bytes, size_t size);
void page_exchange_serve(struct exchange *exchange);

/* For the routes that are no rows of pages[]. */
struct page_exchange *page_exchange_of(const struct exchange *exchange);
const struct page_server *page_exchange_server(const struct exchange *exchange);
/* On the loop's thread, before the others. */
void page_exchange_read_query(struct exchange *exchange);
/* Reads the form; false: it lacks the token of our pages, and was answered. */
bool page_exchange_read_form(struct exchange *exchange);
struct page_request page_exchange_request(struct exchange *exchange);
/* Before the page's HTML is written: its forms are bound to a cookie, a new one if the browser has
 * none. */
void page_exchange_prepare_token(struct exchange *exchange);
