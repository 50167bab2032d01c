/* SPDX-License-Identifier: Apache-2.0 */
/* A form for a tool's parameters, made from the rows that describe them. */
#pragma once

#include "web/page.h"

/* Writes the inputs, with values from the form that was sent or, if none was, from the query.
 * Inputs of rare parameters are folded, unless one of them has a value. `omitted`: the names of
 * parameters without an input; ends with NULL. */
void param_form_write(const struct page_request *request, const struct tool *tool,
                      const char *const *omitted, struct html *html);
/* Writes the same values as hidden inputs, to be sent again. */
void param_form_write_hidden(const struct page_request *request, const struct tool *tool,
                             const char *const *omitted, struct html *html);
/* The arguments that a form sent. Empty ones are omitted; a value that cannot be converted stays
 * text, and the tool reports what is wrong. New reference. */
json_t *param_form_read(const struct page_request *request, const struct tool *tool,
                        const char *const *omitted);
/* Returns the number that a user wrote: as a JSON integer if `whole`, and if it has no fraction and
 * is between -9e15 and 9e15, otherwise as a JSON real. Text that is not a finite number stays text.
 * New reference. */
json_t *param_form_number(const char *text, bool whole);
