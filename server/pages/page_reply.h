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
 * NULL. If the browser already has the content, answers with 304 and returns true. */
bool page_reply_if_known(struct exchange *exchange, const char *digest, const char *known);
/* Sends what a page wrote: a redirect, 304 if the browser has kept the same answer, or the body. If
 * `answer` has a `type`, the body is moved out of `answer` and sent unchanged; otherwise the body
 * is put into the frame that all pages share. `request` may be NULL for a redirect. */
void page_reply_send(struct exchange *exchange, const struct page_request *request,
                     struct page_answer *answer);
