/* SPDX-License-Identifier: Apache-2.0 */
/* /ask/ID: the page on which the user answers a call's question, if the call's client can open
 * pages but cannot show forms. */
#pragma once

#include "web/page.h"

CHECKED bool ask_page_write(const struct page_request *request, struct page_answer *answer,
                            struct error *error);
/* POST: stores the answer. */
CHECKED bool ask_page_submit(const struct page_request *request, struct page_answer *answer,
                             struct error *error);
/* Writes a heading and a list of the newest questions that are waiting for this principal's answer,
 * and adds the number of listed questions to *found. If there are none, writes nothing. */
CHECKED bool ask_page_list(const struct page_request *request, size_t *found, struct html *html,
                           struct error *error);
