/* SPDX-License-Identifier: Apache-2.0 */
/* What a server answered, as it may be written to a terminal: nothing in it is an escape sequence,
 * whoever wrote it. */
#pragma once

#include <jansson.h>

#include "base/core/text.h"
#include "client/terminal/terminal.h"

/* A tool's text. On a terminal its Markdown tables fit the width, headings are bold and long lines
 * wrap between words; elsewhere it is as the server wrote it. */
void readable_add_text(const struct terminal *terminal, const char *text, struct text *out);
/* JSON, indented by so many spaces, or on one line for 0, with an end of line. Characters that a
 * terminal obeys or does not show are escaped. */
#define READABLE_INDENT 2
void readable_add_json(const json_t *value, unsigned indent, struct text *out);
