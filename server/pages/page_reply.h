/* SPDX-License-Identifier: Apache-2.0 */
/* Replies with a page: its status, its body, and headers that keep out other sites and injected
 * markup. */
#pragma once

#include <stdbool.h>

struct exchange;
struct page_answer;
struct page_request;

/* Sets the headers that keep out other sites and injected markup. `policy`: the
 * Content-Security-Policy; NULL: the one for opsbrain's own pages. */
void page_reply_headers(struct exchange *exchange, const char *policy);
/* Sets the ETag to `digest`, a digest of the content. `known`: the request's If-None-Match, or
 * NULL. Returns true if the browser already has the content; it was then answered with 304. */
bool page_reply_if_known(struct exchange *exchange, const char *digest, const char *known);
/* Sends what a page wrote: a redirect, 304 if the browser already has the answer, or the body. If
 * `answer` has a `type`, its body is moved out of it and sent as it is; otherwise the body is put
 * into the frame that all pages share. `request` may be NULL for a redirect. */
void page_reply_send(struct exchange *exchange, const struct page_request *request,
                     struct page_answer *answer);
