/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a refusal to a browser as a page. */
#pragma once

struct exchange;

/* The server's http_reply_page callback (server/http/http.h). */
void page_refusal_reply(struct exchange *exchange, unsigned status, const char *message);
