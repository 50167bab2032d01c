/* SPDX-License-Identifier: Apache-2.0 */
/* A page's call of a tool, with the role, limits and audit row of any other call. */
#pragma once

#include "web/page.h"

/* Makes a call for the functions of handlers/ that take one; its arguments are not set. */
struct call page_call_make(const struct page_request *request);

/* Calls a tool, and takes over `arguments` (NULL: none). *out: the structured content, a new
 * reference. False: the tool's error. A tool that needs to ask its client fails as it does for a
 * client that cannot be asked. */
CHECKED bool page_call_take(const struct page_request *request, const char *tool, json_t *arguments,
                            json_t **out, struct error *error);
/* The same, but the content becomes the page's answer, as JSON. */
CHECKED bool page_call_answer_take(const struct page_request *request, const char *tool,
                                   json_t *arguments, struct page_answer *answer,
                                   struct error *error);
