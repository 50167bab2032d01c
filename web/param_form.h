/* SPDX-License-Identifier: Apache-2.0 */
/* A form for a tool's parameters, made from its rows. */
#pragma once

#include "web/page.h"

/* The inputs, with what the form (or else the query) has as their values; rare ones are folded up.
 * `omitted` ends with NULL. */
void param_form_write(const struct page_request *request, const struct tool *tool,
                      const char *const *omitted, struct html *html);
/* The same values as hidden inputs, to be sent again. */
void param_form_write_hidden(const struct page_request *request, const struct tool *tool,
                             const char *const *omitted, struct html *html);
/* The arguments that a form sent: what is empty is omitted; what cannot be read stays text, and the
 * tool says what is wrong with it. New reference. */
json_t *param_form_read(const struct page_request *request, const struct tool *tool,
                        const char *const *omitted);
/* A number as a person writes it; what is none stays text. New reference. */
json_t *param_form_number(const char *text, bool whole);
