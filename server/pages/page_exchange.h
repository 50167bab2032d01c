/* SPDX-License-Identifier: Apache-2.0 */
/* A request for a page: identifies the caller, reads the form, and runs the page's function on a
 * worker. */
#pragma once

#include "server/pages/page_body.h"
#include "server/pages/page_caller.h"
#include "server/pages/page_server.h"

struct exchange;

/* The struct at exchange->request. */
struct page_exchange {
    char *path;
    char *known;        /* the header If-None-Match: the ETags that the browser has; NULL: none */
    struct form places; /* the path's parameters */
    struct form query, form;
    struct page_caller caller;
    struct page_body body;
    /* the caller has a valid sign-in cookie; false: it sent a key, is `local`, or is unknown */
    bool is_signed_in;
    char token[DIGEST_TEXT_SIZE]; /* the token that this browser's forms must contain */
};

/* The functions of the routes for pages. */
bool page_exchange_admit(struct exchange *exchange, const char *path);
void page_exchange_receive(struct exchange *exchange, const char *bytes, size_t size);
void page_exchange_serve(struct exchange *exchange);

/* For the other files in this folder. */
struct page_exchange *page_exchange_of(const struct exchange *exchange);
const struct page_server *page_exchange_server(const struct exchange *exchange);
/* Reads the query, for page_exchange_request. Call it on the loop's thread. */
void page_exchange_read_query(struct exchange *exchange);
/* Reads the form. False: the request was refused, because the form cannot be read or lacks the
 * token of this browser's forms. */
bool page_exchange_read_form(struct exchange *exchange);
/* The request as the pages' functions get it; it borrows from the exchange. */
struct page_request page_exchange_request(struct exchange *exchange);
/* Binds the page's forms to a cookie, and sets a new cookie if the browser has none. Call it before
 * the page's HTML is written. */
void page_exchange_prepare_token(struct exchange *exchange);
