/* SPDX-License-Identifier: Apache-2.0 */
/* A form for a tool's parameters, made from the rows that describe them. */
#pragma once

#include "web/page.h"

/* Writes the inputs, with values from the form that was sent or, if none was, from the query.
 * Inputs of rare parameters are folded. `omitted` ends with NULL. */
void param_form_write(const struct page_request *request, const struct tool *tool,
                      const char *const *omitted, struct html *html);
/* Writes the same values as hidden inputs, to be sent again. */
void param_form_write_hidden(const struct page_request *request, const struct tool *tool,
                             const char *const *omitted, struct html *html);
/* The arguments that a form sent. Empty ones are omitted; a value that cannot be converted stays
 * text, and the tool reports what is wrong. New reference. */
json_t *param_form_read(const struct page_request *request, const struct tool *tool,
                        const char *const *omitted);
/* Converts a number as a user writes it: if `whole`, to a JSON integer where possible. Anything
 * else stays text. New reference. */
json_t *param_form_number(const char *text, bool whole);
