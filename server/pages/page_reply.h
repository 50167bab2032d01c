/* SPDX-License-Identifier: Apache-2.0 */
/* A page's answer as HTTP: headers that keep other sites and injected markup out, status, body. */
#pragma once

#include <stdbool.h>

struct exchange;
struct page_answer;
struct page_request;

/* What every answer of a page has. `policy`: its Content-Security-Policy; NULL: the pages'. */
void page_reply_headers(struct exchange *exchange, const char *policy);
/* Names the version of what is answered by its digest. True: the browser has it (`known`:
 * If-None-Match, or NULL), and was answered so. */
bool page_reply_is_known(struct exchange *exchange, const char *digest, const char *known);
/* Framed, if it is HTML. Moves the body. */
void page_reply_send(struct exchange *exchange, const struct page_request *request,
                     struct page_answer *answer);
