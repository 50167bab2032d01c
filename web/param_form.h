/* SPDX-License-Identifier: Apache-2.0 */
/* A form for a tool's parameters, made from the table that describes them. */
#pragma once

#include "web/page.h"

/* Writes the inputs. Their values come from the form that was sent or, if none was sent, from the
 * query. Inputs of rare parameters are folded, unless one of them has a value. `omitted` names the
 * parameters that get no input; it ends with NULL. */
void param_form_write(const struct page_request *request, const struct tool *tool,
                      const char *const *omitted, struct html *html);
/* Writes the same values as hidden inputs, so that the next form sends them again. */
void param_form_write_hidden(const struct page_request *request, const struct tool *tool,
                             const char *const *omitted, struct html *html);
/* Returns the arguments from the form that was sent, without empty ones. A value that cannot be
 * converted becomes a string, and the tool then reports what is wrong. New reference. */
json_t *param_form_read(const struct page_request *request, const struct tool *tool,
                        const char *const *omitted);
/* Converts a number that a user typed: to a JSON integer if `whole` is true and the number has no
 * fraction and is between -9e15 and 9e15, otherwise to a JSON real. Text that is not a finite
 * number becomes a JSON string. New reference. */
json_t *param_form_number(const char *text, bool whole);
