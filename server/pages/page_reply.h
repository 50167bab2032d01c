/* SPDX-License-Identifier: Apache-2.0 */
/* Answers with a page: status, body, and headers that keep other sites and injected markup out. */
#pragma once

#include <stdbool.h>

struct exchange;
struct page_answer;
struct page_request;

/* Sets the headers that keep other sites and injected markup out. `policy`: the
 * Content-Security-Policy; NULL: that of opsbrain's own pages. */
void page_reply_headers(struct exchange *exchange, const char *policy);
/* Sets the ETag, which is a digest of the content. True: the browser already has it (`known`:
 * If-None-Match, or NULL), and was answered with 304. */
bool page_reply_if_known(struct exchange *exchange, const char *digest, const char *known);
/* Sends what a page wrote: a redirect, or 304 if the browser already has the answer, or the body.
 * The body of an `answer` with a `type` is moved out of it; any other is put into the frame of the
 * pages. `request` may be NULL for a redirect. */
void page_reply_send(struct exchange *exchange, const struct page_request *request,
                     struct page_answer *answer);
