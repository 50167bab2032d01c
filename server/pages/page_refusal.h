/* SPDX-License-Identifier: Apache-2.0 */
/* A refusal as a page, for a browser. */
#pragma once

struct exchange;

/* The server's http_reply_page (server/http/http.h). */
void page_refusal_reply(struct exchange *exchange, unsigned status, const char *message);
