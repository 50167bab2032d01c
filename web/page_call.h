/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a page call a tool, with the same role check, limits and audit row as any other call. */
#pragma once

#include "web/page.h"

/* Makes a struct call for the functions of handlers/ that take one. Its arguments are not set. */
struct call page_call_make(const struct page_request *request);

/* Calls a tool. Takes ownership of `arguments` (NULL: none). *out: the structured content, a new
 * reference. Returns false with the tool's error. A tool that must ask its client a question fails,
 * as it does for a client that cannot answer questions. */
CHECKED bool page_call_take(const struct page_request *request, const char *tool, json_t *arguments,
                            json_t **out, struct error *error);
/* Does the same, but the content becomes the page's answer, as JSON. */
CHECKED bool page_call_answer_take(const struct page_request *request, const char *tool,
                                   json_t *arguments, struct page_answer *answer,
                                   struct error *error);
